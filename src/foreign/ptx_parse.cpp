#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <map>
#include <unordered_map>

#include <fmt/format.h>

#include "foreign/ptx.h"

namespace tilesight::foreign {

namespace {

struct Mnemonic {
  std::string_view name;
  PtxOp op;
};
constexpr Mnemonic kMnemonics[] = {
#define TS_PTX(op, mnemonic, types, meaning) {mnemonic, PtxOp::op},
#include "foreign/ptx.def"
#undef TS_PTX
};

struct TypeName {
  std::string_view name;
  PtxType type;
  int width;
};
constexpr TypeName kTypes[] = {
    {"pred", PtxType::Pred, 1},      {"b8", PtxType::B8, 8},          {"b16", PtxType::B16, 16},
    {"b32", PtxType::B32, 32},       {"b64", PtxType::B64, 64},       {"u8", PtxType::U8, 8},
    {"u16", PtxType::U16, 16},       {"u32", PtxType::U32, 32},       {"u64", PtxType::U64, 64},
    {"s8", PtxType::S8, 8},          {"s16", PtxType::S16, 16},       {"s32", PtxType::S32, 32},
    {"s64", PtxType::S64, 64},       {"f16", PtxType::F16, 16},       {"bf16", PtxType::BF16, 16},
    {"f32", PtxType::F32, 32},       {"f64", PtxType::F64, 64},       {"tf32", PtxType::TF32, 32},
    {"f16x2", PtxType::F16x2, 32},   {"bf16x2", PtxType::BF16x2, 32}, {"u16x2", PtxType::U16x2, 32},
    {"s16x2", PtxType::S16x2, 32},   {"e4m3x2", PtxType::E4M3x2, 16}, {"e5m2x2", PtxType::E5M2x2, 16},
    {"e2m1x2", PtxType::E2M1x2, 8},  {"ue8m0x2", PtxType::UE8M0x2, 16},
};

constexpr std::string_view kCompares[] = {"eq",  "ne",  "lt",  "le",  "gt",  "ge",  "lo",  "ls",  "hi",
                                          "hs",  "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};
constexpr std::string_view kTests[] = {"finite", "infinite", "number", "notanumber", "normal", "subnormal"};

struct SpecialName {
  std::string_view name;
  uint64_t value;
};
constexpr SpecialName kSpecials[] = {
#define TS_SPECIAL(name, value, meaning) {name, value},
#include "foreign/ptx_special.def"
#undef TS_SPECIAL
};

std::string_view trim(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front()))) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.remove_suffix(1);
  return text;
}

// On one line, for messages.
std::string oneLine(std::string_view text) {
  std::string result;
  for (char c : trim(text)) {
    bool space = std::isspace(static_cast<unsigned char>(c));
    if (!space) result += c;
    else if (!result.empty() && result.back() != ' ') result += ' ';
  }
  return result;
}

std::string withoutComments(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i, 2) == "//") {
      while (i < text.size() && text[i] != '\n') ++i;
    } else if (text.substr(i, 2) == "/*") {
      size_t end = text.find("*/", i + 2);
      i = end == text.npos ? text.size() : end + 1;
      result += ' ';
      continue;
    }
    if (i < text.size()) result += text[i];
  }
  return result;
}

// At commas outside braces.
std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  int depth = 0;
  size_t from = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '{') ++depth;
    if (i < text.size() && text[i] == '}') --depth;
    if (i == text.size() || (text[i] == ',' && depth == 0)) {
      parts.push_back(trim(text.substr(from, i - from)));
      from = i + 1;
    }
  }
  if (parts.size() == 1 && parts[0].empty()) parts.clear();
  return parts;
}

}  // namespace

int widthOf(PtxType type) {
  for (const TypeName& row : kTypes)
    if (row.type == type) return row.width;
  return 0;
}

PtxType halfOf(PtxType type) {
  switch (type) {
    case PtxType::F16x2: return PtxType::F16;
    case PtxType::BF16x2: return PtxType::BF16;
    case PtxType::U16x2: return PtxType::U16;
    case PtxType::S16x2: return PtxType::S16;
    default: return type;
  }
}

