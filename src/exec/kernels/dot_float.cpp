// Dot products of floats: operands are brought to f32 (or stay f64), then multiplied by panels.
#include "exec/kernels/matrix.h"
#include "exec/kernels/narrow.h"
#include "exec/kernels/scratch.h"
#include "exec/kernels/sets.h"

TS_ISA_BEGIN
namespace {

/// To tf32: ten mantissa bits, nearest, ties away from zero (cvt.rna.tf32.f32).
TS_INLINE float roundToTf32(float x) {
  const uint32_t bits = bitCast<uint32_t>(x);
  const uint32_t rounded = (bits + 0x1000u) & ~uint32_t(0x1fff);
  return (bits & 0x7f800000u) == 0x7f800000u ? x : bitCast<float>(rounded);
}

/// The elements of one operand kind as T. NaNs may have any payload here.
template <ElementKind K> struct Source {
  using Storage = typename FormatOf<K>::Type::Storage;
  using T = float;
  static void copy(float* out, const Storage* in, size_t n) { toF32<K>(out, in, n); }
};
template <> struct Source<ElementKind::F16> {
  using Storage = uint16_t;
  using T = float;
  static void copy(float* out, const uint16_t* in, size_t n) {
    size_t i = 0;
#if defined(__AVX512F__)
    for (; i + 16 <= n; i += 16)
      _mm512_storeu_ps(out + i, _mm512_maskz_cvtph_ps(0xffff, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in + i))));
#elif defined(__F16C__)
    for (; i + 8 <= n; i += 8)
      _mm256_storeu_ps(out + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(in + i))));
#elif defined(__aarch64__)
    for (const size_t whole = n & ~size_t(7); i < whole; ++i) out[i] = float(bitCast<__fp16>(in[i]));
#endif
    if (i < n) toF32<ElementKind::F16>(out + i, in + i, n - i);
  }
};
template <> struct Source<ElementKind::BF16> {
  using Storage = uint16_t;
  using T = float;
  static void copy(float* out, const uint16_t* in, size_t n) {
    TS_VECTOR_LOOP
    for (size_t i = 0; i < n; ++i) out[i] = bitCast<float>(uint32_t(in[i]) << 16);
  }
};
struct F32Source {
  using Storage = float;
  using T = float;
  static void copy(float* out, const float* in, size_t n) { __builtin_memcpy(out, in, n * sizeof(float)); }
};
struct Tf32Source {
  using Storage = float;
  using T = float;
  static void copy(float* out, const float* in, size_t n) {
    for (size_t i = 0; i < n; ++i) out[i] = roundToTf32(in[i]);
  }
};
struct F64Source {
  using Storage = double;
  using T = double;
  static void copy(double* out, const double* in, size_t n) { __builtin_memcpy(out, in, n * sizeof(double)); }
};

/// Turns a matrix around: out[j * outRow + i] = in[i * inRow + j].
template <class T>
void transpose(T* out, int64_t outRow, const T* in, int64_t inRow, int64_t rows, int64_t columns) {
  for (int64_t i = 0; i < rows; i += kSquare)
    for (int64_t j = 0; j < columns; j += kSquare) {
      const int64_t iEnd = i + kSquare < rows ? i + kSquare : rows, jEnd = j + kSquare < columns ? j + kSquare : columns;
      if constexpr (__is_same(T, float))
        if (iEnd - i == kSquare && jEnd - j == kSquare) {
          transposeSquare(out + j * outRow + i, outRow, in + i * inRow + j, inRow);
          continue;
        }
      for (int64_t jj = j; jj < jEnd; ++jj)
        for (int64_t ii = i; ii < iEnd; ++ii) out[jj * outRow + ii] = in[ii * inRow + jj];
    }
}

/// A matrix of [rows, columns] as T, and where it lies.
template <class T> struct Placed { const T* data; int64_t row, column; };

inline size_t roundUp(int64_t n, int64_t step) { return size_t((n + step - 1) / step * step); }

/// The left operand: any strides will do, so only conversion and gaps ask for a copy. Rows of a wide matrix lie in a
/// few sets of the cache only; a copy is read more often than made.
template <class S>
Placed<typename S::T> placeLeft(const void* data, int64_t row, int64_t column, int64_t rows, int64_t columns,
                                typename S::T* room) {
  using Storage = typename S::Storage;
  const Storage* in = static_cast<const Storage*>(data);
  if constexpr (__is_same(S, F32Source) || __is_same(S, F64Source))
    if (column != 1 || row <= columns) return {in, row, column};
  if (row == 1 && column != 1) {  // stored by columns
    for (int64_t j = 0; j < columns; ++j) S::copy(room + j * rows, in + j * column, size_t(rows));
    return {room, 1, rows};
  }
  if (column == 1 && row == columns) {
    S::copy(room, in, size_t(rows * columns));
  } else if (column == 1) {
    for (int64_t i = 0; i < rows; ++i) S::copy(room + i * columns, in + i * row, size_t(columns));
  } else {
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j) S::copy(room + i * columns + j, in + i * row + j * column, 1);
  }
  return {room, columns, 1};
}

