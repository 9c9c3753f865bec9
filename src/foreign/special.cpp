#include "foreign/special.h"

#include "foreign/libm.h"

#include <cmath>
#include <limits>
#include <numbers>

namespace tilesight::foreign {

namespace {

constexpr double kPi = std::numbers::pi;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
// The derivative of erf at 0.
constexpr double kErfSlope = 2 * std::numbers::inv_sqrtpi;

}  // namespace

double sinPi(double x) {
  if (!std::isfinite(x)) return kNan;
  double r = std::remainder(x, 2.0);  // exact, in [-1, 1]
  if (r == 0 || std::fabs(r) == 1) return std::copysign(0.0, x);
  if (std::fabs(r) > 0.5) r = std::copysign(1.0, r) - r;
  return std::fabs(r) > 0.25 ? std::copysign(libm::cos(kPi * (0.5 - std::fabs(r))), r) : libm::sin(kPi * r);
}

double cosPi(double x) {
  if (!std::isfinite(x)) return kNan;
  double r = std::fabs(std::remainder(x, 2.0));
  if (r == 0.5) return 0;
  if (r < 0.25) return libm::cos(kPi * r);
  if (r > 0.75) return -libm::cos(kPi * (1 - r));
  return libm::sin(kPi * (0.5 - r));
}

double scaledErfc(double x) {
  if (x > 50) {
    double s = 1 / (x * x);
    double sum = 1;  // the asymptotic series, from its last term
    for (int odd = 15; odd > 0; odd -= 2) sum = 1 - s * odd / 2 * sum;
    return std::numbers::inv_sqrtpi / x * sum;
  }
  long double wide = x;
  return static_cast<double>(std::exp(wide * wide) * std::erfc(wide));
}

double erfcInverse(double x) {
  if (std::isnan(x) || x < 0 || x > 2) return kNan;
  if (x == 0) return kInfinity;
  if (x == 2) return -kInfinity;
  if (x >= 0.5 && x <= 1.5) return erfInverse(1 - x);  // exact: the result may be near 0
  if (x > 1) return -erfcInverse(2 - x);
  // A rough start from the tail's logarithm, then Halley steps, each of which triples the digits.
  double t = std::sqrt(-2 * std::log(x / 2));
  double y = (t - std::log(t) / t) / std::numbers::sqrt2;
  for (int step = 0; step < 8; ++step) {
    double slope = kErfSlope * std::exp(-y * y);
    if (slope == 0) break;
    double error = (std::erfc(y) - x) / slope;
    double next = y + error / (1 - y * error);
    if (next == y) break;
    y = next;
  }
  return y;
}

double erfInverse(double x) {
  if (std::isnan(x) || x < -1 || x > 1) return kNan;
  if (std::fabs(x) == 1) return std::copysign(kInfinity, x);
  if (std::fabs(x) > 0.5) return x > 0 ? erfcInverse(1 - x) : -erfcInverse(1 + x);
  double y = x / kErfSlope;
  for (int step = 0; step < 6 && y != 0; ++step) {
    double error = (std::erf(y) - x) / (kErfSlope * std::exp(-y * y));
    double next = y - error / (1 + y * error);
    if (next == y) break;
    y = next;
  }
  return y;
}

double logGamma(double x) {
#if defined(_WIN32)
  return std::lgamma(x);
#else
  int sign;
  return ::lgamma_r(x, &sign);
#endif
}

double besselI(int order, double x) {
  if (std::isnan(x)) return kNan;
  double z = std::fabs(x), value;
  if (std::isinf(z)) {
    value = kInfinity;
  } else if (z <= 30) {
    value = std::cyl_bessel_i(order, z);
  } else {
    // Abramowitz and Stegun 9.7.1; the terms shrink until far beyond f64's precision.
    double mu = 4.0 * order * order, term = 1, sum = 1;
    for (int k = 1; k < 40; ++k) {
      double odd = 2 * k - 1;
      term *= -(mu - odd * odd) / (k * 8 * z);
      if (std::fabs(term) < 1e-18 * std::fabs(sum)) break;
      sum += term;
    }
    double half = std::exp(z / 2);  // exp(z) may overflow where the product does not
    value = half * (sum / std::sqrt(2 * kPi * z)) * half;
  }
  return order == 1 && x < 0 ? -value : value;
}

double norm4(double a, double b, double c, double d) { return std::hypot(std::hypot(a, b), std::hypot(c, d)); }

}  // namespace tilesight::foreign