class PtxParser {
 public:
  PtxParser(Ptx& ptx) : ptx_(ptx) {}

  Status parse(std::string_view text, std::string_view constraints) {
    std::string clean = withoutComments(text);
    if (!parseConstraints(constraints))  // another device's, most likely
      return failure(oneLine(trim(clean)) + " (with constraints " + std::string(constraints) + ")");
    std::string_view rest = clean;
    while (!(rest = trim(rest)).empty()) {
      if (rest.front() == '{' || rest.front() == '}') {
        if (rest.front() == '{') scopes_.emplace_back();
        else if (scopes_.size() > 1) scopes_.pop_back();
        rest.remove_prefix(1);
        continue;
      }
      if (rest.front() == ';') {
        rest.remove_prefix(1);
        continue;
      }
      size_t end = rest.find(';');
      if (end == rest.npos) return unknown(rest);
      std::string_view statement = trim(rest.substr(0, end));
      rest.remove_prefix(end + 1);
      if (statement.starts_with(".reg")) TS_CHECK(declare(statement));
      else TS_CHECK(instruction(statement));
    }
    ptx_.registers_ = next_;
    return {};
  }

 private:
  Status unknown(std::string_view statement) { return failure(oneLine(statement)); }

  Status parseConstraints(std::string_view text) {
    int operand = 0;
    for (std::string_view part : split(text)) {
      if (part.starts_with("~")) continue;
      bool output = part.starts_with("=");
      while (!part.empty() && (part.front() == '=' || part.front() == '&')) part.remove_prefix(1);
      if (part.empty()) return unknown(text);
      if (std::isdigit(static_cast<unsigned char>(part.front()))) {
        int target = std::atoi(std::string(part).c_str());
        if (target >= ptx_.outputs_) return unknown(text);
        ptx_.tied_.emplace_back(operand, target);
      } else if (std::string_view("chrlfdqbn").find(part.front()) == std::string_view::npos || part.size() > 1) {
        return unknown(text);
      }
      if (output && ptx_.inputs_) return unknown(text);
      ++(output ? ptx_.outputs_ : ptx_.inputs_);
      ++operand;
    }
    if (operand > 64) return unknown(text);
    next_ = static_cast<uint32_t>(operand);
    return {};
  }

  Status declare(std::string_view statement) {
    std::string_view rest = trim(statement.substr(4));
    size_t space = rest.find_first_of(" \t\n");
    if (rest.empty() || rest.front() != '.' || space == rest.npos) return unknown(statement);
    bool known = std::any_of(std::begin(kTypes), std::end(kTypes),
                             [&](const TypeName& row) { return row.name == rest.substr(1, space - 1); });
    if (!known) return unknown(statement);
    for (std::string_view name : split(rest.substr(space))) {
      size_t range = name.find('<');
      if (next_ > 4096) return unknown(statement);
      if (range == name.npos) {
        scopes_.back()[std::string(name)] = next_++;
        continue;
      }
      int count = std::atoi(std::string(name.substr(range + 1)).c_str());
      if (count < 1 || count > 4096) return unknown(statement);
      for (int i = 0; i < count; ++i) scopes_.back()[fmt::format("{}{}", name.substr(0, range), i)] = next_++;
    }
    return {};
  }

