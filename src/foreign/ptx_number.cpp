// Float formats of PTX, one value at a time, over the engine's own conversions.
#include <cstring>

#include "exec/kernels/kernels.h"
#include "foreign/ptx.h"

namespace tilesight::foreign {

namespace {

using exec::CastOp;
using ir::ElementKind;

ElementKind kindOf(PtxType type) {
  switch (type) {
    case PtxType::F16: return ElementKind::F16;
    case PtxType::BF16: return ElementKind::BF16;
    case PtxType::E4M3x2: return ElementKind::F8E4M3FN;
    case PtxType::E5M2x2: return ElementKind::F8E5M2;
    default: return ElementKind::Invalid;
  }
}

f64 widen(ElementKind kind, u64 bits) {
  f64 value = 0;
  exec::kernels().cast(CastOp::FPExt, kind, ElementKind::F64)(&value, &bits, 1);
  return value;
}

u64 narrow(ElementKind kind, f64 value, Rounding rounding) {
  u64 bits = 0;
  CastOp cast = rounding == Rounding::Zero ? CastOp::FPTruncRtz : CastOp::FPTruncRtne;
  exec::kernels().cast(cast, ElementKind::F64, kind)(&bits, &value, 1);
  return bits;
}

constexpr f64 kE2M1[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};

}  // namespace

f64 floatValue(PtxType type, u64 bits) {
  switch (type) {
    case PtxType::F32:
    case PtxType::TF32: return std::bit_cast<f32>(u32(bits));
    case PtxType::F64: return std::bit_cast<f64>(bits);
    default: return widen(kindOf(type), bits & 0xffff);
  }
}

u64 floatBits(PtxType type, f64 value, Rounding rounding) {
  switch (type) {
    case PtxType::F64: return std::bit_cast<u64>(value != value ? std::numeric_limits<f64>::quiet_NaN() : value);
    case PtxType::F32: {
      if (value != value) return 0x7fc00000;
      volatile f64 wide = value;
      return std::bit_cast<u32>(rounded(rounding, [&] { return f32(wide); }));
    }
    default: return narrow(kindOf(type), value, rounding);
  }
}

u64 tf32Bits(f32 x, Rounding rounding, bool tiesAway) {
  u32 bits = std::bit_cast<u32>(x);
  if (x != x) return 0x7fc00000;
  if (std::isinf(x)) return bits;
  if (tiesAway) bits += 0x1000;
  else if (rounding == Rounding::Nearest) bits += 0xfff + (bits >> 13 & 1);
  return bits & ~u32{0x1fff};
}

f64 smallValue(PtxType type, u64 bits) {
  if (type == PtxType::E2M1x2) return bits & 8 ? -kE2M1[bits & 7] : kE2M1[bits & 7];
  if (type == PtxType::UE8M0x2)
    return bits == 0xff ? std::numeric_limits<f64>::quiet_NaN() : std::ldexp(1.0, int(bits) - 127);
  return widen(kindOf(type), bits);
}

u64 smallBits(PtxType type, f64 value, Rounding rounding) {
  if (type == PtxType::E2M1x2) {
    // Nearest, ties to the even code; NaN and what is too large give the largest number.
    u64 sign = std::signbit(value) ? 8 : 0;
    f64 magnitude = std::fabs(value);
    if (value != value) return 7;
    if (magnitude >= 6) return sign | 7;
    u64 low = 0;
    while (low < 6 && kE2M1[low + 1] <= magnitude) ++low;
    f64 below = magnitude - kE2M1[low], above = kE2M1[low + 1] - magnitude;
    if (above < below || (above == below && (low & 1))) ++low;
    return sign | low;
  }
  if (type == PtxType::UE8M0x2) {
    // The exponent alone, toward zero or up; the sign is dropped.
    if (value != value) return 0xff;
    f64 magnitude = std::fabs(value);
    if (magnitude == 0) return 0;
    if (std::isinf(magnitude)) return 0xfe;
    int exponent = std::ilogb(magnitude);
    if (rounding == Rounding::Up && std::ldexp(1.0, exponent) < magnitude) ++exponent;
    return u64(std::min(std::max(exponent + 127, 0), 254));
  }
  return narrow(kindOf(type), value, rounding);
}

}  // namespace tilesight::foreign
