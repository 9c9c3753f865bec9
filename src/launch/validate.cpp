#include <fmt/format.h>

#include "launch/launch.h"
#include "launch/memory.h"

namespace tilesight::launch {
namespace {

constexpr size_t maxRank = 64;  // what numpy and torch have
constexpr int64_t maxElements = int64_t{1} << 60;
using Wide = __int128;

/// `mayPassEnd`: a descriptor may promise more than its tensor has; the accesses are judged.
Status validateView(const View& view, const std::vector<Storage>& storages, bool mayPassEnd) {
  if (view.storage >= storages.size())
    return failure(fmt::format("storage {} does not exist, there are {}", view.storage,
                               storages.size()));
  const Result<Extent> span = extent(view);
  if (!span) return failure(span.error());
  const uint64_t bytes = storages[view.storage].bytes;
  if (span->first >= 0 && mayPassEnd) return {};
  if (span->first < 0 || static_cast<uint64_t>(span->past) > bytes)
    return failure(fmt::format("its elements span bytes {} to {} of a storage that has {}",
                               span->first, span->past, bytes));
  return {};
}

}  // namespace

Result<Extent> extent(const View& view) {
  const int64_t width = ir::elementBytes(view.element);
  if (width == 0)
    return failure(fmt::format("elements of type \"{}\" have no size in memory",
                               view.dtype.empty() ? ir::elementName(view.element) : view.dtype));
  if (view.shape.size() != view.strides.size())
    return failure(fmt::format("shape has {} axes, strides have {}", view.shape.size(),
                               view.strides.size()));
  if (view.shape.size() > maxRank)
    return failure(fmt::format("{} axes are more than the limit of {}", view.shape.size(), maxRank));
  Wide first = view.offset, past = Wide{view.offset} + width, elements = 1;
  bool empty = false;
  for (size_t axis = 0; axis < view.shape.size(); ++axis) {
    const int64_t size = view.shape[axis];
    if (size < 0) return failure(fmt::format("axis {} has the size {}", axis, size));
    if (size == 0) {
      empty = true;
      continue;
    }
    elements *= size;
    if (elements > maxElements) return failure("has more elements than any memory");
    const Wide reach = Wide{size - 1} * view.strides[axis] * width;
    (reach < 0 ? first : past) += reach;
    if (first < -Wide{maxElements} || past > Wide{maxElements})
      return failure("its strides reach beyond any memory");
  }
  if (empty) {
    if (view.offset < 0) return failure("starts before its storage");
    return Extent{view.offset, view.offset};
  }
  return Extent{static_cast<int64_t>(first), static_cast<int64_t>(past)};
}

Status validate(const Launch& launch) {
  for (size_t i = 0; i < launch.storages.size(); ++i)
    if (launch.storages[i].bytes > maxStorageBytes)
      return failure(fmt::format("storage {} has {} bytes, the limit is {}", i,
                                 launch.storages[i].bytes, maxStorageBytes));
  for (const Argument& argument : launch.arguments) {
    Status status;
    switch (argument.kind) {
      case Argument::Kind::Tensor: status = validateView(argument.view, launch.storages, false); break;
      case Argument::Kind::Descriptor:
        status = validateView(argument.view, launch.storages, true);
        if (status && argument.blockShape.size() != argument.view.shape.size())
          status = failure(fmt::format("the block has {} axes, the tensor {}",
                                       argument.blockShape.size(), argument.view.shape.size()));
        break;
      case Argument::Kind::Scalar:
        if (argument.element == ir::ElementKind::Invalid) status = failure("has no element type");
        break;
      case Argument::Kind::Specialized: break;
    }
    if (!status) {
      Diagnostic error = status.error();
      error.message = fmt::format("argument {}: {}", argument.name, error.message);
      return failure(std::move(error));
    }
  }
  return {};
}

}  // namespace tilesight::launch
