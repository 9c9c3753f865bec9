"""Fits the polynomials of math_f32.h and math_f64.h: minimax (Remez exchange, in 240 bits), then
rounded to the working precision. Prints each with the error that is left, in the weight of its use.

Needs mpmath. Run: python fit_polynomials.py [NAME..]; all of them take about a minute.
"""
import sys

import mpmath as mp

mp.mp.prec = 240
TINY = mp.mpf(2) ** -60


def remez(f, weight, low, high, powers, rounds=12):
    """Coefficients of the polynomial over `powers` that minimises max |weight * (f - p)|."""
    count = len(powers)
    low, high = mp.mpf(low), mp.mpf(high)
    centre, radius = (low + high) / 2, (high - low) / 2
    w = lambda x: max(abs(weight(x)), mp.mpf(10) ** -9)
    points = [centre + radius * mp.cos(mp.pi * (count - i) / count) for i in range(count + 1)]
    for _ in range(rounds):
        system, right = mp.matrix(count + 1, count + 1), mp.matrix(count + 1, 1)
        for i, x in enumerate(points):
            for j, p in enumerate(powers):
                system[i, j] = x**p
            system[i, count] = (-1) ** i / w(x)
            right[i] = f(x)
        solution = mp.lu_solve(system, right)
        coefficients = [solution[j] for j in range(count)]
        steps = 40 * count
        grid = [centre - radius * mp.cos(mp.pi * i / steps) for i in range(steps + 1)]
        errors = [w(x) * (f(x) - value(coefficients, powers, x)) for x in grid]
        extrema = []
        for i, e in enumerate(errors):
            if abs(e) < mp.mpf(10) ** -40:
                continue
            if extrema and (e > 0) == (errors[extrema[-1]] > 0):
                if abs(e) > abs(errors[extrema[-1]]):
                    extrema[-1] = i
            else:
                extrema.append(i)
        if len(extrema) < count + 1:
            break
        while len(extrema) > count + 1:
            extrema.pop(0 if abs(errors[extrema[0]]) < abs(errors[extrema[-1]]) else -1)
        points = [grid[i] for i in extrema]
        peaks = [abs(errors[i]) for i in extrema]
        if max(peaks) / min(peaks) < mp.mpf("1.001"):
            break
    return coefficients


def value(coefficients, powers, x):
    return sum(c * x**p for c, p in zip(coefficients, powers))


def rounded(x, bits):
    if x == 0:
        return mp.mpf(0)
    mantissa, exponent = mp.frexp(x)
    return mp.ldexp(mp.nint(mp.ldexp(mantissa, bits)), exponent - bits)


def fit(f, weight, low, high, terms, bits, refits=0):
    """Rounded coefficients, lowest power first; the first `refits` are rounded before the rest is fitted."""
    fixed, powers = {}, list(range(terms))
    for k in range(refits + 1):
        rest = powers[k:]
        g = lambda x: f(x) - sum(c * x**p for p, c in fixed.items())
        coefficients = remez(g, weight, low, high, rest)
        for p, c in zip(rest, coefficients) if k == refits else [(rest[0], coefficients[0])]:
            fixed[p] = rounded(c, bits)
    result = [fixed[p] for p in powers]
    low, high = mp.mpf(low), mp.mpf(high)
    grid = [low + (high - low) * (i + mp.mpf(1) / 3) / 1000 for i in range(1000)]
    return result, max(abs(weight(x) * (f(x) - value(result, powers, x))) for x in grid)


def fill(f, limit):
    """f, with its limit where the formula is 0/0."""
    return lambda x: limit if abs(x) < TINY else f(x)


def root(f):
    """f of the square root of the variable: for odd and even functions."""
    return lambda z: f(mp.sqrt(z))


one = lambda x: mp.mpf(1)
half_ln2 = mp.log(2) / 2 * mp.mpf("1.0001")
quarter = (mp.pi / 4 * mp.mpf("1.0001")) ** 2
third = mp.mpf(1) / 3
log_low, log_high = -third - mp.mpf("1e-6"), third + mp.mpf("1e-6")
atanh_end = ((mp.sqrt(2) - 1) / (mp.sqrt(2) + 1) * mp.mpf("1.001")) ** 2

