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
};

Result<std::unique_ptr<SliceSource>> sliceSource(const Loaded& loaded, const SliceRequest& request, const launch::View& view);

}  // namespace tilesight::server
