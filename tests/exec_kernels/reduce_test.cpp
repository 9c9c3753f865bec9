// Reductions against the tree of their definition, over shapes that reach every path: short and long
// rows, one or many columns, one or many rows.
#include <algorithm>

#include "support.h"

namespace tilesight::exec {
namespace {

struct Shape { size_t outer, length, inner; };

/// The definition: halves combined until one element is left, with the kernel set's own operation.
Span reduceByDefinition(const KernelSet& set, BinaryOp op, const Span& in, Shape shape) {
  const BinaryForms forms = set.binary(op, in.kind);
  const uint32_t bytes = bytesOf(in.kind);
  Span out(in.kind, shape.outer * shape.inner);
  for (size_t o = 0; o < shape.outer; ++o) {
    const size_t slab = shape.length * shape.inner * bytes;
    std::vector<uint8_t> x(in.bytes.begin() + o * slab, in.bytes.begin() + (o + 1) * slab);
    for (size_t half = shape.length / 2; half > 0; half /= 2)
      forms.vv(x.data(), x.data(), x.data() + half * shape.inner * bytes, half * shape.inner);
    std::copy_n(x.begin(), shape.inner * bytes, out.bytes.begin() + o * shape.inner * bytes);
  }
  return out;
}

const Shape kShapes[] = {{1, 1, 1}, {5, 1, 7}, {33, 2, 1}, {70, 4, 1}, {41, 8, 1}, {37, 16, 1}, {35, 32, 1},
                         {65, 64, 1}, {3, 128, 1}, {40, 256, 1}, {2, 4096, 1}, {1, 131072, 1}, {2, 2, 3},
                         {3, 8, 5}, {1, 64, 64}, {2, 1024, 33}, {1, 65536, 2}, {0, 8, 3}, {4, 16, 0}};

void expectReductions(ElementKind kind, const std::vector<BinaryOp>& ops) {
  RandomElements random(37);
  for (const Shape& shape : kShapes) {
    const Span in = random.span(kind, shape.outer * shape.length * shape.inner);
    for (BinaryOp op : ops) {
      const Span expected = reduceByDefinition(*allSets().front(), op, in, shape);
      for (const KernelSet* set : allSets()) {
        const ReduceFn reduce = set->reduce(op, kind);
        ASSERT_NE(reduce, nullptr) << nameOf(kind) << " operation " << int(op);
        Span out(kind, shape.outer * shape.inner);
        reduce(out.data(), in.data(), shape.outer, shape.length, shape.inner);
        ASSERT_EQ(out, expected) << set->name << " " << nameOf(kind) << " operation " << int(op) << " over [" << shape.outer
                                 << ", " << shape.length << ", " << shape.inner << "]";
      }
    }
  }
}

TEST(Reductions, OfIntegers) {
  for (ElementKind kind : kIntKinds)
    expectReductions(kind, {BinaryOp::AddI, BinaryOp::MulI, BinaryOp::And, BinaryOp::Or, BinaryOp::Xor,
                            BinaryOp::MinS, BinaryOp::MinU, BinaryOp::MaxS, BinaryOp::MaxU});
}

TEST(Reductions, OfFloats) {
  for (ElementKind kind : kFloatKinds)
    expectReductions(kind, {BinaryOp::AddF, BinaryOp::MulF, BinaryOp::MinimumF, BinaryOp::MaximumF,
                            BinaryOp::MinNumF, BinaryOp::MaxNumF});
}

TEST(Reductions, SumsOfOnesAreExact) {
  for (size_t length : {1u, 64u, 1024u, 1u << 20}) {
    const std::vector<float> ones(length, 1.0f);
    float sum = 0;
    kernels().reduce(BinaryOp::AddF, ElementKind::F32)(&sum, ones.data(), 1, length, 1);
    EXPECT_EQ(sum, float(length));
  }
}

}  // namespace
}  // namespace tilesight::exec
