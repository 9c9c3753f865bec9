#include "frontends/added.h"

#include <mutex>

#include "dialects/table.h"

namespace tilesight::frontends {

namespace {

std::mutex mutex;

AddedLowering& current() {
  static AddedLowering lowering;
  return lowering;
}

}  // namespace

void setAddedLowering(AddedLowering lowering) {
  std::lock_guard lock(mutex);
  current() = std::move(lowering);
}

std::optional<ir::Module> lowerAdded(const ir::Module& source) {
  const bool none = ir::walk(*source.top, [](ir::Operation& op) { return !op.info || !op.info->added; });
  if (none) return std::nullopt;
  AddedLowering lowering;
  {
    std::lock_guard lock(mutex);
    lowering = current();
  }
  if (!lowering) return std::nullopt;
  return lowering(source);
}

}  // namespace tilesight::frontends