  // One operand that is no vector; false if it is nothing we know.
  bool operand(std::string_view text, PtxType type, PtxOperand& out) {
    text = trim(text);
    if (text.empty()) return false;
    if (text.front() == '!') {
      out.negated = true;
      text = trim(text.substr(1));
      if (text.empty()) return false;
    }
    if (text.front() == '$') {
      int number = 0;
      auto [end, error] = std::from_chars(text.data() + 1, text.data() + text.size(), number);
      if (error != std::errc() || end != text.data() + text.size() || number < 0 ||
          number >= ptx_.outputs_ + ptx_.inputs_)
        return false;
      out.kind = PtxOperand::Kind::Register;
      out.number = static_cast<uint32_t>(number);
      for (auto [input, output] : ptx_.tied_)
        if (input == number) out.number = static_cast<uint32_t>(output);
      return true;
    }
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
      if (auto it = scope->find(std::string(text)); it != scope->end()) {
        out.kind = PtxOperand::Kind::Register;
        out.number = it->second;
        return true;
      }
    for (const SpecialName& special : kSpecials)
      if (special.name == text) {
        out.kind = special.value >= kProgram ? PtxOperand::Kind::Special : PtxOperand::Kind::Immediate;
        out.bits = special.value;
        ptx_.dynamic_ = ptx_.dynamic_ || out.kind == PtxOperand::Kind::Special;
        return true;
      }
    return immediate(std::string(text), type, out);
  }

  static bool immediate(const std::string& text, PtxType type, PtxOperand& out) {
    out.kind = PtxOperand::Kind::Immediate;
    bool hexFloat = text.size() == 10 && (text.starts_with("0f") || text.starts_with("0F"));
    bool hexDouble = text.size() == 18 && (text.starts_with("0d") || text.starts_with("0D"));
    char* end = nullptr;
    if (hexFloat || hexDouble) {
      u64 bits = std::strtoull(text.c_str() + 2, &end, 16);
      if (*end) return false;
      bool wide = type == PtxType::F64;
      if (hexFloat && wide) bits = std::bit_cast<u64>(f64(std::bit_cast<f32>(u32(bits))));
      if (hexDouble && type == PtxType::F32) bits = std::bit_cast<u32>(f32(std::bit_cast<f64>(bits)));
      out.bits = bits;
      return true;
    }
    if (isFloat(type) && text.find_first_of(".eE") != text.npos && !text.starts_with("0x")) {
      f64 value = std::strtod(text.c_str(), &end);
      if (*end || end == text.c_str()) return false;
      out.bits = floatBits(type, value, Rounding::Nearest);
      return true;
    }
    bool negative = text.starts_with("-");
    std::string digits = negative ? text.substr(1) : text;
    if (!digits.empty() && (digits.back() == 'U' || digits.back() == 'u')) digits.pop_back();
    if (digits.empty() || !std::isdigit(static_cast<unsigned char>(digits[0]))) return false;
    bool binary = digits.starts_with("0b") || digits.starts_with("0B");
    u64 value = std::strtoull(digits.c_str() + (binary ? 2 : 0), &end, binary ? 2 : 0);
    if (*end) return false;
    out.bits = negative ? 0 - value : value;
    if (isFloat(type)) out.bits = floatBits(type, negative ? -f64(value) : f64(value), Rounding::Nearest);
    return true;
  }

  bool modifier(std::string_view word, PtxInstruction& i, int& types) {
    for (const TypeName& row : kTypes)
      if (row.name == word) {
        if (types == 0) i.type = row.type;
        else if (types == 1) i.from = row.type;
        else return false;
        ++types;
        return true;
      }
    bool compares = i.op == PtxOp::Setp || i.op == PtxOp::Set;
    if (compares) {
      for (size_t k = 0; k < std::size(kCompares); ++k)
        if (kCompares[k] == word) {
          i.compare = static_cast<PtxCompare>(k);
          return true;
        }
      if (word == "and") i.combine = PtxCombine::And;
      else if (word == "or") i.combine = PtxCombine::Or;
      else if (word == "xor") i.combine = PtxCombine::Xor;
      if (i.combine != PtxCombine::None && (word == "and" || word == "or" || word == "xor")) return true;
    }
    if (i.op == PtxOp::Testp)
      for (size_t k = 0; k < std::size(kTests); ++k)
        if (kTests[k] == word) {
          i.test = static_cast<uint8_t>(k);
          return true;
        }
    static const std::map<std::string_view, Rounding> roundings = {
        {"rn", Rounding::Nearest}, {"rz", Rounding::Zero}, {"rm", Rounding::Down}, {"rp", Rounding::Up}};
    if (auto it = roundings.find(word); it != roundings.end()) {
      i.rounding = it->second;
      return true;
    }
    if (word.size() == 3 && word.back() == 'i')
      if (auto it = roundings.find(word.substr(0, 2)); it != roundings.end()) {
        i.rounding = it->second;
        i.whole = true;
        return true;
      }
    using Part = PtxInstruction::Part;
    using Variant = PtxInstruction::Variant;
    if (word == "rna") return i.roundTies = true;
    if (word == "ftz") return i.ftz = true;
    if (word == "sat") return i.saturate = true;
    if (word == "satfinite") return i.finite = true;
    if (word == "relu") return i.relu = true;
    if (word == "NaN") return i.nan = true;
    if (word == "cc") return i.carry = true;
    if (word == "shiftamt") return i.shiftAmount = true;
    if (word == "approx" || word == "full") return true;
    if (word == "lo") return i.part = Part::Low, true;
    if (word == "hi") return i.part = Part::High, true;
    if (word == "wide") return i.part = Part::Wide, true;
    if (word == "l") return i.direction = Variant::Left, true;
    if (word == "r") return i.direction = Variant::Right, true;
    if (word == "wrap") return i.limit = Variant::Wrap, true;
    if (word == "clamp") return i.limit = Variant::Clamp, true;
    return false;
  }

