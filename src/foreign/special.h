// Special functions in f64 that libm lacks.
#pragma once

namespace tilesight::foreign {

double sinPi(double x);
double cosPi(double x);
/// exp(x * x) * erfc(x)
double scaledErfc(double x);
double erfInverse(double x);
double erfcInverse(double x);
/// log(|gamma(x)|), without libm's global sign.
double logGamma(double x);
/// The modified Bessel function of the first kind, of order 0 or 1.
double besselI(int order, double x);
double norm4(double a, double b, double c, double d);

}  // namespace tilesight::foreign
