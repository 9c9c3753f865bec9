// The core of the dot kernels: d[i][j] += sum over k of a[i][k] * b[k][j], k ascending per element. Sums of floats
// that are NaN become canonical when they are stored: nothing else can tell them apart.
#pragma once

#include "exec/kernels/vector.h"

TS_ISA_BEGIN

/// Registers: kRows x kColumns accumulators, kColumns of b, one of a.
inline constexpr int kTileRows = kVectorBytes == 32 ? 6 : 8;  // x86-64-v3 has 16 registers, the others 32
inline constexpr int kTileVectors = 2;
template <class T> inline constexpr int kLanes = kVectorBytes / int(sizeof(T));
template <class T> inline constexpr int kPanelColumns = kTileVectors * kLanes<T>;

/// One tile of kRows x kVectors vectors. `b` points to rows of the panel, bRow elements apart. `start`: what all sums
/// start from, instead of d; may be null.
template <class T, int kRows, int kVectors>
TS_INLINE void multiplyTile(const T* a, int64_t aRow, int64_t aCol, const T* b, int64_t bRow, const T* start, T* d,
                            int64_t dRow, int64_t depth) {
  using V = Vector<T>;
  typename V::Type acc[kRows][kVectors];
  if (start) {
    TS_UNROLL
    for (int i = 0; i < kRows; ++i) {
      TS_UNROLL
      for (int j = 0; j < kVectors; ++j) acc[i][j] = V::splat(*start);
    }
  } else {
    TS_UNROLL
    for (int i = 0; i < kRows; ++i) {
      TS_UNROLL
      for (int j = 0; j < kVectors; ++j) acc[i][j] = V::load(d + i * dRow + j * kLanes<T>);
    }
  }
  for (int64_t k = 0; k < depth; ++k) {
    typename V::Type row[kVectors];
    TS_UNROLL
    for (int j = 0; j < kVectors; ++j) row[j] = V::load(b + j * kLanes<T>);
    TS_UNROLL
    for (int i = 0; i < kRows; ++i) {
      const typename V::Type element = V::splat(a[i * aRow]);
      TS_UNROLL
      for (int j = 0; j < kVectors; ++j) acc[i][j] = V::multiplyAdd(element, row[j], acc[i][j]);
    }
    a += aCol;
    b += bRow;
  }
  TS_UNROLL
  for (int i = 0; i < kRows; ++i) {
    TS_UNROLL
    for (int j = 0; j < kVectors; ++j) V::store(d + i * dRow + j * kLanes<T>, V::clean(acc[i][j]));
  }
}

/// All rows against one panel of kVectors vectors of columns.
template <class T, int kVectors>
void multiplyPanel(const T* a, int64_t aRow, int64_t aCol, const T* b, int64_t bRow, const T* start, T* d,
                   int64_t dRow, int64_t rows, int64_t depth) {
  while (rows >= kTileRows) {
    multiplyTile<T, kTileRows, kVectors>(a, aRow, aCol, b, bRow, start, d, dRow, depth);
    a += kTileRows * aRow;
    d += kTileRows * dRow;
    rows -= kTileRows;
  }
  if (rows >= 4) {
    multiplyTile<T, 4, kVectors>(a, aRow, aCol, b, bRow, start, d, dRow, depth);
    a += 4 * aRow;
    d += 4 * dRow;
    rows -= 4;
  }
  if (rows >= 2) {
    multiplyTile<T, 2, kVectors>(a, aRow, aCol, b, bRow, start, d, dRow, depth);
    a += 2 * aRow;
    d += 2 * dRow;
    rows -= 2;
  }
  if (rows >= 1) multiplyTile<T, 1, kVectors>(a, aRow, aCol, b, bRow, start, d, dRow, depth);
}

extern template void multiplyPanel<float, 1>(const float*, int64_t, int64_t, const float*, int64_t, const float*, float*, int64_t, int64_t, int64_t);
extern template void multiplyPanel<float, 2>(const float*, int64_t, int64_t, const float*, int64_t, const float*, float*, int64_t, int64_t, int64_t);
extern template void multiplyPanel<double, 1>(const double*, int64_t, int64_t, const double*, int64_t, const double*, double*, int64_t, int64_t, int64_t);
extern template void multiplyPanel<double, 2>(const double*, int64_t, int64_t, const double*, int64_t, const double*, double*, int64_t, int64_t, int64_t);
extern template void multiplyPanel<uint32_t, 1>(const uint32_t*, int64_t, int64_t, const uint32_t*, int64_t, const uint32_t*, uint32_t*, int64_t, int64_t, int64_t);
extern template void multiplyPanel<uint32_t, 2>(const uint32_t*, int64_t, int64_t, const uint32_t*, int64_t, const uint32_t*, uint32_t*, int64_t, int64_t, int64_t);

/// d += a * b with b in rows of `columns` elements, bRow apart, that may be read up to `readable`
/// columns (a multiple of the panel, or `columns` itself if the last panel is whole).
/// `edge` has room for rows * kPanelColumns elements. `start`: see multiplyTile.
template <class T>
TS_INLINE void multiply(const T* a, int64_t aRow, int64_t aCol, const T* b, int64_t bRow, const T* start, T* d,
                        int64_t rows, int64_t columns, int64_t depth, T* edge) {
  constexpr int64_t kPanel = kPanelColumns<T>;
  int64_t j = 0;
  for (; j + kPanel <= columns; j += kPanel)
    multiplyPanel<T, 2>(a, aRow, aCol, b + j, bRow, start, d + j, columns, rows, depth);
  if (j + kLanes<T> <= columns) {
    multiplyPanel<T, 1>(a, aRow, aCol, b + j, bRow, start, d + j, columns, rows, depth);
    j += kLanes<T>;
  }
  if (j == columns) return;
  // A part of a vector: computed beside d, in a whole one. What b holds past its columns is only
  // combined into columns that are not copied back.
  const size_t rest = size_t(columns - j);
  if (!start) {
    __builtin_memset(edge, 0, size_t(rows) * kLanes<T> * sizeof(T));
    for (int64_t i = 0; i < rows; ++i) __builtin_memcpy(edge + i * kLanes<T>, d + i * columns + j, rest * sizeof(T));
  }
  multiplyPanel<T, 1>(a, aRow, aCol, b + j, bRow, start, edge, kLanes<T>, rows, depth);
  for (int64_t i = 0; i < rows; ++i) __builtin_memcpy(d + i * columns + j, edge + i * kLanes<T>, rest * sizeof(T));
}

TS_ISA_END
