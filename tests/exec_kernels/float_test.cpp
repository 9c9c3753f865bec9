// Float arithmetic and comparisons: all pairs of fp8 and random pairs of the others against exact
// results rounded once.
#include "reference.h"

namespace tilesight::exec {
namespace {

using reference::decode;
using reference::encode;

std::pair<Span, Span> pairsOf(ElementKind kind) {
  if (bytesOf(kind) == 1) {
    Span a(kind, 65536), b(kind, 65536);
    for (size_t i = 0; i < 65536; ++i) {
      a.set(i, i >> 8);
      b.set(i, i & 255);
    }
    return {a, b};
  }
  RandomElements random(23);
  return {random.span(kind, 50'000), random.span(kind, 50'000)};
}

/// The result before the one rounding. f32 and f64 operations round by definition as the host's do.
long double exactly(BinaryOp op, ElementKind kind, long double a, long double b) {
  if (kind == ElementKind::F64) {
    const double x = double(a), y = double(b);
    switch (op) {
      case BinaryOp::AddF: return x + y;
      case BinaryOp::SubF: return x - y;
      case BinaryOp::MulF: return x * y;
      case BinaryOp::DivF: return x / y;
      default: break;
    }
  }
  const auto pick = [&](bool smallest) {
    if (a == b) return std::signbit(a) == smallest ? a : b;
    return (a < b) == smallest ? a : b;
  };
  switch (op) {
    case BinaryOp::AddF: return a + b;
    case BinaryOp::SubF: return a - b;
    case BinaryOp::MulF: return a * b;
    case BinaryOp::DivF: return a / b;
    case BinaryOp::RemF: return std::fmod(a, b);
    case BinaryOp::MinimumF: return std::isnan(a) || std::isnan(b) ? NAN : pick(true);
    case BinaryOp::MaximumF: return std::isnan(a) || std::isnan(b) ? NAN : pick(false);
    case BinaryOp::MinNumF: return std::isnan(a) ? b : std::isnan(b) ? a : pick(true);
    case BinaryOp::MaxNumF: return std::isnan(a) ? b : std::isnan(b) ? a : pick(false);
    default: ADD_FAILURE() << "no float operation"; return 0;
  }
}

/// Narrow kinds: the f32 result, rounded once more. Where f32 holds the exact result, or has twice
/// the precision, that is the exact result rounded once (encode of `exactly`).
uint64_t expected(BinaryOp op, ElementKind kind, uint64_t aBits, uint64_t bBits) {
  const long double a = decode(kind, aBits), b = decode(kind, bBits);
  if (kind == ElementKind::F32 && op <= BinaryOp::DivF) {
    const float x = float(a), y = float(b);
    volatile float result = op == BinaryOp::AddF ? x + y : op == BinaryOp::SubF ? x - y : op == BinaryOp::MulF ? x * y : x / y;
    return std::isnan(result) ? reference::canonicalNaN(kind) : toBits(float(result));
  }
  const long double result = exactly(op, kind, a, b);
  // fp8 arithmetic goes through f32, where overflow and division by zero give infinity, and infinity
  // saturates like every large value.
  return encode(kind, result);
}

TEST(FloatKernels, BinaryOperationsRoundOnce) {
  for (ElementKind kind : kFloatKinds) {
    const auto [a, b] = pairsOf(kind);
    for (BinaryOp op : kFloatOps) {
      std::vector<uint64_t> results(a.size());
      for (size_t i = 0; i < a.size(); ++i) results[i] = expected(op, kind, a.bits(i), b.bits(i));
      for (const KernelSet* set : allSets()) {
        const Span result = applyVV(set->binary(op, kind), kind, a, b);
        for (size_t i = 0; i < a.size(); ++i)
          ASSERT_EQ(result.bits(i), results[i]) << set->name << " " << nameOf(kind) << " operation " << int(op) << " of "
              << double(decode(kind, a.bits(i))) << ", " << double(decode(kind, b.bits(i)));
      }
    }
  }
}

bool compares(CmpFOp op, long double a, long double b) {
  const bool unordered = std::isnan(a) || std::isnan(b);
  switch (op) {
    case CmpFOp::False: return false;
    case CmpFOp::Oeq: return a == b;
    case CmpFOp::Ogt: return a > b;
    case CmpFOp::Oge: return a >= b;
    case CmpFOp::Olt: return a < b;
    case CmpFOp::Ole: return a <= b;
    case CmpFOp::One: return !unordered && a != b;
    case CmpFOp::Ord: return !unordered;
    case CmpFOp::Ueq: return unordered || a == b;
    case CmpFOp::Ugt: return unordered || a > b;
    case CmpFOp::Uge: return unordered || a >= b;
    case CmpFOp::Ult: return unordered || a < b;
    case CmpFOp::Ule: return unordered || a <= b;
    case CmpFOp::Une: return unordered || a != b;
    case CmpFOp::Uno: return unordered;
    case CmpFOp::True: return true;
  }
  return false;
}

TEST(FloatKernels, ComparisonsFollowTheirDefinition) {
  for (ElementKind kind : kFloatKinds) {
    const auto [a, b] = pairsOf(kind);
    std::vector<long double> x(a.size()), y(a.size());
    for (size_t i = 0; i < a.size(); ++i) {
      x[i] = decode(kind, a.bits(i));
      y[i] = decode(kind, b.bits(i));
    }
    for (const KernelSet* set : allSets())
      for (int op = 0; op <= int(CmpFOp::True); ++op) {
        const Span result = applyVV(set->compareF(CmpFOp(op), kind), ElementKind::I1, a, b);
        for (size_t i = 0; i < a.size(); ++i)
          ASSERT_EQ(result.bits(i), compares(CmpFOp(op), x[i], y[i]))
              << set->name << " " << nameOf(kind) << " predicate " << op << " of " << double(x[i]) << ", " << double(y[i]);
      }
  }
}

/// x * y + z of narrow values: the product is exact, and a sum that is not moves a hair to the side
/// of what it dropped, which decides ties as the exact sum would.
long double almostExactFma(long double x, long double y, long double z) {
  const long double product = x * y, sum = product + z, addend = sum - product;
  const long double dropped = (product - (sum - addend)) + (z - addend);
  if (dropped > 0) return std::nextafter(sum, std::numeric_limits<long double>::infinity());
  if (dropped < 0) return std::nextafter(sum, -std::numeric_limits<long double>::infinity());
  return sum;
}

TEST(FloatKernels, FmaRoundsOnce) {
  for (ElementKind kind : kFloatKinds) {
    RandomElements random(29);
    const size_t n = 50'000;
    const Span a = random.span(kind, n), b = random.span(kind, n);
    Span c = random.span(kind, n);
    for (const KernelSet* set : allSets()) {
      Span out(kind, n);
      set->fma(kind)(out.data(), a.data(), b.data(), c.data(), n);
      for (size_t i = 0; i < n; ++i) {
        const long double x = decode(kind, a.bits(i)), y = decode(kind, b.bits(i)), z = decode(kind, c.bits(i));
        const uint64_t result = kind == ElementKind::F64   ? encode(kind, std::fma(double(x), double(y), double(z)))
                                : kind == ElementKind::F32 ? encode(kind, std::fma(float(x), float(y), float(z)))
                                                           : encode(kind, almostExactFma(x, y, z));
        ASSERT_EQ(out.bits(i), result) << set->name << " " << nameOf(kind) << " fma of " << double(x) << ", " << double(y) << ", " << double(z);
      }
    }
  }
}

TEST(FloatKernels, ClampIsMaximumThenMinimum) {
  for (ElementKind kind : kFloatKinds)
    for (const KernelSet* set : allSets()) {
      RandomElements random(31);
      const size_t n = 2000;
      const Span x = random.span(kind, n), low = random.span(kind, n), high = random.span(kind, n);
      for (bool propagate : {false, true}) {
        Span out(kind, n);
        set->clampF(kind, propagate)(out.data(), x.data(), low.data(), high.data(), n);
        const Span above = applyVV(set->binary(propagate ? BinaryOp::MaximumF : BinaryOp::MaxNumF, kind), kind, x, low);
        EXPECT_EQ(out, applyVV(set->binary(propagate ? BinaryOp::MinimumF : BinaryOp::MinNumF, kind), kind, above, high));
      }
    }
}

TEST(FloatKernels, NarrowFunctionsAreTheF32OnesRoundedOnce) {
  for (ElementKind kind : kNarrowFloats) {
    const size_t count = size_t(1) << (8 * bytesOf(kind));
    Span codes(kind, count), wide(ElementKind::F32, count);
    for (size_t i = 0; i < count; ++i) codes.set(i, i);
    for (const KernelSet* set : allSets())
      for (UnaryOp op : kMathOps) {
        Span narrow(kind, count), rounded(kind, count);
        set->unary(op, kind)(narrow.data(), codes.data(), count);
        set->cast(CastOp::FPExt, kind, ElementKind::F32)(wide.data(), codes.data(), count);
        set->unary(op, ElementKind::F32)(wide.data(), wide.data(), count);
        set->cast(CastOp::FPTruncRtne, ElementKind::F32, kind)(rounded.data(), wide.data(), count);
        ASSERT_EQ(narrow, rounded) << set->name << " " << nameOf(kind) << " operation " << int(op);
      }
  }
}

TEST(FloatKernels, NarrowSignChanges) {
  for (ElementKind kind : kNarrowFloats) {
    const size_t count = size_t(1) << (8 * bytesOf(kind));
    const uint64_t sign = count / 2;
    Span codes(kind, count), negated(kind, count), absolute(kind, count);
    for (size_t i = 0; i < count; ++i) codes.set(i, i);
    kernels().unary(UnaryOp::NegF, kind)(negated.data(), codes.data(), count);
    kernels().unary(UnaryOp::AbsF, kind)(absolute.data(), codes.data(), count);
    const bool fnuz = reference::formatOf(kind).specials == reference::FloatFormat::Fnuz;
    for (size_t i = 0; i < count; ++i) {
      const bool keeps = fnuz && (i & ~sign) == 0;  // 0 and the only NaN
      ASSERT_EQ(negated.bits(i), keeps ? i : i ^ sign) << nameOf(kind);
      ASSERT_EQ(absolute.bits(i), keeps ? i : i & ~sign) << nameOf(kind);
    }
  }
}

}  // namespace
}  // namespace tilesight::exec
