// Random kernels of TTGIR before and after hoist-layout-conversions: the same bits. The engine does not know layouts, and the
// elements of a tensor do not depend on them; so layouts are taken away, and what a conversion is then is a reshape to the
// same shape.
#include <regex>

#include "semantics.h"

namespace tilesight::plugins {
namespace {

constexpr std::string_view kAliases = R"(#blk = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8]}>
#dotA = #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 4}>
#dotB = #ttg.dot_op<{opIdx = 1, parent = #mma, kWidth = 4}>
)";

std::string withoutLayouts(const std::string& text) {
  std::string plain = text.substr(text.find("module"));
  plain = std::regex_replace(plain, std::regex("ttg\\.convert_layout"), "tt.reshape");
  // What was not touched has aliases, what was written anew may not.
  plain = std::regex_replace(plain, std::regex(", #ttg\\.dot_op<\\{[^{}]*parent = #ttg[^{}]*\\{[^{}]*\\}>[^{}]*\\}>"), "");
  plain = std::regex_replace(plain, std::regex(", #(ttg\\.[a-z_]+<\\{[^{}]*\\}>|[a-zA-Z]+)"), "");
  return plain;
}

/// Loops in loops and in branches; conversions of arguments, of what loops carry and of what they compute; dots.
class Kernel {
 public:
  explicit Kernel(Random& random) : random_(random) {}

