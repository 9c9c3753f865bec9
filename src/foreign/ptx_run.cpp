// Runs compiled PTX on the bits of registers. Compiled with -frounding-math.
#include <algorithm>

#include "exec/kernels/kernels.h"
#include "foreign/libm.h"
#include "foreign/ptx.h"

namespace tilesight::foreign {

namespace {

using Part = PtxInstruction::Part;
using Variant = PtxInstruction::Variant;

u64 maskOf(int width) { return width >= 64 ? ~u64{0} : (u64{1} << width) - 1; }
u64 unsignedOf(PtxType type, u64 bits) { return bits & maskOf(widthOf(type)); }
i64 signedOf(PtxType type, u64 bits) {
  int shift = 64 - widthOf(type);
  return i64(bits << shift) >> shift;
}
// An integer as wide as any product needs.
i128 integerOf(PtxType type, u64 bits) {
  return isSigned(type) ? i128(signedOf(type, bits)) : i128(unsignedOf(type, bits));
}

f32 flush(f32 x) { return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x; }

class Runner {
 public:
  Runner(u64* registers, const PtxEnvironment& environment) : registers_(registers), environment_(environment) {}

  void run(const PtxInstruction& i) {
    if (i.guard.kind != PtxOperand::Kind::None && !(read(i.guard) & 1)) return;
    switch (i.op) {
      case PtxOp::Mov: return move(i);
      case PtxOp::Cvt: return write(i.to[0], widthOf(i.type), convert(i));
      case PtxOp::Setp: return setPredicate(i);
      case PtxOp::Set: {
        bool is = compare(i, i.from, read(i.in[0]), read(i.in[1]));
        return write(i.to[0], 32, !is ? 0 : i.type == PtxType::F32 ? 0x3f800000 : 0xffffffff);
      }
      case PtxOp::Selp: return write(i.to[0], widthOf(i.type), read(i.in[2]) & 1 ? read(i.in[0]) : read(i.in[1]));
      case PtxOp::Slct: {
        bool first = i.from == PtxType::F32 ? floatValue(i.from, read(i.in[2])) >= 0 : i32(read(i.in[2])) >= 0;
        return write(i.to[0], widthOf(i.type), first ? read(i.in[0]) : read(i.in[1]));
      }
      default: break;
    }
    u64 in[4] = {};
    for (int k = 0; k < i.inCount; ++k) in[k] = read(i.in[k]);
    PtxType half = halfOf(i.type);
    if (half == i.type) {
      bool wide = i.part == Part::Wide && (i.op == PtxOp::Mul || i.op == PtxOp::Mad);
      return write(i.to[0], wide ? 2 * widthOf(i.type) : resultWidth(i), element(i, i.type, in));
    }
    // Two halves of a register, each on its own.
    u64 low[4], high[4];
    for (int k = 0; k < 4; ++k) {
      low[k] = in[k] & 0xffff;
      high[k] = in[k] >> 16 & 0xffff;
    }
    u64 bits = (element(i, half, low) & 0xffff) | (element(i, half, high) & 0xffff) << 16;
    write(i.to[0], 32, bits);
  }

 private:
  static int resultWidth(const PtxInstruction& i) {
    switch (i.op) {
      case PtxOp::Popc:
      case PtxOp::Clz:
      case PtxOp::Bfind: return 32;
      case PtxOp::Testp: return 1;
      default: return widthOf(i.type);
    }
  }

  u64 read(const PtxOperand& operand) const {
    u64 bits = operand.bits;
    if (operand.kind == PtxOperand::Kind::Register) bits = registers_[operand.number];
    if (operand.kind == PtxOperand::Kind::Special) {
      u64 which = operand.bits;
      if (which >= kTimer) bits = environment_.timer ? 1000 * ++*environment_.timer : 0;
      else if (which >= kGrid) bits = u64(environment_.grid[which - kGrid]);
      else bits = u64(environment_.program[which - kProgram]);
    }
    return operand.negated ? bits ^ 1 : bits;
  }
  void write(const PtxOperand& operand, int width, u64 bits) {
    if (operand.kind == PtxOperand::Kind::Register) registers_[operand.number] = bits & maskOf(width);
  }

  void move(const PtxInstruction& i) {
    int width = widthOf(i.type);
    if (i.pack) {
      u64 low = read(i.in[0]) & maskOf(width / 2);
      return write(i.to[0], width, low | read(i.in[1]) << (width / 2));
    }
    u64 bits = read(i.in[0]);
    if (!i.unpack) return write(i.to[0], width, bits);
    write(i.to[0], width / 2, bits);
    write(i.to[1], width / 2, bits >> (width / 2));
  }