# exp(r) = 1 + r + r^2 P(r); exp2(r) = 1 + r P(r)
exp_tail = fill(lambda x: (mp.exp(x) - 1 - x) / x**2, mp.mpf(1) / 2)
exp_tail3 = fill(lambda x: ((mp.exp(x) - 1 - x) / x**2 - mp.mpf(1) / 2) / x, mp.mpf(1) / 6)
exp2_tail = fill(lambda x: (mp.power(2, x) - 1) / x, mp.log(2))
# log(1 + f) = f - f^2/2 + f^3 P(f); f64: see math_f64.h
log_tail = fill(lambda x: (mp.log(1 + x) - x + x * x / 2) / x**3, third)
log_weight = fill(lambda x: x**3 / mp.log(1 + x), mp.mpf(0))
atanh_tail = fill(lambda z: 2 * (mp.atanh(mp.sqrt(z)) / mp.sqrt(z) - 1) / z, 2 * third)
# sin(r) = r + r^3 S(r^2); cos(r) = 1 - r^2/2 + r^4 C(r^2); tanh(x) = x + x^3 T(x^2)
sin_tail = fill(root(lambda r: (mp.sin(r) / r - 1) / r**2), -mp.mpf(1) / 6)
cos_tail = fill(root(lambda r: (mp.cos(r) - 1 + r * r / 2) / r**4), mp.mpf(1) / 24)
tanh_tail = fill(root(lambda r: (mp.tanh(r) / r - 1) / r**2), -third)
# erf(x) = x + x E(x^2) near 0; -log(1 - erf(x)) = R(x - centre) elsewhere
erf_small = fill(root(lambda r: mp.erf(r) / r - 1), 2 / mp.sqrt(mp.pi) - 1)


def erf_large(centre):
    return lambda t: -mp.log(mp.erfc(t + centre)), lambda t: mp.erfc(t + centre)


POLYNOMIALS = {
    "f32 exp, from r^3 on": lambda: fit(exp_tail3, lambda x: abs(x) ** 3, -half_ln2, half_ln2, 5, 24),
    "f32 exp2": lambda: fit(exp2_tail, abs, -mp.mpf("0.5001"), mp.mpf("0.5001"), 7, 24, 6),
    "f32 log": lambda: fit(log_tail, log_weight, log_low, log_high, 9, 24, 1),
    "f32 sin": lambda: fit(sin_tail, abs, TINY, quarter, 4, 24, 3),
    "f32 cos": lambda: fit(cos_tail, lambda z: z * z, TINY, quarter, 3, 24, 2),
    "f32 tanh": lambda: fit(tanh_tail, abs, TINY, mp.mpf("0.626") ** 2, 6, 24, 5),
    "f32 erf, small": lambda: fit(erf_small, one, mp.mpf(2) ** -40, mp.mpf("0.93") ** 2, 7, 24, 6),
    "f32 erf, large": lambda: fit(*erf_large(0), mp.mpf("0.9"), 4, 8, 24, 7),
    "f64 exp": lambda: fit(exp_tail, lambda x: x * x, -half_ln2, half_ln2, 11, 53),
    "f64 exp2": lambda: fit(exp2_tail, abs, -mp.mpf("0.5001"), mp.mpf("0.5001"), 12, 53),
    "f64 log": lambda: fit(atanh_tail, abs, TINY, atanh_end, 8, 53),
    "f64 sin": lambda: fit(sin_tail, abs, TINY, quarter, 6, 53),
    "f64 cos": lambda: fit(cos_tail, lambda z: z * z, TINY, quarter, 6, 53),
    "f64 erf, small": lambda: fit(erf_small, one, TINY, mp.mpf("0.88") ** 2, 12, 53),
    "f64 erf, middle": lambda: fit(*erf_large(mp.mpf("1.5625")), mp.mpf("-0.6925"), mp.mpf("0.6875"), 16, 53),
    "f64 erf, outer": lambda: fit(*erf_large(mp.mpf("4.125")), mp.mpf("-1.875"), mp.mpf("1.875"), 16, 53),
}

if __name__ == "__main__":
    for name, make in POLYNOMIALS.items():
        if len(sys.argv) > 1 and not any(wanted in name for wanted in sys.argv[1:]):
            continue
        coefficients, error = make()
        print(f"{name}: error 2^{float(mp.log(error, 2)):.1f}")
        print("  " + ", ".join(float(c).hex() for c in coefficients))
