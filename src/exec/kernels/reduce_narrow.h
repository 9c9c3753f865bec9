// Reductions of f16, bf16 and fp8: in f32, rounded after every step as the binary operations are.
#pragma once

#include "exec/kernels/narrow.h"
#include "exec/kernels/reduce_extremes.h"
#include "exec/kernels/reduce_float.h"

TS_ISA_BEGIN

/// Sums and products round; minima and maxima of narrow values are narrow values.
template <class Op, ElementKind K>
struct Rounded {
  TS_INLINE static float apply(float a, float b) {
    return FormatOf<K>::Type::round(Op::apply(a, b));
  }
};

template <class Op, ElementKind K, bool kRounds>
void reduceBy(void* out, const void* in, size_t outer, size_t length, size_t inner) {
  using Storage = typename FormatOf<K>::Type::Storage;
  // One [length, inner] slab at a time, or several short ones, so that the f32 copy stays small.
  const size_t slab = length * inner;
  if (slab == 0) return;
  if (length == 1) {  // nothing is combined: NaNs stay as they are
    __builtin_memcpy(out, in, outer * inner * sizeof(Storage));
    return;
  }
  const size_t group = slab < 4096 ? smaller(outer, 4096 / slab) : 1;
  const size_t results = group * inner;
  float* buffer = static_cast<float*>(
      threadScratch(ScratchUse::ReduceNarrow, (group * slab + results) * sizeof(float)));
  float* reduced = buffer + group * slab;
  for (size_t o = 0; o < outer; o += group) {
    const size_t count = smaller(group, outer - o);
    toF32<K>(buffer, static_cast<const Storage*>(in) + o * slab, count * slab);
    if constexpr (kRounds) reduceLoop<Rounded<Op, K>, float>(reduced, buffer, count, length, inner);
    else reduceExtremes<Op, float>(reduced, buffer, count, length, inner);
    fromF32<K>(static_cast<Storage*>(out) + o * inner, reduced, count * inner);
  }
}

template <ElementKind K>
ReduceFn reduceNarrowKind(BinaryOp op) {
  switch (op) {
    case BinaryOp::AddF: return reduceBy<AddF, K, true>;
    case BinaryOp::MulF: return reduceBy<MulF, K, true>;
    case BinaryOp::MinimumF: return reduceBy<MinimumF, K, false>;
    case BinaryOp::MaximumF: return reduceBy<MaximumF, K, false>;
    case BinaryOp::MinNumF: return reduceBy<MinNumF, K, false>;
    case BinaryOp::MaxNumF: return reduceBy<MaxNumF, K, false>;
    default: return nullptr;
  }
}

TS_ISA_END