  // -- floats ------------------------------------------------------------------------------------------

  static f64 value(const PtxInstruction& i, PtxType type, u64 bits) {
    f64 x = floatValue(type, bits);
    return i.ftz && type == PtxType::F32 ? flush(f32(x)) : x;
  }
  static u64 result(const PtxInstruction& i, PtxType type, f64 x) {
    if (i.saturate) x = x > 0 ? std::min(x, 1.0) : 0.0;
    if (i.relu) x = x != x || x > 0 ? x : 0.0;
    u64 bits = floatBits(type, x, i.rounding);
    if (i.ftz && type == PtxType::F32) bits = std::bit_cast<u32>(flush(std::bit_cast<f32>(u32(bits))));
    return bits;
  }

  static u64 fused(const PtxInstruction& i, PtxType type, u64 a, u64 b, u64 c) {
    if (type == PtxType::F64 || (type == PtxType::F32 && i.rounding != Rounding::Nearest)) {
      if (type == PtxType::F64) {
        volatile f64 x = value(i, type, a), y = value(i, type, b), z = value(i, type, c);
        return result(i, type, rounded(i.rounding, [&] { return libm::fma(f64(x), f64(y), f64(z)); }));
      }
      volatile f32 x = f32(value(i, type, a)), y = f32(value(i, type, b)), z = f32(value(i, type, c));
      return result(i, type, rounded(i.rounding, [&] { return libm::fma(f32(x), f32(y), f32(z)); }));
    }
    if (type == PtxType::F32)
      return result(i, type, libm::fma(f32(value(i, type, a)), f32(value(i, type, b)), f32(value(i, type, c))));
    u64 out = 0;
    auto kind = type == PtxType::F16 ? ir::ElementKind::F16 : ir::ElementKind::BF16;
    exec::kernels().fma(kind)(&out, &a, &b, &c, 1);
    return i.relu || i.saturate ? result(i, type, floatValue(type, out)) : out;
  }

  static u64 floatElement(const PtxInstruction& i, PtxType type, const u64* in) {
    if (i.op == PtxOp::Fma || i.op == PtxOp::Mad) return fused(i, type, in[0], in[1], in[2]);
    u64 top = u64{1} << (widthOf(type) - 1);
    if (i.op == PtxOp::Neg && !i.ftz) return in[0] ^ top;
    if (i.op == PtxOp::Abs && !i.ftz) return in[0] & ~top;
    if (i.op == PtxOp::Copysign) return (in[1] & ~top) | (in[0] & top);
    volatile f64 a = value(i, type, in[0]), b = i.inCount > 1 ? value(i, type, in[1]) : 0;
    f64 x = a, y = b;
    auto once = [&](auto f) { return result(i, type, rounded(i.rounding, f)); };
    switch (i.op) {
      case PtxOp::Add: return once([&] { return a + b; });
      case PtxOp::Sub: return once([&] { return a - b; });
      case PtxOp::Mul: return once([&] { return a * b; });
      case PtxOp::Div: return once([&] { return a / b; });
      case PtxOp::Rcp: return once([&] { return 1 / a; });
      case PtxOp::Sqrt: return once([&] { return std::sqrt(f64(a)); });
      case PtxOp::Rsqrt: return result(i, type, 1 / std::sqrt(x));
      case PtxOp::Sin: return result(i, type, libm::sin(x));
      case PtxOp::Cos: return result(i, type, libm::cos(x));
      case PtxOp::Lg2: return result(i, type, std::log2(x));
      case PtxOp::Ex2: return result(i, type, std::exp2(x));
      case PtxOp::Tanh: return result(i, type, std::tanh(x));
      case PtxOp::Neg: return result(i, type, -x);
      case PtxOp::Abs: return result(i, type, std::fabs(x));
      case PtxOp::Min:
      case PtxOp::Max: {
        if (i.nan && (x != x || y != y)) return result(i, type, std::numeric_limits<f64>::quiet_NaN());
        if (x != x) return result(i, type, y);
        if (y != y) return result(i, type, x);
        bool first = x == y ? std::signbit(x) : x < y;  // -0 is below +0
        return result(i, type, first == (i.op == PtxOp::Min) ? x : y);
      }
      case PtxOp::Testp:
        switch (i.test) {
          case 0: return std::isfinite(x);
          case 1: return std::isinf(x);
          case 2: return x == x;
          case 3: return x != x;
          case 4: return type == PtxType::F32 ? std::isnormal(f32(x)) : std::isnormal(x);
          default: return type == PtxType::F32 ? std::fpclassify(f32(x)) == FP_SUBNORMAL : std::fpclassify(x) == FP_SUBNORMAL;
        }
      default: return 0;
    }
  }

