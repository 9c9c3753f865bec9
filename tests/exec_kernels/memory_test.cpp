// Filling, gathering, scattering, selecting and counting.
#include <algorithm>
#include <numeric>

#include "reference.h"

namespace tilesight::exec {
namespace {

constexpr size_t kSizes[] = {0, 1, 7, 64, 1001};

TEST(MemoryKernels, AffineFillsTruncate) {
  RandomElements random(41);
  for (const KernelSet* set : allSets())
    for (ElementKind kind : {ElementKind::I1, ElementKind::I8, ElementKind::I16, ElementKind::I32, ElementKind::I64, ElementKind::Pointer})
      for (size_t n : kSizes) {
        const int64_t base = int64_t(random.engine()()), stride = int64_t(random.engine()()) >> (n % 60);
        Span out(kind, n);
        set->fillAffine(kind, out.data(), base, stride, n);
        for (size_t i = 0; i < n; ++i)
          ASSERT_EQ(out.bits(i), (uint64_t(base) + uint64_t(stride) * i) & reference::maskOf(kind)) << set->name << nameOf(kind) << i;
      }
}

TEST(MemoryKernels, SpreadsRows) {
  RandomElements random(44);
  for (const KernelSet* set : allSets())
    for (uint32_t bytes : {1u, 2u, 4u, 8u, 16u})
      for (size_t n : {1, 15, 16, 17, 63, 64, 65, 200})
        for (size_t rows : {0, 1, 7})
          for (int64_t stride : {int64_t(bytes), int64_t(0), int64_t(3 * bytes + 1)}) {
            std::vector<uint8_t> memory(rows * size_t(stride) + 64);
            for (auto& byte : memory) byte = uint8_t(random.engine()());
            std::vector<uint8_t> out(rows * n * bytes);
            set->spreadRows(bytes, out.data(), memory.data() + 1, stride, rows, n);
            for (size_t i = 0; i < rows * n; ++i)
              ASSERT_TRUE(std::equal(out.begin() + i * bytes, out.begin() + (i + 1) * bytes, memory.begin() + 1 + int64_t(i / n) * stride)) << set->name << bytes << i;
          }
}

TEST(MemoryKernels, SplatsWidensGathersScatters) {
  RandomElements random(43);
  for (const KernelSet* set : allSets())
    for (size_t n : kSizes) {
      for (uint32_t bytes : {1u, 2u, 4u, 8u, 16u}) {
        std::vector<uint8_t> memory(n * 3 * bytes + 64), element(bytes);
        for (auto& byte : memory) byte = uint8_t(random.engine()());
        for (auto& byte : element) byte = uint8_t(random.engine()());
        std::vector<uint8_t> out(n * bytes);
        set->fillSplat(bytes, out.data(), element.data(), n);
        for (size_t i = 0; i < n; ++i) ASSERT_TRUE(std::equal(element.begin(), element.end(), out.begin() + i * bytes));

        // Unaligned, forwards with gaps, contiguous, all the same, and backwards.
        const uint8_t* base = memory.data() + 1;
        for (int64_t stride : {int64_t(3 * bytes), int64_t(bytes), int64_t(0), -int64_t(2 * bytes)}) {
          const uint8_t* from = stride < 0 && n > 0 ? base - int64_t(n - 1) * stride : base;
          set->gatherStrided(bytes, out.data(), from, stride, n);
          std::vector<int64_t> offsets(n);
          for (size_t i = 0; i < n; ++i) {
            ASSERT_TRUE(std::equal(out.begin() + i * bytes, out.begin() + (i + 1) * bytes, from + int64_t(i) * stride));
            offsets[i] = int64_t(i) * stride;
          }
          std::vector<uint8_t> again(n * bytes);
          set->gatherOffsets(bytes, again.data(), from, offsets.data(), n);
          ASSERT_EQ(out, again);
          if (stride == 0) continue;
          std::vector<uint8_t> target(memory.size(), 0), expected(memory.size(), 0);
          const size_t start = size_t(from - memory.data());
          set->scatterStrided(bytes, target.data() + start, stride, out.data(), n);
          for (size_t i = 0; i < n; ++i)
            std::copy_n(out.begin() + i * bytes, bytes, expected.begin() + start + int64_t(i) * stride);
          ASSERT_EQ(target, expected);
        }
      }
      for (ElementKind kind : kIntKinds) {
        const Span in = random.span(kind, n);
        std::vector<int64_t> wide(n);
        set->widen(kind, wide.data(), in.data(), n);
        for (size_t i = 0; i < n; ++i)
          ASSERT_EQ(wide[i], int64_t(kind == ElementKind::I1 ? reference::asUnsigned(kind, in.bits(i)) : reference::asSigned(kind, in.bits(i))));
      }
    }
}

TEST(MemoryKernels, SelectsTakeTheChosenBits) {
  RandomElements random(47);
  for (const KernelSet* set : allSets())
    for (ElementKind kind : {ElementKind::I8, ElementKind::F16, ElementKind::F32, ElementKind::F64})
      for (size_t n : kSizes) {
        const Span condition = random.span(ElementKind::I1, n), a = random.span(kind, n), b = random.span(kind, n);
        const Span one = random.span(kind, 1), other = random.span(kind, 1);
        const SelectForms forms = set->select(bytesOf(kind));
        Span vv(kind, n), vs(kind, n), sv(kind, n), ss(kind, n);
        forms.vv(vv.data(), condition.data(), a.data(), b.data(), n);
        forms.vs(vs.data(), condition.data(), a.data(), other.data(), n);
        forms.sv(sv.data(), condition.data(), one.data(), b.data(), n);
        forms.ss(ss.data(), condition.data(), one.data(), other.data(), n);
        for (size_t i = 0; i < n; ++i) {
          const bool c = condition.bits(i);
          ASSERT_EQ(vv.bits(i), c ? a.bits(i) : b.bits(i));
          ASSERT_EQ(vs.bits(i), c ? a.bits(i) : other.bits(0));
          ASSERT_EQ(sv.bits(i), c ? one.bits(0) : b.bits(i));
          ASSERT_EQ(ss.bits(i), c ? one.bits(0) : other.bits(0));
        }
      }
}

TEST(MemoryKernels, RangesAndCounts) {
  RandomElements random(53);
  for (const KernelSet* set : allSets())
    for (size_t n : kSizes) {
      const Span in = random.span(ElementKind::I64, n);
      std::vector<int64_t> values(n);
      for (size_t i = 0; i < n; ++i) values[i] = int64_t(in.bits(i));
      int64_t low, high;
      set->minMaxI64(values.data(), n, &low, &high);
      EXPECT_EQ(low, n == 0 ? INT64_MAX : *std::min_element(values.begin(), values.end()));
      EXPECT_EQ(high, n == 0 ? INT64_MIN : *std::max_element(values.begin(), values.end()));
      const Span bits = random.span(ElementKind::I1, n);
      EXPECT_EQ(set->countNonZero(bits.bytes.data(), n), size_t(std::count(bits.bytes.begin(), bits.bytes.end(), 1)));
    }
  const std::vector<uint8_t> ones(1000, 1);
  EXPECT_EQ(kernels().countNonZero(ones.data(), ones.size()), 1000u);
}

}  // namespace
}  // namespace tilesight::exec
