// Integer operations, comparisons and casts against their definitions: all pairs of i1 and i8, random
// pairs of the wider kinds, in every operand form and in place.
#include "reference.h"

namespace tilesight::exec {
namespace {

/// All pairs for small kinds, else many random ones.
std::pair<Span, Span> pairsOf(ElementKind kind) {
  if (bytesOf(kind) == 1) {
    const size_t count = kind == ElementKind::I1 ? 2 : 256;
    Span a(kind, count * count), b(kind, count * count);
    for (size_t i = 0; i < count * count; ++i) {
      a.set(i, i / count);
      b.set(i, i % count);
    }
    return {a, b};
  }
  RandomElements random(7 + bytesOf(kind));
  return {random.span(kind, 60'000), random.span(kind, 60'000)};
}

TEST(IntegerKernels, BinaryOperationsFollowTheirDefinition) {
  for (const KernelSet* set : allSets())
    for (ElementKind kind : kIntKinds) {
      const auto [a, b] = pairsOf(kind);
      for (BinaryOp op : kIntOps) {
        const BinaryForms forms = set->binary(op, kind);
        ASSERT_TRUE(forms.vv && forms.vs && forms.sv) << nameOf(kind) << " operation " << int(op);
        const Span result = applyVV(forms, kind, a, b);
        for (size_t i = 0; i < a.size(); ++i)
          ASSERT_EQ(result.bits(i), reference::binaryInt(op, kind, a.bits(i), b.bits(i)))
              << set->name << " " << nameOf(kind) << " operation " << int(op) << ": " << a.bits(i) << ", " << b.bits(i);
      }
    }
}

TEST(IntegerKernels, ComparisonsFollowTheirDefinition) {
  for (const KernelSet* set : allSets())
    for (ElementKind kind : kIntKinds) {
      const auto [a, b] = pairsOf(kind);
      for (int op = 0; op <= int(CmpIOp::Uge); ++op) {
        const BinaryForms forms = set->compareI(CmpIOp(op), kind);
        ASSERT_TRUE(forms.vv && forms.vs && forms.sv);
        const Span result = applyVV(forms, ElementKind::I1, a, b);
        for (size_t i = 0; i < a.size(); ++i)
          ASSERT_EQ(result.bits(i), reference::compareInt(CmpIOp(op), kind, a.bits(i), b.bits(i)))
              << set->name << " " << nameOf(kind) << " predicate " << op << ": " << a.bits(i) << ", " << b.bits(i);
      }
    }
}

TEST(IntegerKernels, PointersAreSixtyFourBitIntegers) {
  for (const KernelSet* set : allSets()) {
    EXPECT_EQ(set->binary(BinaryOp::AddI, ElementKind::Pointer).vv, set->binary(BinaryOp::AddI, ElementKind::I64).vv);
    EXPECT_EQ(set->compareI(CmpIOp::Ult, ElementKind::Pointer).vv, set->compareI(CmpIOp::Ult, ElementKind::I64).vv);
  }
}

TEST(IntegerKernels, CastsFollowTheirDefinition) {
  for (const KernelSet* set : allSets())
    for (ElementKind from : kIntKinds)
      for (ElementKind to : kIntKinds)
        for (CastOp op : {CastOp::SExt, CastOp::ZExt, CastOp::Trunc}) {
          const bool fits = op == CastOp::Trunc ? reference::widthOf(to) < reference::widthOf(from)
                                                : reference::widthOf(to) > reference::widthOf(from);
          const UnaryFn cast = set->cast(op, from, to);
          ASSERT_EQ(cast != nullptr, fits) << nameOf(from) << " to " << nameOf(to);
          if (!fits) continue;
          const Span in = pairsOf(from).first;
          Span out(to, in.size());
          cast(out.data(), in.data(), in.size());
          for (size_t i = 0; i < in.size(); ++i) {
            const reference::Int value = op == CastOp::SExt ? reference::asSigned(from, in.bits(i))
                                                            : reference::asUnsigned(from, in.bits(i));
            ASSERT_EQ(out.bits(i), uint64_t(value) & reference::maskOf(to))
                << set->name << " cast " << int(op) << " " << nameOf(from) << " to " << nameOf(to) << " of " << in.bits(i);
          }
        }
}

TEST(IntegerKernels, AbsoluteValueAndZeroTest) {
  for (const KernelSet* set : allSets())
    for (ElementKind kind : kIntKinds) {
      const Span in = pairsOf(kind).first;
      Span absolute(kind, in.size()), zero(ElementKind::I1, in.size());
      set->unary(UnaryOp::AbsI, kind)(absolute.data(), in.data(), in.size());
      set->unary(UnaryOp::IsZero, kind)(zero.data(), in.data(), in.size());
      for (size_t i = 0; i < in.size(); ++i) {
        const reference::Int value = reference::asSigned(kind, in.bits(i));
        ASSERT_EQ(absolute.bits(i), uint64_t(value < 0 ? -value : value) & reference::maskOf(kind)) << nameOf(kind);
        ASSERT_EQ(zero.bits(i), value == 0);
      }
    }
}

}  // namespace
}  // namespace tilesight::exec