  // -- integers ------------------------------------------------------------------------------------------

  u64 element(const PtxInstruction& i, PtxType type, const u64* in) {
    if (isFloat(type)) return floatElement(i, type, in);
    int width = widthOf(type);
    i128 a = integerOf(type, in[0]), b = integerOf(type, in[1]), c = integerOf(type, in[2]);
    u64 ua = unsignedOf(type, in[0]), ub = unsignedOf(type, in[1]);
    u32 count = u32(in[1]);
    auto clamp = [&](i128 x) {
      i128 low = -(i128(1) << (width - 1)), top = (i128(1) << (width - 1)) - 1;
      return x < low ? low : x > top ? top : x;
    };
    auto product = [&](i128 x) { return i.part == Part::High ? u64(x >> width) : u64(x); };
    switch (i.op) {
      case PtxOp::Add: {
        if (i.carry) carry_ = (u128(ua) + ub) >> width;
        return u64(i.saturate ? clamp(a + b) : a + b);
      }
      case PtxOp::Addc: {
        u128 sum = u128(ua) + ub + carry_;
        if (i.carry) carry_ = u64(sum >> width);
        return u64(sum);
      }
      case PtxOp::Sub: {
        if (i.carry) carry_ = ua < ub;
        return u64(i.saturate ? clamp(a - b) : a - b);
      }
      case PtxOp::Subc: {
        u128 difference = u128(ua) - ub - carry_;
        if (i.carry) carry_ = u64(difference >> width) & 1;
        return u64(difference);
      }
      // The low half of the product needs no more than 128 bits, which wrap as unsigned ones.
      case PtxOp::Mul: return product(i128(u128(a) * u128(b)));
      case PtxOp::Mad: {
        u64 addend = i.part == Part::Wide ? (isSigned(type) ? u64(i64(in[2])) : in[2]) : u64(c);
        return product(i128(u128(a) * u128(b))) + addend;
      }
      case PtxOp::Mul24: {
        i64 x = isSigned(type) ? signed24(u32(ua)) : i64(ua & 0xffffff), y = isSigned(type) ? signed24(u32(ub)) : i64(ub & 0xffffff);
        return u64(i.part == Part::High ? x * y >> 16 : x * y);
      }
      case PtxOp::Sad: return u64((a > b ? a - b : b - a) + c);
      case PtxOp::Div: return b == 0 ? ~u64{0} : u64(a / b);
      case PtxOp::Rem: return b == 0 ? ua : u64(a % b);
      case PtxOp::Abs: return u64(a < 0 ? -a : a);
      case PtxOp::Neg: return u64(-a);
      case PtxOp::Min: {
        i128 least = std::min(a, b);
        return u64(i.relu && least < 0 ? 0 : least);
      }
      case PtxOp::Max: {
        i128 most = std::max(a, b);
        return u64(i.relu && most < 0 ? 0 : most);
      }
      case PtxOp::And: return ua & ub;
      case PtxOp::Or: return ua | ub;
      case PtxOp::Xor: return ua ^ ub;
      case PtxOp::Not: return ~ua;
      case PtxOp::Cnot: return ua == 0;
      case PtxOp::Lop3: {
        u64 table = in[3], bits = 0;
        for (int k = 0; k < 8; ++k)
          if (table >> k & 1)
            bits |= (k & 4 ? in[0] : ~in[0]) & (k & 2 ? in[1] : ~in[1]) & (k & 1 ? in[2] : ~in[2]);
        return bits;
      }
      case PtxOp::Shl: return count >= u32(width) ? 0 : ua << count;
      case PtxOp::Shr: return isSigned(type) ? u64(i64(a) >> std::min(count, 63u)) : count >= u32(width) ? 0 : ua >> count;
      case PtxOp::Shf: {
        u64 both = u64(u32(in[1])) << 32 | u32(in[0]);
        u32 by = i.limit == Variant::Wrap ? u32(in[2]) & 31 : std::min(u32(in[2]), 32u);
        return i.direction == Variant::Left ? both << by >> 32 : both >> by;
      }
      case PtxOp::Prmt: return bytePermute(u32(in[0]), u32(in[1]), u32(in[2]));
      case PtxOp::Bfe: {
        u32 from = u32(in[1]) & 0xff, length = u32(in[2]) & 0xff;
        if (length == 0) return 0;
        u32 last = std::min(from + length, u32(width)) - 1;
        bool sign = isSigned(type) && (from < u32(width) ? ua >> last & 1 : ua >> (width - 1) & 1);
        u64 field = from < u32(width) ? ua >> from : 0;
        u32 kept = from < u32(width) ? std::min(length, u32(width) - from) : 0;
        field &= maskOf(int(kept));
        if (kept == 0) field = 0;
        return sign ? field | (kept < 64 ? ~u64{0} << kept : 0) : field;
      }
      case PtxOp::Bfi: {
        u32 to = u32(in[2]) & 0xff, length = u32(in[3]) & 0xff;
        if (to >= u32(width) || length == 0) return ub;
        u64 mask = maskOf(int(std::min(length, u32(width)))) << to;
        return (ub & ~mask) | (ua << to & mask);
      }
      case PtxOp::Brev: return width == 64 ? reverseBits(ua) : reverseBits(u32(ua));
      case PtxOp::Popc: return u64(std::popcount(ua));
      case PtxOp::Clz: return u64(std::countl_zero(ua) - (64 - width));
      case PtxOp::Bfind: {
        u64 x = isSigned(type) && a < 0 ? unsignedOf(type, ~ua) : ua;
        if (x == 0) return 0xffffffff;
        u64 at = u64(63 - std::countl_zero(x));
        return i.shiftAmount ? u64(width - 1) - at : at;
      }
      case PtxOp::Dp4a: {
        i64 sum = i64(c);
        for (int k = 0; k < 4; ++k) {
          u8 x = u8(in[0] >> (8 * k)), y = u8(in[1] >> (8 * k));
          sum += (isSigned(type) ? i64(int8_t(x)) : x) * (isSigned(i.from) ? i64(int8_t(y)) : y);
        }
        return u64(sum);
      }
      default: return 0;
    }
  }

