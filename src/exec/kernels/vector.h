// The few vector operations that the dot kernels need, on the widest registers of the instruction set.
#pragma once

#include "exec/kernels/isa.h"

#if defined(__AVX512F__) || defined(__AVX2__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

TS_ISA_BEGIN

/// `clean`: NaNs become the canonical one.
template <class T> struct Vector;

#if defined(__AVX512F__)
inline constexpr int kVectorBytes = 64;
template <> struct Vector<float> {
  using Type = __m512;
  TS_INLINE static Type load(const float* p) { return _mm512_loadu_ps(p); }
  TS_INLINE static void store(float* p, Type v) { _mm512_storeu_ps(p, v); }
  TS_INLINE static Type splat(float x) { return _mm512_set1_ps(x); }
  TS_INLINE static Type multiplyAdd(Type a, Type b, Type c) { return _mm512_fmadd_ps(a, b, c); }
  TS_INLINE static Type clean(Type v) { return _mm512_mask_mov_ps(v, _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q), splat(quietNaN<float>())); }
};
template <> struct Vector<double> {
  using Type = __m512d;
  TS_INLINE static Type load(const double* p) { return _mm512_loadu_pd(p); }
  TS_INLINE static void store(double* p, Type v) { _mm512_storeu_pd(p, v); }
  TS_INLINE static Type splat(double x) { return _mm512_set1_pd(x); }
  TS_INLINE static Type multiplyAdd(Type a, Type b, Type c) { return _mm512_fmadd_pd(a, b, c); }
  TS_INLINE static Type clean(Type v) { return _mm512_mask_mov_pd(v, _mm512_cmp_pd_mask(v, v, _CMP_UNORD_Q), splat(quietNaN<double>())); }
};
template <> struct Vector<uint32_t> {
  using Type = __m512i;
  TS_INLINE static Type load(const uint32_t* p) { return _mm512_loadu_si512(p); }
  TS_INLINE static void store(uint32_t* p, Type v) { _mm512_storeu_si512(p, v); }
  TS_INLINE static Type splat(uint32_t x) { return _mm512_set1_epi32(int32_t(x)); }
  /// Of pairs of i16: low * low + high * high + c.
  TS_INLINE static Type multiplyAdd(Type a, Type b, Type c) { return _mm512_add_epi32(_mm512_madd_epi16(a, b), c); }
  TS_INLINE static Type clean(Type v) { return v; }
};
#elif defined(__AVX2__)
inline constexpr int kVectorBytes = 32;
template <> struct Vector<float> {
  using Type = __m256;
  TS_INLINE static Type load(const float* p) { return _mm256_loadu_ps(p); }
  TS_INLINE static void store(float* p, Type v) { _mm256_storeu_ps(p, v); }
  TS_INLINE static Type splat(float x) { return _mm256_set1_ps(x); }
  TS_INLINE static Type multiplyAdd(Type a, Type b, Type c) { return _mm256_fmadd_ps(a, b, c); }
  TS_INLINE static Type clean(Type v) { return _mm256_blendv_ps(v, splat(quietNaN<float>()), _mm256_cmp_ps(v, v, _CMP_UNORD_Q)); }
};
template <> struct Vector<double> {
  using Type = __m256d;
  TS_INLINE static Type load(const double* p) { return _mm256_loadu_pd(p); }
  TS_INLINE static void store(double* p, Type v) { _mm256_storeu_pd(p, v); }
  TS_INLINE static Type splat(double x) { return _mm256_set1_pd(x); }
  TS_INLINE static Type multiplyAdd(Type a, Type b, Type c) { return _mm256_fmadd_pd(a, b, c); }
  TS_INLINE static Type clean(Type v) { return _mm256_blendv_pd(v, splat(quietNaN<double>()), _mm256_cmp_pd(v, v, _CMP_UNORD_Q)); }
};
template <> struct Vector<uint32_t> {
  using Type = __m256i;
  TS_INLINE static Type load(const uint32_t* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }
  TS_INLINE static void store(uint32_t* p, Type v) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), v); }
  TS_INLINE static Type splat(uint32_t x) { return _mm256_set1_epi32(int32_t(x)); }
  TS_INLINE static Type multiplyAdd(Type a, Type b, Type c) { return _mm256_add_epi32(_mm256_madd_epi16(a, b), c); }
  TS_INLINE static Type clean(Type v) { return v; }
};
#elif defined(__aarch64__)
inline constexpr int kVectorBytes = 16;
template <> struct Vector<float> {
  using Type = float32x4_t;
  TS_INLINE static Type load(const float* p) { return vld1q_f32(p); }
  TS_INLINE static void store(float* p, Type v) { vst1q_f32(p, v); }
  TS_INLINE static Type splat(float x) { return vdupq_n_f32(x); }
  TS_INLINE static Type multiplyAdd(Type a, Type b, Type c) { return vfmaq_f32(c, a, b); }
  TS_INLINE static Type clean(Type v) { return vbslq_f32(vceqq_f32(v, v), v, splat(quietNaN<float>())); }
};
template <> struct Vector<double> {
  using Type = float64x2_t;
  TS_INLINE static Type load(const double* p) { return vld1q_f64(p); }
  TS_INLINE static void store(double* p, Type v) { vst1q_f64(p, v); }
  TS_INLINE static Type splat(double x) { return vdupq_n_f64(x); }
  TS_INLINE static Type multiplyAdd(Type a, Type b, Type c) { return vfmaq_f64(c, a, b); }
  TS_INLINE static Type clean(Type v) { return vbslq_f64(vceqq_f64(v, v), v, splat(quietNaN<double>())); }
};
template <> struct Vector<uint32_t> {
  using Type = uint32x4_t;
  TS_INLINE static Type load(const uint32_t* p) { return vld1q_u32(p); }
  TS_INLINE static void store(uint32_t* p, Type v) { vst1q_u32(p, v); }
  TS_INLINE static Type splat(uint32_t x) { return vdupq_n_u32(x); }
  TS_INLINE static Type multiplyAdd(Type a, Type b, Type c) {
    const int16x8_t x = vreinterpretq_s16_u32(a), y = vreinterpretq_s16_u32(b);
    const int32x4_t pairs = vpaddq_s32(vmull_s16(vget_low_s16(x), vget_low_s16(y)), vmull_high_s16(x, y));
    return vaddq_u32(vreinterpretq_u32_s32(pairs), c);
  }
  TS_INLINE static Type clean(Type v) { return v; }
};
#else
#error "no vector operations for this instruction set"
#endif

