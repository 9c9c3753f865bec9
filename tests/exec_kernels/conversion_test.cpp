// Casts from, to and between float kinds against exact oracles: every code of the narrow kinds, every
// boundary between two codes with its neighbours, and many random values. With
// TILESIGHT_SLOW_TESTS=1 every non-negative float as well.
#include <algorithm>
#include <cstdlib>

#include "reference.h"

namespace tilesight::exec {
namespace {

using reference::decode;
using reference::encode;

Span cast(const KernelSet& set, CastOp op, ElementKind to, const Span& in) {
  Span out(to, in.size());
  set.cast(op, in.kind, to)(out.data(), in.data(), in.size());
  return out;
}

Span allCodes(ElementKind kind) {
  const size_t count = size_t(1) << (8 * bytesOf(kind));
  Span codes(kind, count);
  for (size_t i = 0; i < count; ++i) codes.set(i, i);
  return codes;
}

/// Values of `from` that are hard to round to `to`: its codes, the middles between neighbours, the
/// limits, each with the next values of `from` on either side, in both signs; and random ones.
Span hardValues(ElementKind from, ElementKind to) {
  std::vector<uint64_t> codes;
  const uint64_t count = uint64_t(1) << (8 * bytesOf(to) - 1);  // non-negative codes
  const uint64_t step = bytesOf(to) <= 2 ? 1 : count / 50'021 + 1;
  const uint64_t sign = uint64_t(1) << (8 * bytesOf(from) - 1);
  const auto add = [&](long double value) {
    const uint64_t code = encode(from, value, /*towardZero=*/true);
    for (uint64_t near : {code - 1, code, code + 1, code + 2})
      if (near < sign) {
        codes.push_back(near);
        codes.push_back(near | sign);
      }
  };
  for (uint64_t code = 0; code + 1 < count; code += step) {
    const long double low = decode(to, code), high = decode(to, code + 1);
    if (std::isnan(low) || std::isinf(low)) continue;
    add(low);
    if (!std::isnan(high) && !std::isinf(high)) add(low + (high - low) / 2);
    else add(low + (low - decode(to, code - 1)) / 2);
  }
  RandomElements random(3);
  for (int i = 0; i < 20'000; ++i) codes.push_back(random.next(from));
  Span out(from, codes.size());
  for (size_t i = 0; i < codes.size(); ++i) out.set(i, codes[i]);
  return out;
}

TEST(Conversions, NarrowKindsWidenExactly) {
  for (const KernelSet* set : allSets())
    for (ElementKind from : kNarrowFloats) {
      const Span in = allCodes(from);
      for (ElementKind to : kFloatKinds) {
        if (bytesOf(to) <= bytesOf(from)) continue;
        const Span out = cast(*set, CastOp::FPExt, to, in);
        for (size_t i = 0; i < in.size(); ++i) {
          const long double value = decode(from, i);
          ASSERT_EQ(out.bits(i), encode(to, value)) << set->name << " " << nameOf(from) << " to " << nameOf(to) << " code " << i;
          if (!std::isnan(value)) {
            ASSERT_EQ(decode(to, out.bits(i)), value) << "not exact";
          }
        }
      }
    }
}

TEST(Conversions, NarrowKindsRoundToEachOther) {
  for (const KernelSet* set : allSets())
    for (ElementKind from : kNarrowFloats)
      for (ElementKind to : kNarrowFloats) {
        if (from == to) continue;
        const Span in = allCodes(from);
        const Span nearest = cast(*set, CastOp::FPTruncRtne, to, in), cut = cast(*set, CastOp::FPTruncRtz, to, in);
        for (size_t i = 0; i < in.size(); ++i) {
          ASSERT_EQ(nearest.bits(i), encode(to, decode(from, i))) << set->name << " " << nameOf(from) << " to " << nameOf(to) << " code " << i;
          ASSERT_EQ(cut.bits(i), encode(to, decode(from, i), true)) << set->name << " " << nameOf(from) << " to " << nameOf(to) << " code " << i;
        }
      }
}

TEST(Conversions, WideKindsRoundOnce) {
  for (ElementKind from : {ElementKind::F32, ElementKind::F64})
    for (ElementKind to : kFloatKinds) {
      if (bytesOf(to) >= bytesOf(from)) continue;
      const Span in = hardValues(from, to);
      Span nearest(to, in.size()), cut(to, in.size());
      for (size_t i = 0; i < in.size(); ++i) {
        nearest.set(i, encode(to, decode(from, in.bits(i))));
        cut.set(i, encode(to, decode(from, in.bits(i)), /*towardZero=*/true));
      }
      for (const KernelSet* set : allSets()) {
        const Span gotNearest = cast(*set, CastOp::FPTruncRtne, to, in), gotCut = cast(*set, CastOp::FPTruncRtz, to, in);
        for (size_t i = 0; i < in.size(); ++i) {
          ASSERT_EQ(gotNearest.bits(i), nearest.bits(i)) << set->name << " " << nameOf(from) << " to " << nameOf(to) << " of " << double(decode(from, in.bits(i)));
          ASSERT_EQ(gotCut.bits(i), cut.bits(i)) << set->name << " " << nameOf(from) << " to " << nameOf(to) << " of " << double(decode(from, in.bits(i))) << " toward zero";
        }
      }
    }
}

TEST(Conversions, OverflowIsAsDocumented) {
  const auto convert = [](CastOp op, ElementKind to, float x) {
    Span in(ElementKind::F32, 1);
    in.set(0, toBits(x));
    return cast(kernels(), op, to, in).bits(0);
  };
  // f16 and bf16: infinity to nearest, the largest finite value toward zero.
  EXPECT_EQ(convert(CastOp::FPTruncRtne, ElementKind::F16, 1e6f), 0x7c00u);
  EXPECT_EQ(convert(CastOp::FPTruncRtz, ElementKind::F16, 1e6f), 0x7bffu);
  EXPECT_EQ(convert(CastOp::FPTruncRtz, ElementKind::F16, INFINITY), 0x7c00u);
  EXPECT_EQ(convert(CastOp::FPTruncRtne, ElementKind::BF16, 3.4e38f), 0x7f80u);
  // fp8 saturates, infinities too; NaN stays NaN.
  EXPECT_EQ(convert(CastOp::FPTruncRtne, ElementKind::F8E4M3FN, 1e6f), 0x7eu);
  EXPECT_EQ(convert(CastOp::FPTruncRtne, ElementKind::F8E4M3FN, -INFINITY), 0xfeu);
  EXPECT_EQ(convert(CastOp::FPTruncRtne, ElementKind::F8E5M2, INFINITY), 0x7bu);
  EXPECT_EQ(convert(CastOp::FPTruncRtne, ElementKind::F8E4M3FN, NAN), 0x7fu);
  EXPECT_EQ(convert(CastOp::FPTruncRtne, ElementKind::F8E5M2, NAN), 0x7eu);
  EXPECT_EQ(convert(CastOp::FPTruncRtne, ElementKind::F8E4M3FNUZ, NAN), 0x80u);
  // FNUZ kinds have no -0.
  EXPECT_EQ(convert(CastOp::FPTruncRtne, ElementKind::F8E4M3FNUZ, -0.0f), 0u);
  EXPECT_EQ(convert(CastOp::FPTruncRtne, ElementKind::F8E5M2FNUZ, -1e-30f), 0u);
}

TEST(Conversions, IntegersRoundOnce) {
  for (ElementKind from : kIntKinds)
    for (ElementKind to : kFloatKinds) {
      RandomElements random(17);
      Span in = bytesOf(from) == 1 && from != ElementKind::I1 ? allCodes(from) : random.span(from, 20'000);
      if (bytesOf(from) >= 4)  // values around halfway cases of every precision
        for (size_t i = 0; i < in.size() / 2; ++i) {
          const uint64_t raw = random.engine()();
          const unsigned width = 8 * bytesOf(from), top = unsigned(raw % (width - 1));
          const unsigned low = unsigned(raw >> 8) % (top + 1);
          const uint64_t value = (uint64_t(1) << top) + (uint64_t(1) << low) + ((raw >> 20) % 3 - 1) + ((raw >> 24 & 1) << top / 2);
          in.set(i, raw & 0x80000000u ? 0 - value : value);
        }
      for (const KernelSet* set : allSets()) {
        const Span fromSigned = cast(*set, CastOp::SIToFP, to, in), fromUnsigned = cast(*set, CastOp::UIToFP, to, in);
        for (size_t i = 0; i < in.size(); ++i) {
          // A zero is positive; everything else is exact in long double.
          const long double s = (long double)(reference::asSigned(from, in.bits(i)));
          const long double u = (long double)(reference::asUnsigned(from, in.bits(i)));
          ASSERT_EQ(fromSigned.bits(i), encode(to, s)) << set->name << " signed " << nameOf(from) << " to " << nameOf(to) << " of " << double(s);
          ASSERT_EQ(fromUnsigned.bits(i), encode(to, u)) << set->name << " unsigned " << nameOf(from) << " to " << nameOf(to) << " of " << double(u);
        }
      }
    }
}

TEST(Conversions, FloatsToIntegersTruncateAndSaturate) {
  for (ElementKind from : kFloatKinds)
    for (ElementKind to : kIntKinds) {
      RandomElements random(19);
      Span in = bytesOf(from) <= 2 ? allCodes(from) : random.span(from, 30'000);
      if (bytesOf(from) > 2)  // values around the limits of all widths
        for (size_t i = 0; i < in.size() / 2; ++i) {
          const uint64_t raw = random.engine()();
          const double power = std::ldexp(1.0, int(raw % 66)) + double(int(raw >> 8 & 7) - 3) * (raw >> 12 & 1 ? 0.5 : 1);
          const double value = raw >> 16 & 1 ? -power : power;
          in.set(i, from == ElementKind::F64 ? toBits(value) : toBits(float(value)));
        }
      const unsigned width = reference::widthOf(to);
      for (const KernelSet* set : allSets())
        for (CastOp op : {CastOp::FPToSI, CastOp::FPToUI}) {
          const bool isSigned = op == CastOp::FPToSI;
          const reference::Int high = (reference::Int(1) << (isSigned ? width - 1 : width)) - 1;
          const reference::Int low = isSigned ? -(reference::Int(1) << (width - 1)) : 0;
          const Span out = cast(*set, op, to, in);
          for (size_t i = 0; i < in.size(); ++i) {
            const long double value = std::trunc(decode(from, in.bits(i)));
            const reference::Int expected = std::isnan(value)             ? 0
                                            : value >= (long double)high  ? high
                                            : value <= (long double)low   ? low
                                                                          : reference::Int(value);
            ASSERT_EQ(out.bits(i), uint64_t(expected) & reference::maskOf(to))
                << set->name << " " << nameOf(from) << (isSigned ? " to signed " : " to unsigned ") << nameOf(to) << " of " << double(decode(from, in.bits(i)));
          }
        }
    }
}

/// Non-negative floats in order, so that the code of the last one is where the search for the next
/// begins. (The sign is a bit apart, tested above.) TILESIGHT_SLOW_TESTS=7: one block of 65536 in seven.
TEST(Conversions, EveryFloatToEveryNarrowKind) {
  const char* every = std::getenv("TILESIGHT_SLOW_TESTS");
  if (every == nullptr) GTEST_SKIP() << "set TILESIGHT_SLOW_TESTS=1";
  constexpr size_t kBlock = 1 << 16;
  const auto step = static_cast<uint32_t>(kBlock) * static_cast<uint32_t>(std::clamp(std::atol(every), 1l, 256l));
  Span in(ElementKind::F32, kBlock);
  uint64_t visited = 0;
  for (ElementKind to : kNarrowFloats) {
    const uint64_t infinityCode = encode(to, INFINITY);
    const uint64_t largest = reference::formatOf(to).isFp8() ? infinityCode : infinityCode - 1;
    std::vector<double> value(largest + 2), middle(largest + 1);
    for (uint64_t c = 0; c <= largest; ++c) value[c] = double(decode(to, c));
    value[largest + 1] = INFINITY;
    for (uint64_t c = 0; c < largest; ++c) middle[c] = (value[c] + value[c + 1]) / 2;
    middle[largest] = largest == infinityCode ? INFINITY : value[largest] + (value[largest] - value[largest - 1]) / 2;
    uint64_t code = 0;
    for (uint32_t begin = 0; begin <= 0x7f800000u; begin += step) {
      for (size_t i = 0; i < kBlock; ++i) in.set(i, begin + i);
      visited += kBlock;
      for (const KernelSet* set : allSets()) {
        const Span nearest = cast(*set, CastOp::FPTruncRtne, to, in), cut = cast(*set, CastOp::FPTruncRtz, to, in);
        uint64_t at = code;
        for (size_t i = 0; i < kBlock && begin + i <= 0x7f800000u; ++i) {
          const double x = fromBits<float>(begin + i);
          while (at < largest && value[at + 1] <= x) ++at;
          uint64_t down = at, near = x > middle[at] || (x == middle[at] && (at & 1)) ? at + 1 : at;
          if (std::isinf(x)) down = near = infinityCode;
          ASSERT_EQ(nearest.bits(i), near) << set->name << " " << nameOf(to) << " of " << x;
          ASSERT_EQ(cut.bits(i), down) << set->name << " " << nameOf(to) << " toward zero of " << x;
        }
        if (set == allSets().back()) code = at;
      }
    }
  }
  std::printf("  %llu floats to each of the narrow kinds together, with each instruction set of %zu\n",
              static_cast<unsigned long long>(visited), allSets().size());
}

}  // namespace
}  // namespace tilesight::exec