  // -- comparisons ---------------------------------------------------------------------------------------

  static bool compare(const PtxInstruction& i, PtxType type, u64 x, u64 y) {
    auto order = [&](auto a, auto b) {
      switch (i.compare) {
        case PtxCompare::Eq:
        case PtxCompare::Equ: return a == b;
        case PtxCompare::Ne:
        case PtxCompare::Neu: return a != b;
        case PtxCompare::Lt:
        case PtxCompare::Lo:
        case PtxCompare::Ltu: return a < b;
        case PtxCompare::Le:
        case PtxCompare::Ls:
        case PtxCompare::Leu: return a <= b;
        case PtxCompare::Gt:
        case PtxCompare::Hi:
        case PtxCompare::Gtu: return a > b;
        default: return a >= b;
      }
    };
    if (!isFloat(type)) {
      bool plain = i.compare >= PtxCompare::Lo && i.compare <= PtxCompare::Hs;
      return plain ? order(unsignedOf(type, x), unsignedOf(type, y)) : order(integerOf(type, x), integerOf(type, y));
    }
    f64 a = value(i, type, x), b = value(i, type, y);
    bool nan = a != a || b != b;
    if (i.compare == PtxCompare::Num) return !nan;
    if (i.compare == PtxCompare::Nan) return nan;
    if (nan) return i.compare >= PtxCompare::Equ;
    return order(a, b);
  }

  void setPredicate(const PtxInstruction& i) {
    u64 a = read(i.in[0]), b = read(i.in[1]);
    PtxType half = halfOf(i.type);
    bool first = compare(i, half, a, b), second = !first;
    if (half != i.type) second = compare(i, half, a >> 16, b >> 16);
    if (i.combine != PtxCombine::None) {
      bool with = read(i.in[2]) & 1;
      auto join = [&](bool x) {
        return i.combine == PtxCombine::And ? x && with : i.combine == PtxCombine::Or ? x || with : x != with;
      };
      first = join(first);
      second = join(second);
    }
    write(i.to[0], 1, first);
    if (i.toCount == 2) write(i.to[1], 1, second);
  }

  // -- conversions ---------------------------------------------------------------------------------------

