// Unary operations in f32.
#include "exec/kernels/elementwise.h"
#include "exec/kernels/math_f32.h"
#include "exec/kernels/sets.h"
#include "exec/kernels/trigonometry.h"
#include "exec/kernels/unary_math.h"

TS_ISA_BEGIN
namespace math {
namespace {

template <float (*kFunction)(float)>
TS_INLINE void loop(void* out, const void* a, size_t n) {
  float* o = static_cast<float*>(out);
  const float* x = static_cast<const float*>(a);
  TS_VECTOR_LOOP
  for (size_t i = 0; i < n; ++i) o[i] = kFunction(x[i]);
}

TS_INLINE float sqrt(float x) { return canonical(__builtin_sqrtf(x)); }
TS_INLINE float floor(float x) { return canonical(__builtin_floorf(x)); }
TS_INLINE float ceil(float x) { return canonical(__builtin_ceilf(x)); }
TS_INLINE float neg(float x) { return bitCast<float>(bitCast<uint32_t>(x) ^ 0x80000000u); }
TS_INLINE float abs(float x) { return absolute(x); }

/// Small arguments in a vector loop, the rare large ones one by one.
template <uint32_t kQuarterTurns>
TS_INLINE void sinOrCosLoop(void* out, const void* a, size_t n) {
  constexpr size_t kStep = 256;
  float* o = static_cast<float*>(out);
  const float* x = static_cast<const float*>(a);
  float value[kStep];
  for (size_t begin = 0; begin < n; begin += kStep) {
    const size_t m = smaller(kStep, n - begin);
    uint32_t largest = 0;  // as bits, which order like magnitudes; NaNs come last
    for (size_t i = 0; i < m; ++i) {
      const uint32_t magnitude = bitCast<uint32_t>(x[begin + i]) & 0x7fffffffu;
      largest = largest > magnitude ? largest : magnitude;
      value[i] = f32::sinOrCos<kQuarterTurns>(x[begin + i]);
    }
    if (largest > bitCast<uint32_t>(f32::kSinCosLimit)) {
      for (size_t i = 0; i < m; ++i)
        if (!(absolute(x[begin + i]) <= f32::kSinCosLimit))
          value[i] = float(sinOrCosOfLarge(double(x[begin + i]), kQuarterTurns));
    }
    __builtin_memcpy(o + begin, value, m * sizeof(float));
  }
}

}  // namespace

void expF32(void* out, const void* a, size_t n) { loop<f32::exp>(out, a, n); }
void exp2F32(void* out, const void* a, size_t n) { loop<f32::exp2>(out, a, n); }
void logF32(void* out, const void* a, size_t n) { loop<f32::log>(out, a, n); }
void log2F32(void* out, const void* a, size_t n) { loop<f32::log2>(out, a, n); }
void sinF32(void* out, const void* a, size_t n) { sinOrCosLoop<0>(out, a, n); }
void cosF32(void* out, const void* a, size_t n) { sinOrCosLoop<1>(out, a, n); }
void tanhF32(void* out, const void* a, size_t n) { loop<f32::tanh>(out, a, n); }
void erfF32(void* out, const void* a, size_t n) { loop<f32::erf>(out, a, n); }
void sqrtF32(void* out, const void* a, size_t n) { loop<sqrt>(out, a, n); }
void rsqrtF32(void* out, const void* a, size_t n) { loop<f32::rsqrt>(out, a, n); }
void floorF32(void* out, const void* a, size_t n) { loop<floor>(out, a, n); }
void ceilF32(void* out, const void* a, size_t n) { loop<ceil>(out, a, n); }
void negF32(void* out, const void* a, size_t n) { loop<neg>(out, a, n); }
void absF32(void* out, const void* a, size_t n) { loop<abs>(out, a, n); }

}  // namespace math

UnaryFn unaryF32(UnaryOp op) {
  switch (op) {
    case UnaryOp::NegF: return math::negF32;
    case UnaryOp::AbsF: return math::absF32;
    case UnaryOp::Exp: return math::expF32;
    case UnaryOp::Exp2: return math::exp2F32;
    case UnaryOp::Log: return math::logF32;
    case UnaryOp::Log2: return math::log2F32;
    case UnaryOp::Sin: return math::sinF32;
    case UnaryOp::Cos: return math::cosF32;
    case UnaryOp::Tanh: return math::tanhF32;
    case UnaryOp::Sqrt: return math::sqrtF32;
    case UnaryOp::Rsqrt: return math::rsqrtF32;
    case UnaryOp::Erf: return math::erfF32;
    case UnaryOp::Floor: return math::floorF32;
    case UnaryOp::Ceil: return math::ceilF32;
    default: return nullptr;
  }
}

TS_ISA_END