/// The right operand: rows of contiguous elements, readable in whole vectors.
template <class S>
Placed<typename S::T> placeRight(const void* data, int64_t row, int64_t column, int64_t rows, int64_t columns,
                                 typename S::T* room, typename S::T* turned) {
  using T = typename S::T;
  using Storage = typename S::Storage;
  const Storage* in = static_cast<const Storage*>(data);
  const int64_t padded = int64_t(roundUp(columns, kLanes<T>));
  if constexpr (__is_same(S, F32Source) || __is_same(S, F64Source))
    if (column == 1 && row <= columns && padded == columns) return {in, row, 1};
  if (column == 1 && row == columns && padded == columns) {
    S::copy(room, in, size_t(rows * columns));
    return {room, columns, 1};
  }
  if (padded != columns) __builtin_memset(room, 0, size_t(rows * padded) * sizeof(T));
  if (column == 1) {
    for (int64_t k = 0; k < rows; ++k) S::copy(room + k * padded, in + k * row, size_t(columns));
  } else if (row == 1) {  // stored by columns: convert them if need be, then turn
    if constexpr (__is_same(S, F32Source) || __is_same(S, F64Source)) {
      transpose(room, padded, in, column, columns, rows);
      return {room, padded, 1};
    }
    if (column == rows) S::copy(turned, in, size_t(rows * columns));
    else for (int64_t j = 0; j < columns; ++j) S::copy(turned + j * rows, in + j * column, size_t(rows));
    transpose(room, padded, turned, rows, columns, rows);
  } else {
    for (int64_t k = 0; k < rows; ++k)
      for (int64_t j = 0; j < columns; ++j) S::copy(room + k * padded + j, in + k * row + j * column, 1);
  }
  return {room, padded, 1};
}

/// Acc: void for an accumulator of kind T, else the narrow format it is rounded to.
template <class A, class B, ElementKind kAcc>
void dot(const DotArgs& args) {
  using T = typename A::T;
  const auto [a, aRow, aCol, b, bRow, bCol, d, m, n, k, start] = args;
  if (m <= 0 || n <= 0) return;
  constexpr bool kNarrowAcc = kAcc != ElementKind::F32 && kAcc != ElementKind::F64;
  const size_t leftRoom = roundUp(m * k, 16), padded = roundUp(n, kLanes<T>);
  const size_t rightRoom = roundUp(k * int64_t(padded), 16), turnedRoom = roundUp(k * n, 16);
  const size_t edgeRoom = roundUp(m * kPanelColumns<T>, 16), accRoom = kNarrowAcc ? roundUp(m * n, 16) : 0;
  T* room = static_cast<T*>(threadScratch(ScratchUse::Dot, (leftRoom + rightRoom + turnedRoom + edgeRoom + accRoom) * sizeof(T)));
  const Placed<T> left = placeLeft<A>(a, aRow, aCol, m, k, room);
  room += leftRoom;
  const Placed<T> right = placeRight<B>(b, bRow, bCol, k, n, room, room + rightRoom);
  room += rightRoom + turnedRoom;
  T* edge = room;
  if constexpr (kNarrowAcc) {
    float* acc = room + edgeRoom;
    float first;
    if (start) toF32<kAcc>(&first, start, 1);
    else toF32<kAcc>(acc, d, size_t(m * n));
    multiply<float>(left.data, left.row, left.column, right.data, right.row, start ? &first : nullptr, acc, m, n, k, edge);
    fromF32<kAcc>(d, acc, size_t(m * n));
  } else {
    multiply<T>(left.data, left.row, left.column, right.data, right.row, static_cast<const T*>(start), static_cast<T*>(d), m, n, k, edge);
  }
}

template <class A, class B>
DotFn intoF32(ElementKind acc) {
  switch (acc) {
    case ElementKind::F32: return dot<A, B, ElementKind::F32>;
    case ElementKind::F16: return dot<A, B, ElementKind::F16>;
    case ElementKind::BF16: return dot<A, B, ElementKind::BF16>;
    default: return nullptr;
  }
}

template <ElementKind K>
DotFn fp8Left(ElementKind b, ElementKind acc) {
  if (acc != ElementKind::F32 && acc != ElementKind::F16) return nullptr;
  switch (b) {
#define TS_CASE(B) case ElementKind::B: return intoF32<Source<K>, Source<ElementKind::B>>(acc);
    TS_CASE(F8E4M3FN) TS_CASE(F8E5M2) TS_CASE(F8E4M3FNUZ) TS_CASE(F8E5M2FNUZ)
#undef TS_CASE
    default: return nullptr;
  }
}

}  // namespace

DotFn dotFloat(ElementKind a, ElementKind b, ElementKind acc, DotPrecision precision) {
  switch (a) {
    case ElementKind::F64:
      return b == a && acc == a ? dot<F64Source, F64Source, ElementKind::F64> : nullptr;
    case ElementKind::F32:
      if (b != a) return nullptr;
      if (precision == DotPrecision::Ieee) return intoF32<F32Source, F32Source>(acc);
      if (precision == DotPrecision::Tf32) return intoF32<Tf32Source, Tf32Source>(acc);
      return nullptr;
    case ElementKind::F16:
      return b == a ? intoF32<Source<ElementKind::F16>, Source<ElementKind::F16>>(acc) : nullptr;
    case ElementKind::BF16:
      return b == a ? intoF32<Source<ElementKind::BF16>, Source<ElementKind::BF16>>(acc) : nullptr;
    case ElementKind::F8E4M3FN: return fp8Left<ElementKind::F8E4M3FN>(b, acc);
    case ElementKind::F8E5M2: return fp8Left<ElementKind::F8E5M2>(b, acc);
    case ElementKind::F8E4M3FNUZ: return fp8Left<ElementKind::F8E4M3FNUZ>(b, acc);
    case ElementKind::F8E5M2FNUZ: return fp8Left<ElementKind::F8E5M2FNUZ>(b, acc);
    default: return nullptr;
  }
}

TS_ISA_END
