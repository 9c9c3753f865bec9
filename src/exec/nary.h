// One executor for elementwise operations of any arity: finds the axes the operands depend on,
// merges what is contiguous, and calls a kernel on each innermost run. Broadcast operands are never
// expanded: a run in which an operand does not vary is called with that operand as a scalar.
#pragma once

#include <array>

#include "exec/tile.h"

namespace tilesight::exec {

inline constexpr int kMaxOperands = 3;

/// The shape of an elementwise result: that of the largest operand. (Combine regions of reductions
/// run on whole tiles although their operations are scalar in the IR.)
inline const Shape* resultShape(const Tile* const* operands, int count) {
  const Shape* shape = operands[0]->shape;
  for (int i = 1; i < count; ++i)
    if (operands[i]->shape->numel > shape->numel ||
        (operands[i]->shape->numel == shape->numel && operands[i]->shape->rank() > shape->rank()))
      shape = operands[i]->shape;
  return shape;
}

/// Applies `inner(out, pointers, scalar, n)` to every run; `scalar` has bit i set when operand i is
/// one element for the whole run. `dying` has bit i set when operand i's buffer may be overwritten.
template <typename Inner>
Tile applyDense(BufferPool& pool, ElementKind outKind, const Tile* const* operands, int count,
                unsigned dying, Inner&& inner) {
  const Shape* shape = resultShape(operands, count);
  uint32_t outBytes = ir::elementBytes(outKind);
  std::array<Tile, kMaxOperands> held;
  std::array<const uint8_t*, kMaxOperands> pointers{};
  std::array<std::array<int64_t, kMaxRank>, kMaxOperands> strides{};
  std::array<int64_t, kMaxOperands> bytes{};
  uint32_t axes = 0;
  bool symbolic = shape->symbolic();
  for (int i = 0; i < count; ++i) {
    const Tile& operand = *operands[i];
    bytes[i] = operand.elementBytes();
    if (operand.form == Form::Splat) {
      pointers[i] = reinterpret_cast<const uint8_t*>(&operand.base);
      continue;
    }
    if (operand.form != Form::Dense) held[i] = strided(pool, operand);
    const Tile& dense = operand.form == Form::Dense ? operand : held[i];
    if (dense.form == Form::Splat) {
      pointers[i] = reinterpret_cast<const uint8_t*>(&held[i].base);
      continue;
    }
    pointers[i] = dense.data();
    if (symbolic && dense.rank() == shape->rank()) {
      strides[i] = dense.stride;
      axes |= dependence(dense);
    } else if (!symbolic) {
      axes = ~0u;
    }
  }

  Tile result;
  result.form = Form::Dense;
  result.kind = outKind;
  result.shape = shape;

  if (!symbolic) {  // contiguous or splat operands only: one run
    uint32_t scalar = 0;
    for (int i = 0; i < count; ++i)
      if (operands[i]->form == Form::Splat) scalar |= 1u << i;
    result.buffer = BufferRef(pool.take(static_cast<size_t>(shape->numel) * outBytes));
    result.axis[0] = result.buffer.bytes();
    inner(result.buffer.bytes(), pointers.data(), scalar, static_cast<size_t>(shape->numel));
    return result;
  }

  // Dimensions that matter, innermost first, merged where every operand runs on contiguously.
  struct Dim {
    int64_t size;
    std::array<int64_t, kMaxOperands> step;
  };
  std::array<Dim, kMaxRank> dims;
  int used = 0;
  int64_t total = 1;
  auto collect = [&] {
    used = 0;
    total = 1;
    for (int d = shape->rank() - 1; d >= 0; --d) {
      if (!((axes >> d) & 1)) continue;
      int64_t size = shape->dims[d];
      result.stride[d] = total;
      total *= size;
      bool merge = used > 0;
      for (int i = 0; i < count && merge; ++i)
        merge = strides[i][d] == dims[used - 1].step[i] * dims[used - 1].size;
      if (merge) {
        dims[used - 1].size *= size;
      } else {
        dims[used].size = size;
        for (int i = 0; i < count; ++i) dims[used].step[i] = strides[i][d];
        ++used;
      }
    }
  };
  collect();
  // A kernel wants runs of stride 0 or 1: copy operands that have another one (transposes).
  bool copied = false;
  for (int i = 0; i < count; ++i) {
    if (used == 0 || dims[0].step[i] == 0 || dims[0].step[i] == 1) continue;
    const Tile& dense = held[i].form == Form::Dense ? held[i] : *operands[i];
    Tile compact = contiguous(pool, dense);
    held[i] = std::move(compact);
    pointers[i] = held[i].data();
    strides[i] = held[i].stride;
    axes |= dependence(held[i]);
    copied = true;
  }
  if (copied) collect();

  // Overwrite a dying operand that has exactly the result's layout.
  for (int i = 0; i < count && !result.buffer; ++i) {
    const Tile& operand = *operands[i];
    if (!((dying >> i) & 1) || operand.form != Form::Dense || bytes[i] != outBytes ||
        operand.data() != pointers[i] || !operand.buffer.unique() ||
        operand.data() != operand.buffer.bytes() || operand.rank() != shape->rank())
      continue;
    bool same = true;
    for (int d = 0; d < shape->rank() && same; ++d) same = operand.stride[d] == result.stride[d];
    if (same) result.buffer = operand.buffer;
  }
  if (!result.buffer) result.buffer = BufferRef(pool.take(static_cast<size_t>(total) * outBytes));
  uint8_t* out = result.buffer.bytes();
  result.axis[0] = out;

  int64_t n = used ? dims[0].size : 1;
  uint32_t scalar = 0;
  for (int i = 0; i < count; ++i)
    if (used == 0 || dims[0].step[i] == 0) scalar |= 1u << i;
  int64_t rows = total / n;
  std::array<int64_t, kMaxRank> index{};
  for (int64_t row = 0; row < rows; ++row) {
    inner(out, pointers.data(), scalar, static_cast<size_t>(n));
    out += n * outBytes;
    for (int d = 1; d < used; ++d) {
      for (int i = 0; i < count; ++i) pointers[i] += dims[d].step[i] * bytes[i];
      if (++index[d] < dims[d].size) break;
      for (int i = 0; i < count; ++i) pointers[i] -= dims[d].step[i] * dims[d].size * bytes[i];
      index[d] = 0;
    }
  }
  if (total == 1 && outBytes <= 8) {  // does not vary: a splat
    Tile splat = splatTile(outKind, elementBits(result, 0), shape);
    return splat;
  }
  return result;
}

}  // namespace tilesight::exec
