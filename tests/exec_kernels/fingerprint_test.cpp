// One number for the bits of everything: the same on x86-64-v3, x86-64-v4 and aarch64. Built for
// aarch64 and run under qemu-user, this is how the sets of different machines are compared.
#include "support.h"

namespace tilesight::exec {
namespace {

class Fingerprint {
 public:
  void add(const Span& span) {
    for (uint8_t byte : span.bytes) hash_ = (hash_ ^ byte) * 0x100000001b3u;  // FNV-1a
  }
  uint64_t value() const { return hash_; }

 private:
  uint64_t hash_ = 0xcbf29ce484222325u;
};

constexpr size_t kCount = 3000;

uint64_t ofArithmetic(const KernelSet& set) {
  Fingerprint print;
  RandomElements random(61);
  const auto binary = [&](const std::vector<ElementKind>& kinds, const std::vector<BinaryOp>& ops) {
    for (ElementKind kind : kinds)
      for (BinaryOp op : ops) {
        const Span a = random.span(kind, kCount), b = random.span(kind, kCount);
        print.add(applyVV(set.binary(op, kind), kind, a, b));
      }
  };
  binary(kIntKinds, kIntOps);
  binary(kFloatKinds, kFloatOps);
  for (ElementKind kind : kFloatKinds) {
    const Span a = random.span(kind, kCount), b = random.span(kind, kCount), c = random.span(kind, kCount);
    for (TernaryFn function : {set.fma(kind), set.clampF(kind, false), set.clampF(kind, true)}) {
      Span out(kind, kCount);
      function(out.data(), a.data(), b.data(), c.data(), kCount);
      print.add(out);
    }
  }
  return print.value();
}

uint64_t ofFunctions(const KernelSet& set) {
  Fingerprint print;
  RandomElements random(67);
  for (ElementKind kind : kFloatKinds)
    for (UnaryOp op : kMathOps) {
      const Span in = random.span(kind, 20'000);
      Span out(kind, in.size());
      set.unary(op, kind)(out.data(), in.data(), in.size());
      print.add(out);
    }
  return print.value();
}

uint64_t ofCasts(const KernelSet& set) {
  Fingerprint print;
  RandomElements random(71);
  std::vector<ElementKind> kinds = kIntKinds;
  kinds.insert(kinds.end(), kFloatKinds.begin(), kFloatKinds.end());
  for (ElementKind from : kinds)
    for (ElementKind to : kinds)
      for (int op = 0; op <= int(CastOp::FPTruncRtz); ++op) {
        const UnaryFn cast = set.cast(CastOp(op), from, to);
        if (cast == nullptr) continue;
        const Span in = random.span(from, kCount);
        Span out(to, kCount);
        cast(out.data(), in.data(), kCount);
        print.add(out);
      }
  return print.value();
}

uint64_t ofSums(const KernelSet& set) {
  using enum ElementKind;
  Fingerprint print;
  RandomElements random(73);
  for (ElementKind kind : kFloatKinds)
    for (BinaryOp op : {BinaryOp::AddF, BinaryOp::MaxNumF})
      for (size_t inner : {1u, 7u}) {
        const Span in = random.span(kind, 5 * 256 * inner);
        Span out(kind, 5 * inner);
        set.reduce(op, kind)(out.data(), in.data(), 5, 256, inner);
        print.add(out);
      }
  const ElementKind dots[][2] = {{F16, F32}, {BF16, F32}, {F32, F32}, {F64, F64}, {F8E4M3FN, F32}, {F16, F16}, {I8, I32}};
  for (const auto& [in, acc] : dots) {
    const int64_t m = 21, n = 43, k = 30;
    Span a(in, m * k), b(in, k * n), d(acc, m * n);
    const uint64_t ordinary = in == I8 || bytesOf(in) == 1 ? 0x77 : in == F16 ? 0xbfff : 0xbfffffffffffffffu;
    for (size_t i = 0; i < a.size(); ++i) a.set(i, random.engine()() & ordinary);
    for (size_t i = 0; i < b.size(); ++i) b.set(i, random.engine()() & ordinary);
    set.dot(in, in, acc, DotPrecision::Ieee)({a.data(), k, 1, b.data(), 1, k, d.data(), m, n, k});
    print.add(d);
  }
  return print.value();
}

TEST(Fingerprint, IsTheSameOnEveryInstructionSet) {
  for (const KernelSet* set : allSets()) {
    EXPECT_EQ(ofArithmetic(*set), 0xbc91473ac5f4be3fu) << set->name;
    EXPECT_EQ(ofFunctions(*set), 0x37a7bd3b1e081392u) << set->name;
    EXPECT_EQ(ofCasts(*set), 0x213c6c02d446465au) << set->name;
    EXPECT_EQ(ofSums(*set), 0xc65abdfd2b3b238cu) << set->name;
  }
}

}  // namespace
}  // namespace tilesight::exec
