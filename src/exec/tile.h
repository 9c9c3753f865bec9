// Tile values. A tile is immutable and held in the cheapest form that describes it:
//
//   Splat      one value for all elements
//   Affine     base + sum over axes of stride[d] * i[d]               (integers, pointers)
//   Separable  base + sum over axes of (axis[d] ? axis[d][i[d]] : stride[d] * i[d])
//   Dense      elements in memory, with a stride per axis; stride 0 on an axis means that the tile
//              does not depend on it, so broadcasts and transposes cost nothing
//   Box        masks: lo[d] <= i[d] < hi[d] on every axis, and axisMask[d][i[d]] where there is one
//   View       a tensor view (descriptor or block pointer), rank-0 only
//
// Axes of size 1 always have stride 0, interval [0, 1) or (empty mask) any empty interval.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "exec/buffer.h"
#include "exec/shape.h"
#include "ir/type.h"

namespace tilesight::exec {

using ir::ElementKind;

enum class Form : uint8_t { Empty, Splat, Affine, Separable, Dense, Box, View };

/// Where a pointer comes from: an index of a tensor argument, or one of these.
inline constexpr int32_t kOriginUnknown = -1;  // an integer or memory: resolved by address
inline constexpr int32_t kOriginMixed = -2;    // per element, in Tile::origins

struct TaintRef;
struct ViewValue;

struct Tile {
  Form form = Form::Empty;
  ElementKind kind = ElementKind::Invalid;
  int32_t origin = kOriginUnknown;
  const Shape* shape = nullptr;
  /// Splat: the bits (integers sign-extended, i1 as 0/1). Affine, Separable: the base.
  int64_t base = 0;
  /// Affine, Separable: value per index. Dense: elements per index. Box: lo.
  std::array<int64_t, kMaxRank> stride{};
  /// Box: hi.
  std::array<int64_t, kMaxRank> hi{};
  /// Separable: int64 values (null: use stride). Box: bytes (null: interval only). Dense: axis[0] is
  /// the address of element [0,..,0].
  std::array<const void*, kMaxRank> axis{};
  BufferRef buffer;               // Dense; none: the elements lie in the launch's memory (borrowed: LaunchMemory::load)
  std::array<BufferRef, 2> axisBuffers;  // Separable, Box: at most two axes have vectors
  BufferRef origins;              // kOriginMixed: int32 per element, contiguous
  std::shared_ptr<const struct Taint> taint;  // null: no element is tainted
  std::shared_ptr<const ViewValue> view;      // View

  int rank() const { return shape->rank(); }
  int64_t numel() const { return shape->numel; }
  const int64_t* axisValues(int d) const { return static_cast<const int64_t*>(axis[d]); }
  const uint8_t* axisMask(int d) const { return static_cast<const uint8_t*>(axis[d]); }
  const uint8_t* data() const { return static_cast<const uint8_t*>(axis[0]); }
  uint32_t elementBytes() const { return ir::elementBytes(kind); }
  bool isSplat() const { return form == Form::Splat; }
  bool isMask() const { return kind == ElementKind::I1; }
};

/// Which elements of a tile are not what the program meant, or break a promise, and since which event.
struct Taint {
  Tile faulty;      // i1, shape of the tile: made meaningless by a fault; Form::Empty: none
  Tile unkept;      // i1, likewise: what was meant, but not what the compiler was promised
  std::vector<uint32_t> causes;  // indices into the machine's causes, first come first
};

/// A descriptor (offsets all 0) or a block pointer.
struct ViewValue {
  int64_t address = 0;   // virtual, of element [0,..,0]
  int32_t origin = kOriginUnknown;
  int rank = 0;
  std::vector<int64_t> shape, stride;  // stride in elements
  std::vector<int64_t> offset;         // block pointers: of the block's first element
  std::vector<int64_t> block;          // block shape
  ElementKind element = ElementKind::Invalid;
  bool padNan = false;
};

// -- Making tiles -------------------------------------------------------------------------------

Tile splatTile(ElementKind kind, int64_t bits, const Shape* shape);
Tile maskSplat(bool value, const Shape* shape);
/// An uninitialised contiguous tile; write through denseData().
Tile denseTile(BufferPool& pool, ElementKind kind, const Shape* shape);
/// Strides of a contiguous tile; 0 beyond the ranks that have strides.
std::array<int64_t, kMaxRank> rowMajor(const Shape& shape);
inline uint8_t* denseData(Tile& tile) { return const_cast<uint8_t*>(tile.data()); }

// -- Asking ---------------------------------------------------------------------------------------

struct Range {
  int64_t min = 0, max = 0;
};
/// Smallest and largest value of an integer or pointer tile in Splat, Affine or Separable form.
/// False if int64 arithmetic would overflow.
bool symbolicRange(const Tile& tile, Range* range);
/// The same for any integer form: dense tiles are scanned.
bool valueRange(const Tile& tile, Range* range);
/// Bit d is set if the tile may vary along axis d.
uint32_t dependence(const Tile& tile);
/// Row-major, contiguous and complete (no broadcast axis).
bool isContiguous(const Tile& tile);
/// Nothing but contiguous elements of this kind and shape, wherever they lie: no taint, no origins. Only such a tile
/// may be given other elements as it is.
bool isPlain(const Tile& tile, ElementKind kind, const Shape* shape);
/// The element at row-major position `index`, as bits (integers sign-extended).
int64_t elementBits(const Tile& tile, int64_t index);
/// A scalar's value, sign-extended; the tile must be integer with one element or splat.
inline int64_t scalarValue(const Tile& tile) {
  return tile.form == Form::Splat ? tile.base : elementBits(tile, 0);
}
/// Sign-extends (i1: zero-extends) the low bits of an element of this kind; floats: masks them.
int64_t normalizeBits(ElementKind kind, int64_t bits);
/// Does this int64 fit a signed integer of this kind?
bool fitsKind(ElementKind kind, int64_t value);

/// Where the pointer at row-major position `index` comes from.
inline int32_t originAt(const Tile& tile, int64_t index) {
  return tile.origin == kOriginMixed ? reinterpret_cast<const int32_t*>(tile.origins.bytes())[index] : tile.origin;
}
/// Sets the origins of a dense pointer tile element by element; one origin if all agree.
template <typename OriginOf>
void assignOrigins(BufferPool& pool, Tile& tile, OriginOf&& originOf) {
  BufferRef origins(pool.take(static_cast<size_t>(tile.numel()) * sizeof(int32_t)));
  auto* each = reinterpret_cast<int32_t*>(origins.bytes());
  bool same = true;
  for (int64_t i = 0; i < tile.numel(); ++i) {
    each[i] = originOf(i);
    same = same && each[i] == each[0];
  }
  tile.origin = same ? each[0] : kOriginMixed;
  tile.origins = same ? BufferRef() : std::move(origins);
}

// -- Materialising ----------------------------------------------------------------------------------

/// Dense over the whole shape, row-major.
Tile contiguous(BufferPool& pool, const Tile& tile);
/// The elements of a dense tile in a buffer of its own, row-major.
Tile owned(BufferPool& pool, const Tile& tile);
/// Dense with strides; axes the tile does not depend on keep stride 0 and are not expanded.
Tile strided(BufferPool& pool, const Tile& tile);
/// Separable form of a dense integer tile that depends on one axis (or of Splat, Affine,
/// Separable, as they are). False if it depends on more.
bool toSeparable(BufferPool& pool, const Tile& tile, Tile* out);

}  // namespace tilesight::exec
