// Dot products of i8 into i32. Sums wrap, so their order does not matter: two steps of k at a time,
// as pairs of i16 in one 32-bit element.
#include "exec/kernels/matrix.h"
#include "exec/kernels/scratch.h"
#include "exec/kernels/sets.h"

TS_ISA_BEGIN
namespace {

TS_INLINE uint32_t pairOf(int8_t low, int8_t high) {
  return uint32_t(uint16_t(int16_t(low))) | (uint32_t(uint16_t(int16_t(high))) << 16);
}

void dot(const DotArgs& args) {
  const auto [aData, aRow, aCol, bData, bRow, bCol, d, m, n, k, start] = args;
  if (m <= 0 || n <= 0) return;
  const int8_t* a = static_cast<const int8_t*>(aData);
  const int8_t* b = static_cast<const int8_t*>(bData);
  const int64_t pairs = (k + 1) / 2, whole = k / 2;
  const int64_t padded = (n + kLanes<uint32_t> - 1) / kLanes<uint32_t> * kLanes<uint32_t>;
  uint32_t* left = static_cast<uint32_t*>(
      threadScratch(ScratchUse::Dot, size_t(m * pairs + pairs * padded + m * kPanelColumns<uint32_t>) * sizeof(uint32_t)));
  uint32_t* right = left + m * pairs;
  uint32_t* edge = right + pairs * padded;
  for (int64_t i = 0; i < m; ++i) {
    const int8_t* row = a + i * aRow;
    uint32_t* out = left + i * pairs;
    if (aCol == 1) for (int64_t p = 0; p < whole; ++p) out[p] = pairOf(row[2 * p], row[2 * p + 1]);
    else for (int64_t p = 0; p < whole; ++p) out[p] = pairOf(row[2 * p * aCol], row[(2 * p + 1) * aCol]);
    if (k & 1) out[whole] = pairOf(row[(k - 1) * aCol], 0);
  }
  for (int64_t p = 0; p < pairs; ++p) {
    const int8_t* low = b + 2 * p * bRow;
    const int8_t* high = low + bRow;
    uint32_t* out = right + p * padded;
    if (p == whole) for (int64_t j = 0; j < n; ++j) out[j] = pairOf(low[j * bCol], 0);
    else if (bCol == 1) for (int64_t j = 0; j < n; ++j) out[j] = pairOf(low[j], high[j]);
    else for (int64_t j = 0; j < n; ++j) out[j] = pairOf(low[j * bCol], high[j * bCol]);
    for (int64_t j = n; j < padded; ++j) out[j] = 0;
  }
  multiply<uint32_t>(left, pairs, 1, right, padded, static_cast<const uint32_t*>(start),
                     static_cast<uint32_t*>(d), m, n, pairs, edge);
}

}  // namespace

DotFn dotInt(ElementKind a, ElementKind b, ElementKind acc) {
  return a == ElementKind::I8 && b == a && acc == ElementKind::I32 ? dot : nullptr;
}

TS_ISA_END
