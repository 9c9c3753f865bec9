// Bit patterns of constants: every pattern of the small formats, and rounding.
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include <gtest/gtest.h>

#include "ir/float_format.h"

namespace tilesight::ir {
namespace {

TEST(FloatFormat, EveryPatternComesBack) {
  for (ElementKind kind : {ElementKind::F16, ElementKind::BF16, ElementKind::F8E4M3FN, ElementKind::F8E5M2,
                           ElementKind::F8E4M3FNUZ, ElementKind::F8E5M2FNUZ, ElementKind::F8E4M3B11FNUZ,
                           ElementKind::F8E8M0FNU, ElementKind::F4E2M1FN}) {
    for (uint64_t bits = 0; bits < (uint64_t{1} << floatWidth(kind)); ++bits) {
      const double value = bitsToFloat(bits, kind);
      if (std::isnan(value)) continue;  // payloads are not kept
      ASSERT_EQ(floatToBits(value, kind), bits) << elementName(kind);
    }
  }
}

/// Each value between two neighbours goes to the nearer one, the middle to the even one.
TEST(FloatFormat, RoundsToNearestEven) {
  for (ElementKind kind : {ElementKind::F16, ElementKind::BF16, ElementKind::F8E4M3FN, ElementKind::F8E5M2}) {
    const uint64_t top = kind == ElementKind::F16 ? 0x7BFE : kind == ElementKind::BF16 ? 0x7F7E : kind == ElementKind::F8E5M2 ? 0x7A : 0x7D;
    for (uint64_t bits = 0; bits <= top; ++bits) {
      const double low = bitsToFloat(bits, kind), high = bitsToFloat(bits + 1, kind), middle = (low + high) / 2;
      ASSERT_EQ(floatToBits(middle, kind), (bits & 1) ? bits + 1 : bits) << elementName(kind) << " " << bits;
      ASSERT_EQ(floatToBits(std::nextafter(middle, low), kind), bits);
      ASSERT_EQ(floatToBits(std::nextafter(middle, high), kind), bits + 1);
    }
  }
}

TEST(FloatFormat, SinglePrecisionIsTheHardwares) {
  for (double value : {0.1, 1.0 / 3.0, 3.4028235e38, 3.5e38, 1e-45, 1e-46, -7.5e-39, 16777217.0}) {
    const auto single = static_cast<float>(value);
    EXPECT_EQ(floatToBits(value, ElementKind::F32), std::bit_cast<uint32_t>(single)) << value;
    EXPECT_EQ(bitsToFloat(std::bit_cast<uint32_t>(single), ElementKind::F32), single);
  }
}

TEST(FloatFormat, SpecialValues) {
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(floatToBits(inf, ElementKind::F16), 0x7C00u);
  EXPECT_EQ(floatToBits(-inf, ElementKind::BF16), 0xFF80u);
  EXPECT_EQ(floatToBits(inf, ElementKind::F8E4M3FN), 0x7Fu) << "no infinity: NaN";
  EXPECT_EQ(floatToBits(1e9, ElementKind::F4E2M1FN), 7u) << "neither: the largest";
  EXPECT_EQ(floatToBits(-0.0, ElementKind::F8E4M3FNUZ), 0u) << "no negative zero";
  EXPECT_TRUE(std::isnan(bitsToFloat(0x80, ElementKind::F8E5M2FNUZ)));
  EXPECT_EQ(bitsToFloat(floatToBits(1.0 + 1.0 / 2048, ElementKind::TF32), ElementKind::TF32), 1.0) << "ten bits of mantissa";
}

}  // namespace
}  // namespace tilesight::ir
