#include "trace/capture.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tilesight::trace {

namespace {

using exec::Form;
using exec::Machine;
using exec::Tile;

// The argument's name, or the address.
std::string pointerText(Machine& machine, int64_t address, int32_t origin) {
  const exec::ViewInfo* view = machine.context().memory->view(origin);
  if (!view) return fmt::format("{:#x}", address);
  const int64_t bytes = address - view->address;
  return bytes ? fmt::format("{}{:+} bytes", view->name, bytes) : view->name;
}

std::string describe(Machine& machine, const exec::ViewValue& view) {
  std::string text = fmt::format("view of {} at {}, shape [{}], strides [{}], blocks [{}]", ir::elementName(view.element),
                                 pointerText(machine, view.address, view.origin), fmt::join(view.shape, ", "),
                                 fmt::join(view.stride, ", "), fmt::join(view.block, ", "));
  for (int64_t offset : view.offset)
    if (offset) return text + fmt::format(", offsets [{}]", fmt::join(view.offset, ", "));
  return text;
}

void fillPointers(Machine& machine, const Tile& tile, Value& value) {
  const auto* address = reinterpret_cast<const int64_t*>(value.bytes.data());
  const int64_t count = tile.numel();
  value.arguments.resize(static_cast<size_t>(count));
  value.offsets.resize(static_cast<size_t>(count));
  int32_t known = exec::kOriginMixed;
  const exec::ViewInfo* view = nullptr;
  for (int64_t i = 0; i < count; ++i) {
    const int32_t origin = exec::originAt(tile, i);
    if (origin != known) {
      known = origin;
      view = origin >= 0 ? machine.context().memory->view(origin) : nullptr;
    }
    value.arguments[i] = view ? origin : -1;
    const int64_t bytes = address[i] - (view ? view->address : 0);
    const int64_t size = view && view->elementBytes ? view->elementBytes : 1;
    value.offsets[i] = bytes / size - (bytes % size < 0);
  }
}

}  // namespace

void fill(Machine& machine, const Tile& tile, Value& value) {
  value.element = tile.kind;
  if (tile.form == Form::View) {
    value.text = describe(machine, *tile.view);
    return;
  }
  if (tile.form == Form::Empty) return;
  value.shape = tile.shape->dims;
  const Tile dense = exec::contiguous(machine.pool(), tile);
  value.bytes.assign(dense.data(), dense.data() + dense.numel() * dense.elementBytes());
  if (tile.kind == ir::ElementKind::Pointer) fillPointers(machine, tile, value);
}

}  // namespace tilesight::trace