  Status instruction(std::string_view statement) {
    PtxInstruction i;
    std::string_view rest = statement;
    if (rest.front() == '@') {
      size_t space = rest.find_first_of(" \t\n");
      if (space == rest.npos || !operand(rest.substr(1, space - 1), PtxType::Pred, i.guard)) return unknown(statement);
      rest = trim(rest.substr(space));
    }
    size_t space = std::min(rest.find_first_of(" \t\n"), rest.size());
    std::string_view name = rest.substr(0, space), arguments = trim(rest.substr(space));
    size_t dot = std::min(name.find('.'), name.size());
    for (const Mnemonic& row : kMnemonics)
      if (row.name == name.substr(0, dot)) i.op = row.op;
    if (i.op == PtxOp::None) return unknown(statement);
    if (i.op == PtxOp::Nothing) return {};
    int types = 0;
    while (dot < name.size()) {
      size_t end = std::min(name.find('.', dot + 1), name.size());
      if (!modifier(name.substr(dot + 1, end - dot - 1), i, types)) return unknown(statement);
      dot = end;
    }
    if (types == 0 || !operands(i, split(arguments), types) || !executable(i, types)) return unknown(statement);
    ptx_.code_.push_back(i);
    return {};
  }

  static bool vector(std::string_view text, std::vector<std::string_view>& parts) {
    if (!text.starts_with("{") || !text.ends_with("}")) return false;
    parts = split(text.substr(1, text.size() - 2));
    return parts.size() == 2;
  }

  bool operands(PtxInstruction& i, const std::vector<std::string_view>& list, int types) {
    if (list.empty()) return false;
    PtxType in = types == 2 && i.op != PtxOp::Slct ? i.from : i.type;
    std::vector<std::string_view> parts;
    if (vector(list[0], parts)) {
      i.unpack = true;
      i.toCount = 2;
      for (int k = 0; k < 2; ++k)
        if (parts[k] != "_" && !destination(parts[k], i.to[k])) return false;
    } else if (size_t bar = list[0].find('|'); bar != std::string_view::npos) {
      i.toCount = 2;
      if (!destination(list[0].substr(0, bar), i.to[0]) || !destination(list[0].substr(bar + 1), i.to[1])) return false;
    } else {
      i.toCount = 1;
      if (!destination(list[0], i.to[0])) return false;
    }
    for (size_t k = 1; k < list.size(); ++k) {
      if (vector(list[k], parts)) {
        if (k != 1 || list.size() != 2) return false;
        i.pack = true;
        i.inCount = 2;
        return operand(parts[0], in, i.in[0]) && operand(parts[1], in, i.in[1]);
      }
      if (i.inCount == 4 || !operand(list[k], in, i.in[i.inCount++])) return false;
    }
    return true;
  }

