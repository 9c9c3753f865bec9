// Payne and Hanek's reduction: of 2/pi only the bits that can change the quadrant or the rest of this
// argument are multiplied.
#include "exec/kernels/trigonometry.h"

#include "exec/kernels/math_f64.h"

TS_ISA_BEGIN
namespace {

// 2/pi after the binary point, behind one word of zeros for arguments that reach before it.
constexpr uint64_t kTwoOverPi[] = {
    0x0000000000000000, 0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
    0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484, 0xe99c7026b45f7e41,
    0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7,
    0x4f463f669e5fea2d, 0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab,
    0xf0cfbc209af4361d, 0xa9e391615ee61b08};

/// 64 bits of the table from bit `position`.
uint64_t bitsAt(int position) {
  const int word = position / 64, shift = position % 64;
  const uint64_t high = kTwoOverPi[word] << shift;
  return shift == 0 ? high : high | (kTwoOverPi[word + 1] >> (64 - shift));
}

using Wide = unsigned __int128;

}  // namespace

double sinOrCosOfLarge(double x, uint32_t quarterTurns) {
  const uint64_t bits = bitCast<uint64_t>(x) & ~BitsOf<double>::kSign;
  if (bits >= 0x7ff0000000000000u) return quietNaN<double>();
  // |x| = mantissa * 2^exponent, exponent >= -36.
  const uint64_t mantissa = (bits & 0xfffffffffffffu) | 0x10000000000000u;
  const int exponent = int(bits >> 52) - 1075;
  // Bit p of the table weighs 2^(63-p), and times the mantissa's unit 2^(63-p+exponent). Weights from
  // 4 on are whole turns: begin with weight 2, and take 192 bits.
  const int begin = 62 + exponent;
  const uint64_t w2 = bitsAt(begin), w1 = bitsAt(begin + 64), w0 = bitsAt(begin + 128);
  // The product modulo 2^192; its unit weighs 2^(2 - 192).
  const Wide p0 = Wide(mantissa) * w0;
  const Wide p1 = Wide(mantissa) * w1 + uint64_t(p0 >> 64);
  const uint64_t low = uint64_t(p0), middle = uint64_t(p1);
  uint64_t high = mantissa * w2 + uint64_t(p1 >> 64);
  uint64_t quadrant = high >> 62;
  // The fraction of a quarter turn: 190 bits, brought to 128 and to the nearest quarter.
  Wide fraction = (Wide(high << 2 | middle >> 62) << 64) | (middle << 2 | low >> 62);
  const bool past = fraction >> 127;
  if (past) {
    fraction = ~fraction;  // 1 - fraction, less a unit that is far below what is used
    ++quadrant;
  }
  // As a sum of two doubles, then times pi/2.
  const uint64_t top = uint64_t(fraction >> 64);
  const int zeros = top != 0 ? __builtin_clzll(top) : 64;
  const Wide aligned = fraction << zeros;
  const double first = double(uint64_t(aligned >> 75));                       // 53 bits
  const double second = double(uint64_t(aligned >> 22) & 0x1fffffffffffffu);  // the next 53
  const double unit = bitCast<double>(uint64_t(1023 - 53 - zeros) << 52);
  const double f = first * unit, fLow = second * (unit * 0x1p-53);
  constexpr double kHalfPi = 0x1.921fb54442d18p0, kHalfPiLow = 0x1.1a62633145c07p-54;
  double r = f * kHalfPi;
  double rLow = __builtin_fma(f, kHalfPi, -r) + __builtin_fma(f, kHalfPiLow, fLow * kHalfPi);
  if (past) {
    r = -r;
    rLow = -rLow;
  }
  const double value = f64::inQuadrant(r, rLow, quadrant + quarterTurns);
  const bool negate = quarterTurns == 0 && (bitCast<uint64_t>(x) >> 63) != 0;
  return negate ? -value : value;
}

TS_ISA_END
