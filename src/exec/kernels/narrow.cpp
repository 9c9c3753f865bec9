// Conversion of spans between the narrow float kinds and f32.
#include "exec/kernels/narrow.h"

#if defined(__F16C__)
#include <immintrin.h>
#endif

TS_ISA_BEGIN
namespace {

/// The whole vectors of a span of f16; returns how many elements were done.
TS_INLINE size_t halfToF32(float* out, const uint16_t* in, size_t n) {
  size_t i = 0;
#if defined(__F16C__)
  for (; i + 8 <= n; i += 8) {
    const __m256 x = _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(in + i)));
    const __m256 isNumber = _mm256_cmp_ps(x, x, _CMP_ORD_Q);
    _mm256_storeu_ps(out + i, _mm256_blendv_ps(_mm256_set1_ps(quietNaN<float>()), x, isNumber));
  }
#elif defined(__aarch64__)
  const size_t whole = n & ~size_t(7);
  for (; i < whole; ++i) out[i] = canonical(float(bitCast<__fp16>(in[i])));
#endif
  return i;
}

TS_INLINE size_t f32ToHalf(uint16_t* out, const float* in, size_t n) {
  size_t i = 0;
#if defined(__F16C__)
  for (; i + 8 <= n; i += 8) {
    const __m256 x = _mm256_loadu_ps(in + i);
    const __m256 isNumber = _mm256_cmp_ps(x, x, _CMP_ORD_Q);
    const __m256 clean = _mm256_blendv_ps(_mm256_set1_ps(quietNaN<float>()), x, isNumber);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i), _mm256_cvtps_ph(clean, _MM_FROUND_TO_NEAREST_INT));
  }
#elif defined(__aarch64__)
  const size_t whole = n & ~size_t(7);
  for (; i < whole; ++i) out[i] = bitCast<uint16_t>(__fp16(canonical(in[i])));
#endif
  return i;
}

}  // namespace

template <ElementKind K>
void toF32(float* out, const void* in, size_t n) {
  using F = typename FormatOf<K>::Type;
  const auto* code = static_cast<const typename F::Storage*>(in);
  if constexpr (K == ElementKind::BF16) {
    TS_VECTOR_LOOP
    for (size_t i = 0; i < n; ++i) out[i] = canonical(bitCast<float>(uint32_t(code[i]) << 16));
  } else if constexpr (F::kIsFp8) {
    TS_VECTOR_LOOP
    for (size_t i = 0; i < n; ++i) out[i] = F::decodeFast(code[i]);
  } else {
    for (size_t i = halfToF32(out, code, n); i < n; ++i) out[i] = F::decode(code[i]);
  }
}

template <ElementKind K>
void fromF32(void* out, const float* in, size_t n) {
  using F = typename FormatOf<K>::Type;
  auto* code = static_cast<typename F::Storage*>(out);
  if constexpr (K == ElementKind::F16) {
    for (size_t i = f32ToHalf(code, in, n); i < n; ++i)
      code[i] = static_cast<uint16_t>(F::template encode<false>(in[i]));
  } else {
    TS_VECTOR_LOOP
    for (size_t i = 0; i < n; ++i) code[i] = static_cast<typename F::Storage>(F::template encode<false>(in[i]));
  }
}

template <ElementKind K>
void fromF32TowardZero(void* out, const float* in, size_t n) {
  using F = typename FormatOf<K>::Type;
  auto* code = static_cast<typename F::Storage*>(out);
  TS_VECTOR_LOOP
  for (size_t i = 0; i < n; ++i) code[i] = static_cast<typename F::Storage>(F::template encode<true>(in[i]));
}

#define TS_NARROW(K)                                                              \
  template void toF32<ElementKind::K>(float*, const void*, size_t);               \
  template void fromF32<ElementKind::K>(void*, const float*, size_t);             \
  template void fromF32TowardZero<ElementKind::K>(void*, const float*, size_t);
TS_NARROW_KINDS(TS_NARROW)
#undef TS_NARROW

ToF32Fn toF32Of(ElementKind kind) {
  switch (kind) {
#define TS_CASE(K) case ElementKind::K: return toF32<ElementKind::K>;
    TS_NARROW_KINDS(TS_CASE)
#undef TS_CASE
    default: return nullptr;
  }
}

FromF32Fn fromF32Of(ElementKind kind) {
  switch (kind) {
#define TS_CASE(K) case ElementKind::K: return fromF32<ElementKind::K>;
    TS_NARROW_KINDS(TS_CASE)
#undef TS_CASE
    default: return nullptr;
  }
}

TS_ISA_END