  Trial trial() {
    Trial trial;
    std::string text = std::string(kAliases) + R"(module attributes {"ttg.num-warps" = 4 : i32} {
tt.func public @k(%x: !tt.ptr<i32>, %y: !tt.ptr<i32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %yes = arith.cmpi sgt, %n, %c1 : i32
  %zero = arith.constant dense<0> : tensor<16x32xi32, #mma>
  %r0 = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32>
  %xs = tt.splat %x : !tt.ptr<i32> -> tensor<512x!tt.ptr<i32>>
  %xp = tt.addptr %xs, %r0 : tensor<512x!tt.ptr<i32>>, tensor<512xi32>
  %x0 = tt.load %xp : tensor<512x!tt.ptr<i32>>
  %x1 = arith.trunci %x0 : tensor<512xi32> to tensor<512xi8>
  %a0 = tt.reshape %x1 : tensor<512xi8> -> tensor<16x32xi8, #blk>
  %y1 = tt.reshape %x1 : tensor<512xi8> -> tensor<32x16xi8, #blk>
  %b0 = tt.join %y1, %y1 : tensor<32x16xi8, #blk> -> tensor<32x16x2xi8>
  %b1 = tt.reshape %b0 : tensor<32x16x2xi8> -> tensor<32x32xi8, #blk>
)";
    text_.clear();
    lefts_ = {"%a0"};
    rights_ = {"%b1"};
    sum_ = "%zero";
    block("  ", 0);
    text += text_;
    text += fmt::format(R"(  %flat = tt.reshape {} : tensor<16x32xi32, #mma> -> tensor<512xi32>
  %ys = tt.splat %y : !tt.ptr<i32> -> tensor<512x!tt.ptr<i32>>
  %yp = tt.addptr %ys, %r0 : tensor<512x!tt.ptr<i32>>, tensor<512xi32>
  tt.store %yp, %flat : tensor<512x!tt.ptr<i32>>
  tt.return
}}
}}
)", sum_);
    trial.text = text;
    trial.scalars = {random_.between(-1, 3)};
    trial.options = fmt::format("budget={}", random_.one({0, 1020, 1020, 300, 120}));
    return trial;
  }

 private:
  std::string fresh() { return fmt::format("%v{}", count_++); }
  const std::string& one(const std::vector<std::string>& of) { return of[static_cast<size_t>(random_.between(0, static_cast<int>(of.size()) - 1))]; }

  void line(const std::string& indent, const std::string& text) { text_ += indent + text + "\n"; }

  /// sum = dot(left, right) + sum
  void dot(const std::string& indent) {
    const std::string a = fresh(), b = fresh(), d = fresh();
    const bool first = random_.between(0, 1);
    const std::string left = fmt::format("{} = ttg.convert_layout {} : tensor<16x32xi8, #blk> -> tensor<16x32xi8, #dotA>", a, one(lefts_));
    const std::string right = fmt::format("{} = ttg.convert_layout {} : tensor<32x32xi8, #blk> -> tensor<32x32xi8, #dotB>", b, one(rights_));
    line(indent, first ? left : right);
    line(indent, first ? right : left);
    line(indent, fmt::format("{} = tt.dot {}, {}, {}, inputPrecision = tf32 : tensor<16x32xi8, #dotA> * tensor<32x32xi8, #dotB> -> tensor<16x32xi32, #mma>", d, a, b, sum_));
    sum_ = d;
  }

  void compute(const std::string& indent) {
    const bool left = random_.between(0, 1);
    std::vector<std::string>& all = left ? lefts_ : rights_;
    const std::string type = left ? "tensor<16x32xi8, #blk>" : "tensor<32x32xi8, #blk>", value = fresh();
    line(indent, fmt::format("{} = arith.addi {}, {} : {}", value, one(all), one(all), type));
    all.push_back(value);
  }

  void block(const std::string& indent, int depth) {
    const auto lefts = lefts_, rights = rights_;
    for (int i = random_.between(1, 3); i > 0; --i) {
      const int what = random_.between(0, 7);
      if (what < 3 || depth > 3) dot(indent);
      else if (what == 3) compute(indent);
      else if (what == 4) branch(indent, depth);
      else loop(indent, depth);
    }
    lefts_ = lefts, rights_ = rights;
  }

  void branch(const std::string& indent, int depth) {
    const std::string result = fresh(), before = sum_;
    line(indent, fmt::format("{} = scf.if %yes -> (tensor<16x32xi32, #mma>) {{", result));
    block(indent + "  ", depth + 1);
    line(indent, fmt::format("  scf.yield {} : tensor<16x32xi32, #mma>\n{}}} else {{\n{}  scf.yield {} : tensor<16x32xi32, #mma>\n{}}}", sum_, indent, indent, before, indent));
    sum_ = result;
  }

  /// Carries the sum, and perhaps a left operand that it changes.
  void loop(const std::string& indent, int depth) {
    const std::string result = fresh(), sum = fresh(), carried = fresh(), next = fresh(), variable = fresh(), last = fresh();
    const bool more = random_.between(0, 1);
    const std::string tile = "tensor<16x32xi8, #blk>", types = fmt::format("tensor<16x32xi32, #mma>{}", more ? ", " + tile : "");
    line(indent, fmt::format("{}{} = scf.for {} = %c0 to {} step %c1 iter_args({} = {}{}) -> ({})  : i32 {{", result, more ? ":2" : "", variable, random_.between(0, 1) ? "%c2" : "%n", sum,
                             sum_, more ? fmt::format(", {} = {}", carried, one(lefts_)) : "", types));
    const auto lefts = lefts_;
    sum_ = sum;
    if (more) lefts_.push_back(carried);
    block(indent + "  ", depth + 1);
    if (more) line(indent, fmt::format("  {} = arith.addi {}, {} : {}", next, carried, one(lefts_), tile));
    line(indent, fmt::format("  scf.yield {}{} : {}\n{}}}", sum_, more ? ", " + next : "", types, indent));
    lefts_ = lefts;
    sum_ = more ? result + "#0" : result;
    if (more) lefts_.push_back(result + "#1");
  }

  Random& random_;
  std::string text_, sum_;
  std::vector<std::string> lefts_, rights_;
  int count_ = 0;
};

TEST(HoistLayoutConversions, GivesTheSameBits) {
  compare("hoist_layout_conversions", "hoist-layout-conversions", [](Random& random) { return Kernel(random).trial(); }, 300, 100, 20, withoutLayouts);
}

}  // namespace
}  // namespace tilesight::plugins