  u64 convert(const PtxInstruction& i) const {
    u64 a = read(i.in[0]), b = i.inCount > 1 ? read(i.in[1]) : 0;
    PtxType to = i.type, from = i.from;
    auto positive = [&](f64 x) { return i.relu && x < 0 ? 0.0 : x; };
    if (to >= PtxType::E4M3x2 && to <= PtxType::UE8M0x2) {
      // The first source is the upper half.
      f64 high, low;
      if (from == PtxType::F32) {
        high = floatValue(from, a);
        low = floatValue(from, b);
      } else {
        high = floatValue(halfOf(from), a >> 16);
        low = floatValue(halfOf(from), a);
      }
      int bits = widthOf(to) / 2;
      return smallBits(to, positive(high), i.rounding) << bits | smallBits(to, positive(low), i.rounding);
    }
    if (from >= PtxType::E4M3x2 && from <= PtxType::UE8M0x2) {
      int bits = widthOf(from) / 2;
      auto half = [&](u64 code) { return floatBits(halfOf(to), positive(smallValue(from, code & maskOf(bits))), i.rounding); };
      return half(a >> bits) << 16 | half(a);
    }
    if (to == PtxType::F16x2 || to == PtxType::BF16x2)
      return floating(i, halfOf(to), floatValue(from, a)) << 16 | floating(i, halfOf(to), floatValue(from, b));
    if (to == PtxType::TF32) {
      f32 x = std::bit_cast<f32>(u32(a));
      return tf32Bits(i.relu && x < 0 ? 0.0f : x, i.rounding, i.roundTies);
    }
    if (isFloat(from)) {
      f64 x = value(i, from, a);
      if (isFloat(to)) return floating(i, to, i.whole ? toWhole(x, i.rounding) : x);
      return toInteger(to, from == PtxType::F64, x, i.rounding);
    }
    i128 x = integerOf(from, a);
    if (isFloat(to)) {
      // 64-bit integers do not fit f64: straight to f32 and f64, by the rounding.
      if (to == PtxType::F32 || to == PtxType::F64) {
        bool sign = isSigned(from);
        volatile i64 s = i64(x);
        volatile u64 u = u64(x);
        f64 value = to == PtxType::F32 ? rounded(i.rounding, [&] { return sign ? f32(s) : f32(u); })
                                       : rounded(i.rounding, [&] { return sign ? f64(s) : f64(u); });
        return result(i, to, value);
      }
      return result(i, to, f64(x));
    }
    if (!i.saturate) return u64(x);
    int width = widthOf(to);
    i128 low = isSigned(to) ? -(i128(1) << (width - 1)) : i128(0);
    i128 top = (i128(1) << (isSigned(to) ? width - 1 : width)) - 1;
    return u64(x < low ? low : x > top ? top : x);
  }

  static u64 floating(const PtxInstruction& i, PtxType to, f64 x) {
    u64 bits = result(i, to, x);
    if (!i.finite || widthOf(to) != 16) return bits;
    // .satfinite: too large becomes the largest number.
    u64 largest = to == PtxType::F16 ? 0x7bff : 0x7f7f, infinity = largest + 1;
    return (bits & 0x7fff) == infinity ? (bits & 0x8000) | largest : bits;
  }

  static u64 toInteger(PtxType to, bool fromDouble, f64 x, Rounding rounding) {
    int width = widthOf(to);
    if (x != x) return fromDouble || width == 64 ? u64{1} << (width - 1) : 0;
    if (width == 64) return isSigned(to) ? u64(foreign::integerOf<i64>(x, rounding)) : foreign::integerOf<u64>(x, rounding);
    f64 whole = toWhole(x, rounding);
    f64 low = isSigned(to) ? -std::ldexp(1.0, width - 1) : 0.0;
    f64 top = std::ldexp(1.0, isSigned(to) ? width - 1 : width) - 1;
    return u64(i64(std::clamp(whole, low, top)));
  }

  using u8 = uint8_t;
  u64* registers_;
  const PtxEnvironment& environment_;
  u64 carry_ = 0;
};

}  // namespace

void Ptx::run(uint64_t* operands, const PtxEnvironment& environment) const {
  thread_local std::vector<u64> registers;
  registers.assign(registers_, 0);
  std::copy_n(operands, outputs_ + inputs_, registers.begin());
  for (auto [input, output] : tied_) registers[output] = operands[input];
  Runner runner(registers.data(), environment);
  for (const PtxInstruction& instruction : code_) runner.run(instruction);
  std::copy_n(registers.begin(), outputs_, operands);
}

}  // namespace tilesight::foreign
