// Unary operations in f64.
#include "exec/kernels/elementwise.h"
#include "exec/kernels/math_f64.h"
#include "exec/kernels/sets.h"
#include "exec/kernels/trigonometry.h"
#include "exec/kernels/unary_math.h"

TS_ISA_BEGIN
namespace math {
namespace {

template <double (*kFunction)(double)>
TS_INLINE void loop(void* out, const void* a, size_t n) {
  double* o = static_cast<double*>(out);
  const double* x = static_cast<const double*>(a);
  TS_VECTOR_LOOP
  for (size_t i = 0; i < n; ++i) o[i] = kFunction(x[i]);
}

TS_INLINE double sqrt(double x) { return canonical(__builtin_sqrt(x)); }
TS_INLINE double floor(double x) { return canonical(__builtin_floor(x)); }
TS_INLINE double ceil(double x) { return canonical(__builtin_ceil(x)); }
TS_INLINE double neg(double x) { return bitCast<double>(bitCast<uint64_t>(x) ^ BitsOf<double>::kSign); }
TS_INLINE double abs(double x) { return absolute(x); }

/// Small arguments in a vector loop, the rare large ones one by one.
template <uint32_t kQuarterTurns>
TS_INLINE void sinOrCosLoop(void* out, const void* a, size_t n) {
  constexpr size_t kStep = 256;
  double* o = static_cast<double*>(out);
  const double* x = static_cast<const double*>(a);
  double value[kStep];
  for (size_t begin = 0; begin < n; begin += kStep) {
    const size_t m = smaller(kStep, n - begin);
    uint64_t largest = 0;  // as bits, which order like magnitudes; NaNs come last
    for (size_t i = 0; i < m; ++i) {
      const uint64_t magnitude = bitCast<uint64_t>(x[begin + i]) & ~BitsOf<double>::kSign;
      largest = largest > magnitude ? largest : magnitude;
      value[i] = f64::sinOrCos<kQuarterTurns>(x[begin + i]);
    }
    if (largest > bitCast<uint64_t>(f64::kSinCosLimit)) {
      for (size_t i = 0; i < m; ++i)
        if (!(absolute(x[begin + i]) <= f64::kSinCosLimit))
          value[i] = sinOrCosOfLarge(x[begin + i], kQuarterTurns);
    }
    __builtin_memcpy(o + begin, value, m * sizeof(double));
  }
}

}  // namespace

void expF64(void* out, const void* a, size_t n) { loop<f64::exp>(out, a, n); }
void exp2F64(void* out, const void* a, size_t n) { loop<f64::exp2>(out, a, n); }
void logF64(void* out, const void* a, size_t n) { loop<f64::log>(out, a, n); }
void log2F64(void* out, const void* a, size_t n) { loop<f64::log2>(out, a, n); }
void sinF64(void* out, const void* a, size_t n) { sinOrCosLoop<0>(out, a, n); }
void cosF64(void* out, const void* a, size_t n) { sinOrCosLoop<1>(out, a, n); }
void tanhF64(void* out, const void* a, size_t n) { loop<f64::tanh>(out, a, n); }
void erfF64(void* out, const void* a, size_t n) { loop<f64::erf>(out, a, n); }
void sqrtF64(void* out, const void* a, size_t n) { loop<sqrt>(out, a, n); }
void rsqrtF64(void* out, const void* a, size_t n) { loop<f64::rsqrt>(out, a, n); }
void floorF64(void* out, const void* a, size_t n) { loop<floor>(out, a, n); }
void ceilF64(void* out, const void* a, size_t n) { loop<ceil>(out, a, n); }
void negF64(void* out, const void* a, size_t n) { loop<neg>(out, a, n); }
void absF64(void* out, const void* a, size_t n) { loop<abs>(out, a, n); }

}  // namespace math

UnaryFn unaryF64(UnaryOp op) {
  switch (op) {
    case UnaryOp::NegF: return math::negF64;
    case UnaryOp::AbsF: return math::absF64;
    case UnaryOp::Exp: return math::expF64;
    case UnaryOp::Exp2: return math::exp2F64;
    case UnaryOp::Log: return math::logF64;
    case UnaryOp::Log2: return math::log2F64;
    case UnaryOp::Sin: return math::sinF64;
    case UnaryOp::Cos: return math::cosF64;
    case UnaryOp::Tanh: return math::tanhF64;
    case UnaryOp::Sqrt: return math::sqrtF64;
    case UnaryOp::Rsqrt: return math::rsqrtF64;
    case UnaryOp::Erf: return math::erfF64;
    case UnaryOp::Floor: return math::floorF64;
    case UnaryOp::Ceil: return math::ceilF64;
    default: return nullptr;
  }
}

TS_ISA_END