/// The side of the squares that transposeSquare() turns around.
#if defined(__AVX2__)
inline constexpr int64_t kSquare = 8;
TS_INLINE void transposeSquare(float* out, int64_t outRow, const float* in, int64_t inRow) {
  __m256 r[8], s[8];
  TS_UNROLL
  for (int i = 0; i < 8; ++i) r[i] = _mm256_loadu_ps(in + i * inRow);
  TS_UNROLL
  for (int i = 0; i < 8; i += 2) {
    s[i] = _mm256_unpacklo_ps(r[i], r[i + 1]);
    s[i + 1] = _mm256_unpackhi_ps(r[i], r[i + 1]);
  }
  TS_UNROLL
  for (int i = 0; i < 8; i += 4) {
    r[i] = _mm256_shuffle_ps(s[i], s[i + 2], 0x44);
    r[i + 1] = _mm256_shuffle_ps(s[i], s[i + 2], 0xee);
    r[i + 2] = _mm256_shuffle_ps(s[i + 1], s[i + 3], 0x44);
    r[i + 3] = _mm256_shuffle_ps(s[i + 1], s[i + 3], 0xee);
  }
  TS_UNROLL
  for (int i = 0; i < 4; ++i) {
    _mm256_storeu_ps(out + i * outRow, _mm256_permute2f128_ps(r[i], r[i + 4], 0x20));
    _mm256_storeu_ps(out + (i + 4) * outRow, _mm256_permute2f128_ps(r[i], r[i + 4], 0x31));
  }
}
#else
inline constexpr int64_t kSquare = 4;
TS_INLINE void transposeSquare(float* out, int64_t outRow, const float* in, int64_t inRow) {
  const float32x4x2_t low = vtrnq_f32(vld1q_f32(in), vld1q_f32(in + inRow));
  const float32x4x2_t high = vtrnq_f32(vld1q_f32(in + 2 * inRow), vld1q_f32(in + 3 * inRow));
  vst1q_f32(out, vcombine_f32(vget_low_f32(low.val[0]), vget_low_f32(high.val[0])));
  vst1q_f32(out + outRow, vcombine_f32(vget_low_f32(low.val[1]), vget_low_f32(high.val[1])));
  vst1q_f32(out + 2 * outRow, vcombine_f32(vget_high_f32(low.val[0]), vget_high_f32(high.val[0])));
  vst1q_f32(out + 3 * outRow, vcombine_f32(vget_high_f32(low.val[1]), vget_high_f32(high.val[1])));
}
#endif

TS_ISA_END