  bool destination(std::string_view text, PtxOperand& out) {
    return operand(text, PtxType::None, out) && out.kind == PtxOperand::Kind::Register && !out.negated;
  }

  static bool integer(PtxType t) { return t >= PtxType::B8 && t <= PtxType::S64; }

  // Whether the forms of the table allow this: types, number of operands, roundings.
  static bool executable(const PtxInstruction& i, int types) {
    PtxType t = i.type, half = halfOf(t);
    bool f = isFloat(half), n = integer(half), wide = n && widthOf(half) >= 16, halves = half == PtxType::F16 || half == PtxType::BF16;
    bool directed = i.rounding == Rounding::Down || i.rounding == Rounding::Up;
    bool packedInteger = t == PtxType::U16x2 || t == PtxType::S16x2;
    if (i.finite && i.op != PtxOp::Cvt) return false;
    if (i.relu && i.op != PtxOp::Cvt && i.op != PtxOp::Fma && i.op != PtxOp::Min && i.op != PtxOp::Max) return false;
    if (i.whole && i.op != PtxOp::Cvt) return false;
    if (i.roundTies && !(i.op == PtxOp::Cvt && t == PtxType::TF32)) return false;
    if ((i.pack || i.unpack) && (i.op != PtxOp::Mov || (i.pack && i.unpack))) return false;
    if (i.toCount == 2 && !i.unpack && i.op != PtxOp::Setp) return false;
    if (types == 2 && i.op != PtxOp::Cvt && i.op != PtxOp::Set && i.op != PtxOp::Slct && i.op != PtxOp::Dp4a) return false;
    auto count = [&](int expected) { return i.inCount == expected; };
    switch (i.op) {
      case PtxOp::Mov: return i.pack ? count(2) && n && widthOf(t) >= 16 : count(1) && (!i.unpack || (n && widthOf(t) >= 16)) && widthOf(t) > 0;
      case PtxOp::Cvt: return types == 2 && convertible(i);
      case PtxOp::Add:
      case PtxOp::Sub: return count(2) && (f || wide) && !(halves && directed) && (!i.carry || (n && !packedInteger && widthOf(t) >= 32)) && !(i.saturate && n && t != PtxType::S32);
      case PtxOp::Addc:
      case PtxOp::Subc: return count(2) && n && widthOf(t) >= 32 && !i.saturate;
      case PtxOp::Mul: return count(2) && (f || (wide && !packedInteger)) && !(halves && directed) && !(i.saturate && n) && (i.part != PtxInstruction::Part::Wide || widthOf(t) <= 32);
      case PtxOp::Mad: return count(3) && !i.carry && !(i.saturate && n) && (n ? wide && !packedInteger && (i.part != PtxInstruction::Part::Wide || widthOf(t) <= 32) : t == PtxType::F32 || t == PtxType::F64);
      case PtxOp::Mul24: return count(2) && (t == PtxType::U32 || t == PtxType::S32);
      case PtxOp::Sad: return count(3) && n && wide && !packedInteger;
      case PtxOp::Fma: return count(3) && f && !(halves && i.rounding != Rounding::Nearest);
      case PtxOp::Div: return count(2) && (n ? wide && !packedInteger : t == PtxType::F32 || t == PtxType::F64);
      case PtxOp::Rem: return count(2) && n && wide && !packedInteger;
      case PtxOp::Abs:
      case PtxOp::Neg: return count(1) && (f || (isSigned(t) && widthOf(t) >= 16 && !packedInteger));
      case PtxOp::Min:
      case PtxOp::Max: return count(2) && (f || wide);
      case PtxOp::And:
      case PtxOp::Or:
      case PtxOp::Xor: return count(2) && (t == PtxType::Pred || (n && wide));
      case PtxOp::Not: return count(1) && (t == PtxType::Pred || (n && wide));
      case PtxOp::Cnot: return count(1) && n && wide;
      case PtxOp::Lop3: return count(4) && t == PtxType::B32;
      case PtxOp::Shl:
      case PtxOp::Shr: return count(2) && n && wide && !packedInteger;
      case PtxOp::Shf: return count(3) && t == PtxType::B32 && i.direction != PtxInstruction::Variant::None && i.limit != PtxInstruction::Variant::None;
      case PtxOp::Prmt: return count(3) && t == PtxType::B32;
      case PtxOp::Bfe: return count(3) && n && widthOf(t) >= 32;
      case PtxOp::Bfi: return count(4) && n && widthOf(t) >= 32;
      case PtxOp::Brev:
      case PtxOp::Popc:
      case PtxOp::Clz:
      case PtxOp::Bfind: return count(1) && n && widthOf(t) >= 32;
      case PtxOp::Dp4a: return count(3) && types == 2 && (t == PtxType::U32 || t == PtxType::S32) && (i.from == PtxType::U32 || i.from == PtxType::S32);
      case PtxOp::Rcp:
      case PtxOp::Sqrt:
      case PtxOp::Rsqrt: return count(1) && (t == PtxType::F32 || t == PtxType::F64);
      case PtxOp::Sin:
      case PtxOp::Cos:
      case PtxOp::Lg2: return count(1) && t == PtxType::F32;
      case PtxOp::Ex2:
      case PtxOp::Tanh: return count(1) && f && t != PtxType::F64;
      case PtxOp::Copysign: return count(2) && (t == PtxType::F32 || t == PtxType::F64);
      case PtxOp::Testp: return count(1) && (t == PtxType::F32 || t == PtxType::F64);
      case PtxOp::Setp: return i.inCount == (i.combine == PtxCombine::None ? 2 : 3) && (f || wide);
      case PtxOp::Set: return types == 2 && count(2) && i.combine == PtxCombine::None && (isFloat(i.from) || integer(i.from)) && (t == PtxType::U32 || t == PtxType::S32 || t == PtxType::F32);
      case PtxOp::Selp: return count(3) && widthOf(t) >= 16;
      case PtxOp::Slct: return types == 2 && count(3) && (i.from == PtxType::S32 || i.from == PtxType::F32);
      default: return false;
    }
  }

