// Where the numbers of a picture come from.
#pragma once

#include <memory>

#include "server/slice.h"

namespace tilesight::server {

class SliceSource {
 public:
  virtual ~SliceSource() = default;
  /// `count` numbers, of elements `stride` apart, the first `offset` elements from element [0,..,0].
  virtual void row(int64_t offset, int64_t stride, int64_t count, double* out) const = 0;
  /// The means of cells are shown, and their largest number otherwise.
  virtual bool isValues() const { return false; }
  /// Elements outside of the tensor that it has numbers of, on either side.
  virtual int64_t margin() const { return 0; }
  virtual uint64_t outside() const { return 0; }
  /// Neighbours in memory that share a number.
  virtual int64_t cell() const { return 1; }
  /// False: all numbers of elements between these offsets, ends included, are 0.
  virtual bool anything(int64_t first, int64_t last) const { return first <= last; }
};

Result<std::unique_ptr<SliceSource>> sliceSource(const Loaded& loaded, const SliceRequest& request, const launch::View& view);

}  // namespace tilesight::server
