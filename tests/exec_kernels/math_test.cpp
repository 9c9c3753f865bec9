// Accuracy and special values of the elementary functions. The bounds are those that README.md of the
// kernels states. TILESIGHT_SLOW_TESTS=1 visits all 2^32 floats (half an hour on an
// idle core), =7 every seventh, instead of every 3001st.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>

#include "support.h"

namespace tilesight::exec {
namespace {

using Reference = long double (*)(long double);

struct Function {
  const char* name;
  UnaryOp op;
  double (*wide)(double);  // reference for f32
  Reference exact;         // reference for f64
  double boundF32, boundF64;  // in ulp
};

double rsqrtWide(double x) { return 1 / std::sqrt(x); }
long double rsqrtExact(long double x) { return 1 / std::sqrt(x); }

const Function kFunctions[] = {
    {"exp", UnaryOp::Exp, [](double x) { return std::exp(x); }, [](long double x) { return std::exp(x); }, 1, 1},
    {"exp2", UnaryOp::Exp2, [](double x) { return std::exp2(x); }, [](long double x) { return std::exp2(x); }, 1, 1},
    {"log", UnaryOp::Log, [](double x) { return std::log(x); }, [](long double x) { return std::log(x); }, 1, 1},
    {"log2", UnaryOp::Log2, [](double x) { return std::log2(x); }, [](long double x) { return std::log2(x); }, 1, 1},
    {"sin", UnaryOp::Sin, [](double x) { return std::sin(x); }, [](long double x) { return std::sin(x); }, 2, 1},
    {"cos", UnaryOp::Cos, [](double x) { return std::cos(x); }, [](long double x) { return std::cos(x); }, 2, 1},
    {"tanh", UnaryOp::Tanh, [](double x) { return std::tanh(x); }, [](long double x) { return std::tanh(x); }, 2, 2},
    {"erf", UnaryOp::Erf, [](double x) { return std::erf(x); }, [](long double x) { return std::erf(x); }, 2, 2},
    {"sqrt", UnaryOp::Sqrt, [](double x) { return std::sqrt(x); }, [](long double x) { return std::sqrt(x); }, 0.5, 0.501},
    {"rsqrt", UnaryOp::Rsqrt, rsqrtWide, rsqrtExact, 2, 2},
};

/// The exponent of the spacing of T at a finite value; for doubles from the bits, which is fast enough
/// for billions.
template <class T, class Wide>
int spacingExponent(Wide value) {
  constexpr int kSmallest = std::numeric_limits<T>::min_exponent - std::numeric_limits<T>::digits;
  const int exponent = sizeof(Wide) == 8 ? int(toBits(double(value)) >> 52 & 0x7ff) - 1023
                       : value == 0      ? kSmallest
                                         : std::ilogb(value);
  return std::max(exponent - std::numeric_limits<T>::digits + 1, kSmallest);
}
template <class Wide>
Wide powerOfTwo(int exponent) {
  if constexpr (sizeof(Wide) == 8) return fromBits<double>(uint64_t(exponent + 1023) << 52);
  else return std::ldexp(Wide(1), exponent);
}

/// |got - expected| in units of the spacing of T at `expected`; 0 for equal infinities and for NaNs.
template <class T, class Wide>
double ulps(T got, Wide expected) {
  if (std::isnan(expected) || std::isnan(got)) return std::isnan(expected) && std::isnan(got) ? 0 : INFINITY;
  const T rounded = T(expected);
  if (std::isinf(rounded) || std::isinf(got)) {
    // Next to the overflow threshold either side of it is a rounding.
    if (rounded == got) return 0;
    const T largest = std::numeric_limits<T>::max();
    return std::fabs(std::isinf(got) ? rounded : got) == largest && std::signbit(rounded) == std::signbit(got) ? 1 : INFINITY;
  }
  if (std::signbit(rounded) != std::signbit(got)) return INFINITY;  // zeros included
  return double(std::fabs(Wide(got) - expected) * powerOfTwo<Wide>(-spacingExponent<T>(expected)));
}

/// The step from one float to the next one visited; 0 in the fast suite.
uint64_t slowStride() {
  const char* text = std::getenv("TILESIGHT_SLOW_TESTS");
  return text == nullptr ? 0 : std::max(1l, std::atol(text));
}

/// Runs `function` over the bit patterns begin, begin + stride, .. as T in blocks; the largest error.
template <class T, class Wide, class Bits>
void measure(const std::string& name, double bound, UnaryFn function, const std::function<Wide(Wide)>& reference,
             const std::function<bool(Bits*)>& next) {
  constexpr size_t kBlock = 1 << 14;
  std::vector<T> in(kBlock), out(kBlock);
  uint64_t visited = 0;
  double worst = 0;
  T worstAt = 0, worstGot = 0;
  bool more = true;
  while (more) {
    size_t n = 0;
    Bits bits;
    while (n < kBlock && (more = next(&bits))) in[n++] = fromBits<T>(bits);
    visited += n;
    function(out.data(), in.data(), n);
    for (size_t i = 0; i < n; ++i) {
      const double error = ulps<T, Wide>(out[i], reference(Wide(in[i])));
      if (error > worst) {
        worst = error;
        worstAt = in[i];
        worstGot = out[i];
      }
    }
  }
  std::printf("  %-10s %.3f ulp at %a, of %llu numbers\n", name.c_str(), worst, double(worstAt), static_cast<unsigned long long>(visited));
  EXPECT_LE(worst, bound) << name << "(" << double(worstAt) << ") gave " << double(worstGot);
}

class Accuracy : public testing::TestWithParam<Function> {
#if defined(_WIN32)
  void SetUp() override {
    if (GetParam().name == std::string_view("sin") || GetParam().name == std::string_view("cos"))
      GTEST_SKIP() << "mingw-w64's sin and cos, the reference, know pi to 66 bits; kernels_fingerprint compares bits";
  }
#endif
};

TEST_P(Accuracy, F32) {
  const Function& function = GetParam();
  const uint64_t stride = slowStride() ? slowStride() : 3001;
  uint64_t at = 0;
  measure<float, double, uint32_t>(std::string(function.name) + " f32", function.boundF32,
                                   kernels().unary(function.op, ElementKind::F32), function.wide, [&](uint32_t* bits) {
                                     *bits = uint32_t(at);
                                     at += stride;
                                     return at - stride < uint64_t(1) << 32;
                                   });
}

TEST_P(Accuracy, F64) {
  // Two samples: all magnitudes, and the ones where the functions do something.
  const Function& function = GetParam();
  RandomElements random(11);
  const size_t count = slowStride() ? 20'000'000 : 400'000;
  size_t done = 0;
  measure<double, long double, uint64_t>(std::string(function.name) + " f64", function.boundF64,
                                         kernels().unary(function.op, ElementKind::F64), function.exact, [&](uint64_t* bits) {
                                           const uint64_t raw = random.engine()();
                                           const double near = std::ldexp(double(raw >> 11) * 0x1p-53 + 0.5, int(raw % 24) - 12);
                                           *bits = done % 3 == 0 ? raw : toBits(raw & 0x100 ? -near : near);
                                           return done++ < count;
                                         });
}

INSTANTIATE_TEST_SUITE_P(Functions, Accuracy, testing::ValuesIn(kFunctions),
                         [](const auto& info) { return std::string(info.param.name); });

/// f(x) by the kernel, for one element, as f32 and as f64, which must agree.
void expectValue(UnaryOp op, double x, double expected) {
  const float x32 = float(x);
  float y32;
  kernels().unary(op, ElementKind::F32)(&y32, &x32, 1);
  double y64;
  kernels().unary(op, ElementKind::F64)(&y64, &x, 1);
  EXPECT_EQ(toBits(y32), toBits(std::isnan(expected) ? std::numeric_limits<float>::quiet_NaN() : float(expected)))
      << "f32 operation " << int(op) << " of " << x << " gave " << y32;
  EXPECT_EQ(toBits(y64), toBits(std::isnan(expected) ? std::numeric_limits<double>::quiet_NaN() : expected))
      << "f64 operation " << int(op) << " of " << x << " gave " << y64;
}

TEST(ElementaryFunctions, SpecialValues) {
  const double inf = INFINITY, nan = NAN;
  for (int op = int(UnaryOp::Exp); op <= int(UnaryOp::Ceil); ++op) {
    expectValue(UnaryOp(op), nan, nan);
    expectValue(UnaryOp(op), -nan, nan);
  }
  for (UnaryOp op : {UnaryOp::Exp, UnaryOp::Exp2}) {
    expectValue(op, 0.0, 1);
    expectValue(op, -0.0, 1);
    expectValue(op, inf, inf);
    expectValue(op, -inf, 0);
    expectValue(op, 1e5, inf);
    expectValue(op, -1e5, 0);
  }
  for (int i = -126; i <= 127; ++i) expectValue(UnaryOp::Exp2, i, std::ldexp(1.0, i));
  for (UnaryOp op : {UnaryOp::Log, UnaryOp::Log2}) {
    expectValue(op, 1, 0);
    expectValue(op, 0.0, -inf);
    expectValue(op, -0.0, -inf);
    expectValue(op, inf, inf);
    expectValue(op, -inf, nan);
    expectValue(op, -1, nan);
  }
  for (int i = -149; i <= 127; ++i) expectValue(UnaryOp::Log2, std::ldexp(1.0, i), i);
  for (UnaryOp op : {UnaryOp::Sin, UnaryOp::Tanh, UnaryOp::Erf, UnaryOp::Sqrt, UnaryOp::Floor, UnaryOp::Ceil}) {
    expectValue(op, 0.0, 0.0);
    expectValue(op, -0.0, -0.0);
  }
  expectValue(UnaryOp::Cos, 0.0, 1);
  expectValue(UnaryOp::Sin, inf, nan);
  expectValue(UnaryOp::Sin, -inf, nan);
  expectValue(UnaryOp::Cos, inf, nan);
  for (UnaryOp op : {UnaryOp::Tanh, UnaryOp::Erf}) {
    expectValue(op, inf, 1);
    expectValue(op, -inf, -1);
    expectValue(op, 30, 1);
    expectValue(op, -30, -1);
  }
  expectValue(UnaryOp::Sqrt, inf, inf);
  expectValue(UnaryOp::Sqrt, -1, nan);
  expectValue(UnaryOp::Rsqrt, 0.0, inf);
  expectValue(UnaryOp::Rsqrt, -0.0, -inf);
  expectValue(UnaryOp::Rsqrt, inf, 0);
  expectValue(UnaryOp::Rsqrt, -4, nan);
  expectValue(UnaryOp::Rsqrt, 4, 0.5);
  expectValue(UnaryOp::Floor, -1.5, -2);
  expectValue(UnaryOp::Ceil, -1.5, -1);
  expectValue(UnaryOp::Ceil, -0.5, -0.0);
  expectValue(UnaryOp::Floor, inf, inf);
}

TEST(ElementaryFunctions, SignsAreBitMoves) {
  for (ElementKind kind : {ElementKind::F32, ElementKind::F64}) {
    RandomElements random(5);
    const Span in = random.span(kind, 1000);
    Span negated(kind, 1000), absolute(kind, 1000);
    kernels().unary(UnaryOp::NegF, kind)(negated.data(), in.data(), 1000);
    kernels().unary(UnaryOp::AbsF, kind)(absolute.data(), in.data(), 1000);
    const uint64_t sign = uint64_t(1) << (8 * bytesOf(kind) - 1);
    for (size_t i = 0; i < 1000; ++i) {
      ASSERT_EQ(negated.bits(i), in.bits(i) ^ sign);
      ASSERT_EQ(absolute.bits(i), in.bits(i) & ~sign);
    }
  }
}

}  // namespace
}  // namespace tilesight::exec