  static bool convertible(const PtxInstruction& i) {
    auto small = [](PtxType t) { return t >= PtxType::E4M3x2 && t <= PtxType::UE8M0x2; };
    auto pair = [](PtxType t) { return t == PtxType::F16x2 || t == PtxType::BF16x2; };
    bool directed = i.rounding == Rounding::Down || i.rounding == Rounding::Up;
    if (i.type == PtxType::UE8M0x2) return (i.from == PtxType::F32 && i.inCount == 2) || (i.from == PtxType::BF16x2 && i.inCount == 1);
    if (small(i.type))
      return i.rounding == Rounding::Nearest && ((i.from == PtxType::F32 && i.inCount == 2) || (pair(i.from) && i.inCount == 1));
    if (small(i.from)) return pair(i.type) && i.inCount == 1 && !directed;
    if (pair(i.type)) return i.from == PtxType::F32 && i.inCount == 2 && !directed;
    if (i.type == PtxType::TF32) return i.from == PtxType::F32 && i.inCount == 1 && !directed;
    auto plain = [](PtxType t) { return isFloat(t) || integer(t); };
    bool halves = i.type == PtxType::F16 || i.type == PtxType::BF16;
    return plain(i.type) && plain(i.from) && i.inCount == 1 && !(halves && directed && !i.whole);
  }

  Ptx& ptx_;
  std::vector<std::unordered_map<std::string, uint32_t>> scopes_{1};
  uint32_t next_ = 0;
};

Result<std::shared_ptr<const Ptx>> Ptx::compile(std::string_view text, std::string_view constraints) {
  auto ptx = std::make_shared<Ptx>();
  if (Status status = PtxParser(*ptx).parse(text, constraints); !status) return failure(std::move(status).error());
  return std::shared_ptr<const Ptx>(std::move(ptx));
}

}  // namespace tilesight::foreign
