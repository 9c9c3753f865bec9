// Memory on a device, for Python: tilesight/capture/device_memory.py has the other half.
#pragma once

#include <memory>

#include <nanobind/nanobind.h>

#include "launch/pager.h"

namespace tilesight::binding {

/// The pager of a Python object of type Pager, which must outlive its use; `*host` keeps its memory.
std::shared_ptr<launch::Pager> pagerOf(nanobind::handle object, std::shared_ptr<void>* host);

void definePager(nanobind::module_& module);

}  // namespace tilesight::binding
