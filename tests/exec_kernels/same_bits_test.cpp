// Every operation, form and kind: the scalar forms agree with the span form, in place agrees with out
// of place, and all kernel sets of this machine give the same bits.
#include "support.h"

namespace tilesight::exec {
namespace {

constexpr size_t kSizes[] = {0, 1, 3, 8, 31, 64, 1000, 1537};

void expectSameForms(const std::string& what, const BinaryForms& forms, const BinaryForms& other,
                     ElementKind in, ElementKind out, RandomElements& random) {
  ASSERT_EQ(forms.vv == nullptr, other.vv == nullptr) << what;
  if (forms.vv == nullptr) return;
  for (size_t n : kSizes) {
    const Span a = random.span(in, n), b = random.span(in, n), scalar = random.span(in, 1);
    Span repeated(in, n);
    for (size_t i = 0; i < n; ++i) repeated.set(i, scalar.bits(0));
    const Span vv = applyVV(forms, out, a, b);
    ASSERT_EQ(vv, applyVV(other, out, a, b)) << what << ": another set gives other bits, n = " << n;
    Span vs(out, n), sv(out, n);
    forms.vs(vs.data(), a.data(), scalar.data(), n);
    forms.sv(sv.data(), scalar.data(), b.data(), n);
    ASSERT_EQ(vs, applyVV(forms, out, a, repeated)) << what << " vs";
    ASSERT_EQ(sv, applyVV(forms, out, repeated, b)) << what << " sv";
    if (bytesOf(in) == bytesOf(out)) {
      Span inPlace = a;
      forms.vv(inPlace.data(), inPlace.data(), b.data(), n);
      ASSERT_EQ(inPlace.bytes, vv.bytes) << what << " in place of a";
      inPlace = b;
      forms.vv(inPlace.data(), a.data(), inPlace.data(), n);
      ASSERT_EQ(inPlace.bytes, vv.bytes) << what << " in place of b";
    }
  }
}

void expectSameUnary(const std::string& what, UnaryFn function, UnaryFn other, ElementKind in,
                     ElementKind out, RandomElements& random) {
  ASSERT_EQ(function == nullptr, other == nullptr) << what;
  if (function == nullptr) return;
  for (size_t n : kSizes) {
    const Span a = random.span(in, n);
    Span first(out, n), second(out, n);
    function(first.data(), a.data(), n);
    other(second.data(), a.data(), n);
    ASSERT_EQ(first, second) << what << ": another set gives other bits, n = " << n;
    if (bytesOf(in) != bytesOf(out)) continue;
    Span inPlace = a;
    function(inPlace.data(), inPlace.data(), n);
    ASSERT_EQ(inPlace.bytes, first.bytes) << what << " in place";
  }
}

/// Calls body(set, reference set, what) for each set against the first one.
template <class Body>
void forEachSet(Body body) {
  const auto sets = allSets();
  for (const KernelSet* set : sets) body(*set, *sets.front(), std::string(set->name));
}

std::vector<ElementKind> allKinds() {
  std::vector<ElementKind> kinds = kIntKinds;
  kinds.insert(kinds.end(), kFloatKinds.begin(), kFloatKinds.end());
  return kinds;
}

TEST(KernelSets, BinaryOperations) {
  RandomElements random(1);
  forEachSet([&](const KernelSet& set, const KernelSet& first, const std::string& name) {
    for (ElementKind kind : kIntKinds)
      for (BinaryOp op : kIntOps)
        expectSameForms(name + " " + nameOf(kind) + " " + std::to_string(int(op)), set.binary(op, kind),
                        first.binary(op, kind), kind, kind, random);
    for (ElementKind kind : kFloatKinds)
      for (BinaryOp op : kFloatOps) {
        ASSERT_NE(set.binary(op, kind).vv, nullptr);
        expectSameForms(name + " " + nameOf(kind) + " " + std::to_string(int(op)), set.binary(op, kind),
                        first.binary(op, kind), kind, kind, random);
      }
  });
}

TEST(KernelSets, Comparisons) {
  RandomElements random(2);
  forEachSet([&](const KernelSet& set, const KernelSet& first, const std::string& name) {
    for (ElementKind kind : kIntKinds)
      for (int op = 0; op <= int(CmpIOp::Uge); ++op)
        expectSameForms(name + " cmpi " + nameOf(kind) + std::to_string(op), set.compareI(CmpIOp(op), kind),
                        first.compareI(CmpIOp(op), kind), kind, ElementKind::I1, random);
    for (ElementKind kind : kFloatKinds)
      for (int op = 0; op <= int(CmpFOp::True); ++op) {
        ASSERT_NE(set.compareF(CmpFOp(op), kind).vv, nullptr);
        expectSameForms(name + " cmpf " + nameOf(kind) + std::to_string(op), set.compareF(CmpFOp(op), kind),
                        first.compareF(CmpFOp(op), kind), kind, ElementKind::I1, random);
      }
  });
}

TEST(KernelSets, UnaryOperations) {
  RandomElements random(3);
  forEachSet([&](const KernelSet& set, const KernelSet& first, const std::string& name) {
    for (ElementKind kind : allKinds())
      for (int op = 0; op <= int(UnaryOp::IsZero); ++op) {
        const ElementKind out = UnaryOp(op) == UnaryOp::IsZero ? ElementKind::I1 : kind;
        expectSameUnary(name + " " + nameOf(kind) + " " + std::to_string(op), set.unary(UnaryOp(op), kind),
                        first.unary(UnaryOp(op), kind), kind, out, random);
      }
    for (ElementKind kind : kFloatKinds)
      for (UnaryOp op : kMathOps) ASSERT_NE(set.unary(op, kind), nullptr) << nameOf(kind) << int(op);
  });
}

TEST(KernelSets, Casts) {
  RandomElements random(4);
  forEachSet([&](const KernelSet& set, const KernelSet& first, const std::string& name) {
    for (ElementKind from : allKinds())
      for (ElementKind to : allKinds())
        for (int op = 0; op <= int(CastOp::FPTruncRtz); ++op)
          expectSameUnary(name + " cast " + std::to_string(op) + " " + nameOf(from) + " to " + nameOf(to),
                          set.cast(CastOp(op), from, to), first.cast(CastOp(op), from, to), from, to, random);
    for (ElementKind f : kFloatKinds)
      for (ElementKind i : kIntKinds)
        for (CastOp op : {CastOp::SIToFP, CastOp::UIToFP, CastOp::FPToSI, CastOp::FPToUI}) {
          const bool toFloat = op == CastOp::SIToFP || op == CastOp::UIToFP;
          ASSERT_NE(toFloat ? set.cast(op, i, f) : set.cast(op, f, i), nullptr);
        }
    for (ElementKind a : kFloatKinds)
      for (ElementKind b : kFloatKinds) {
        ASSERT_EQ(set.cast(CastOp::FPExt, a, b) != nullptr, bytesOf(a) < bytesOf(b));
        ASSERT_EQ(set.cast(CastOp::FPTruncRtne, a, b) != nullptr, a != b);
        ASSERT_EQ(set.cast(CastOp::FPTruncRtz, a, b) != nullptr, a != b);
      }
  });
}

TEST(KernelSets, TernaryOperations) {
  RandomElements random(5);
  forEachSet([&](const KernelSet& set, const KernelSet& first, const std::string& name) {
    for (ElementKind kind : kFloatKinds)
      for (size_t n : kSizes) {
        const Span a = random.span(kind, n), b = random.span(kind, n), c = random.span(kind, n);
        const auto run = [&](TernaryFn function) {
          Span out(kind, n);
          function(out.data(), a.data(), b.data(), c.data(), n);
          return out;
        };
        ASSERT_EQ(run(set.fma(kind)), run(first.fma(kind))) << name << nameOf(kind);
        ASSERT_EQ(run(set.clampF(kind, false)), run(first.clampF(kind, false))) << name << nameOf(kind);
        ASSERT_EQ(run(set.clampF(kind, true)), run(first.clampF(kind, true))) << name << nameOf(kind);
      }
  });
}

}  // namespace
}  // namespace tilesight::exec
