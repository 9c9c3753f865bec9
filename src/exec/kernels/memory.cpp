// Filling, gathering, scattering and counting.
#include "exec/kernels/int_ops.h"
#include "exec/kernels/sets.h"

TS_ISA_BEGIN
namespace {

template <class T>
void affine(void* out, int64_t base, int64_t stride, size_t n) {
  T* o = static_cast<T*>(out);
  // Truncation commutes with + and *, so the narrow arithmetic is the wide one truncated.
  const Wide<T> first = Wide<T>(base), step = Wide<T>(stride);
  TS_VECTOR_LOOP
  for (size_t i = 0; i < n; ++i) o[i] = T(first + step * Wide<T>(i));
}

template <class T>
void splat(void* out, const void* element, size_t n) {
  T* o = static_cast<T*>(out);
  T value;
  __builtin_memcpy(&value, element, sizeof(T));  // unaligned, perhaps
  for (size_t i = 0; i < n; ++i) o[i] = value;
}

template <class T>
void spread(void* out, const void* in, int64_t strideBytes, size_t rows, size_t n) {
  T* o = static_cast<T*>(out);
  const uint8_t* from = static_cast<const uint8_t*>(in);
  for (size_t r = 0; r < rows; ++r, from += strideBytes) {
    T value;
    __builtin_memcpy(&value, from, sizeof(T));
    size_t i = 0;
    constexpr size_t kStep = 64 / sizeof(T);
    for (; i + kStep <= n; i += kStep)  // short rows are the rule: no call, and no choice of alignment
      for (size_t j = 0; j < kStep; ++j) o[i + j] = value;
    for (; i < n; ++i) o[i] = value;
    o += n;
  }
}

template <class S>
void widenLoop(int64_t* out, const void* in, size_t n) {
  const S* x = static_cast<const S*>(in);
  TS_VECTOR_LOOP
  for (size_t i = 0; i < n; ++i) out[i] = int64_t(x[i]);
}

template <class T>
TS_INLINE T loadAt(const uint8_t* p) {
  T value;
  __builtin_memcpy(&value, p, sizeof(T));
  return value;
}

template <class T>
void gather(void* out, const void* in, int64_t strideBytes, size_t n) {
  if (n == 0) return;  // the pointers may be null then
  if (strideBytes == int64_t(sizeof(T))) {
    __builtin_memmove(out, in, n * sizeof(T));
    return;
  }
  T* o = static_cast<T*>(out);
  const uint8_t* p = static_cast<const uint8_t*>(in);
  if (strideBytes == 0) {
    splat<T>(out, in, n);
    return;
  }
  for (size_t i = 0; i < n; ++i) o[i] = loadAt<T>(p + int64_t(i) * strideBytes);
}

template <class T>
void scatter(void* out, int64_t strideBytes, const void* in, size_t n) {
  if (n == 0) return;
  if (strideBytes == int64_t(sizeof(T))) {
    __builtin_memmove(out, in, n * sizeof(T));
    return;
  }
  uint8_t* p = static_cast<uint8_t*>(out);
  const T* x = static_cast<const T*>(in);
  for (size_t i = 0; i < n; ++i) __builtin_memcpy(p + int64_t(i) * strideBytes, x + i, sizeof(T));
}

template <class T>
void gatherAt(void* out, const uint8_t* base, const int64_t* offsets, size_t n) {
  // `base` may stand for address 0 of virtual addresses: no pointer arithmetic on it.
  T* o = static_cast<T*>(out);
  const uintptr_t first = reinterpret_cast<uintptr_t>(base);
  for (size_t i = 0; i < n; ++i)
    o[i] = loadAt<T>(reinterpret_cast<const uint8_t*>(first + static_cast<uintptr_t>(offsets[i])));
}

}  // namespace

void fillAffine(ElementKind kind, void* out, int64_t base, int64_t stride, size_t n) {
  switch (kind) {
    case ElementKind::I1: {
      affine<uint8_t>(out, base & 1, stride & 1, n);
      uint8_t* o = static_cast<uint8_t*>(out);
      for (size_t i = 0; i < n; ++i) o[i] &= 1;
      return;
    }
    case ElementKind::I8: return affine<uint8_t>(out, base, stride, n);
    case ElementKind::I16: return affine<uint16_t>(out, base, stride, n);
    case ElementKind::I32: return affine<uint32_t>(out, base, stride, n);
    case ElementKind::I64: case ElementKind::Pointer: return affine<uint64_t>(out, base, stride, n);
    default: return;
  }
}

#define TS_BY_SIZE(function, ...)                              \
  switch (elementBytes) {                                      \
    case 1: return function<uint8_t>(__VA_ARGS__);             \
    case 2: return function<uint16_t>(__VA_ARGS__);            \
    case 4: return function<uint32_t>(__VA_ARGS__);            \
    case 8: return function<uint64_t>(__VA_ARGS__);            \
    case 16: return function<unsigned __int128>(__VA_ARGS__);  \
    default: return;                                           \
  }

void fillSplat(uint32_t elementBytes, void* out, const void* element, size_t n) {
  TS_BY_SIZE(splat, out, element, n)
}
void spreadRows(uint32_t elementBytes, void* out, const void* in, int64_t strideBytes, size_t rows, size_t n) {
  TS_BY_SIZE(spread, out, in, strideBytes, rows, n)
}
void gatherStrided(uint32_t elementBytes, void* out, const void* in, int64_t strideBytes, size_t n) {
  TS_BY_SIZE(gather, out, in, strideBytes, n)
}
void scatterStrided(uint32_t elementBytes, void* out, int64_t strideBytes, const void* in, size_t n) {
  TS_BY_SIZE(scatter, out, strideBytes, in, n)
}
void gatherOffsets(uint32_t elementBytes, void* out, const uint8_t* base, const int64_t* offsets, size_t n) {
  TS_BY_SIZE(gatherAt, out, base, offsets, n)
}

void widen(ElementKind kind, int64_t* out, const void* in, size_t n) {
  switch (kind) {
    case ElementKind::I1: return widenLoop<uint8_t>(out, in, n);
    case ElementKind::I8: return widenLoop<int8_t>(out, in, n);
    case ElementKind::I16: return widenLoop<int16_t>(out, in, n);
    case ElementKind::I32: return widenLoop<int32_t>(out, in, n);
    case ElementKind::I64: case ElementKind::Pointer:
      if (n > 0) __builtin_memmove(out, in, n * sizeof(int64_t));
      return;
    default: return;
  }
}

void minMaxI64(const int64_t* in, size_t n, int64_t* min, int64_t* max) {
  int64_t low = INT64_MAX, high = INT64_MIN;
  for (size_t i = 0; i < n; ++i) {
    low = in[i] < low ? in[i] : low;
    high = in[i] > high ? in[i] : high;
  }
  *min = low;
  *max = high;
}

size_t countNonZero(const uint8_t* in, size_t n) {
  size_t count = 0;
  for (size_t i = 0; i < n; ) {
    // Partial sums of bytes cannot overflow within 128 steps.
    const size_t end = smaller(n, i + 128);
    uint8_t part = 0;
    for (; i < end; ++i) part = uint8_t(part + (in[i] != 0));
    count += part;
  }
  return count;
}

TS_ISA_END
