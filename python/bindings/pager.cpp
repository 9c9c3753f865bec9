#include "pager.h"

#include "binding.h"
#include "launch/memory.h"

namespace nb = nanobind;

namespace tilesight::binding {
namespace {

nb::object viewOf(uint8_t* data, uint64_t bytes) {
  return nb::steal(PyMemoryView_FromMemory(reinterpret_cast<char*>(data), static_cast<Py_ssize_t>(bytes), PyBUF_WRITE));
}

/// Lazily zeroed host memory of the size of a storage, and its pager.
class DevicePager {
 public:
  DevicePager(uint64_t bytes, nb::object fetch) : fetch_(std::move(fetch)), host_(valueOf(launch::allocate(bytes, {}))) {
    pager_ = std::make_shared<launch::Pager>(host_.get(), bytes, [this](uint64_t from, uint64_t count, uint8_t* to) {
      return call(from, count, to);
    });
  }
  DevicePager(const DevicePager&) = delete;

  const std::shared_ptr<launch::Pager>& pager() const { return pager_; }
  const std::shared_ptr<uint8_t>& host() const { return host_; }
  uintptr_t address() const { return reinterpret_cast<uintptr_t>(host_.get()); }

  /// put(from, bytes of the host memory) for each run of pages that changed; returns the runs.
  nb::list writeBack(const nb::object& put) const {
    nb::list runs;
    for (const launch::Pager::Span& run : pager_->changed()) {
      put(run.from, viewOf(host_.get() + run.from, run.to - run.from));
      runs.append(nb::make_tuple(run.from, run.to));
    }
    return runs;
  }

 private:
  // From any thread of the engine, which holds no GIL.
  Status call(uint64_t from, uint64_t count, uint8_t* to) const {
    nb::gil_scoped_acquire held;
    try {
      fetch_(from, viewOf(to, count));
      return {};
    } catch (const nb::python_error& error) {
      return failure(std::string(nb::str(error.type().attr("__name__")).c_str()) + ": " + nb::str(error.value()).c_str());
    } catch (const std::exception& error) {
      return failure(error.what());
    }
  }

  nb::object fetch_;
  std::shared_ptr<uint8_t> host_;
  std::shared_ptr<launch::Pager> pager_;
};

nb::list spans(const DevicePager& self) {
  nb::list result;
  for (const launch::Pager::Span& span : self.pager()->fetched()) result.append(nb::make_tuple(span.from, span.to));
  return result;
}

}  // namespace

std::shared_ptr<launch::Pager> pagerOf(nb::handle object, std::shared_ptr<void>* host) {
  const auto& pager = nb::cast<const DevicePager&>(object);
  *host = pager.host();
  return pager.pager();
}

void definePager(nb::module_& module) {
  nb::class_<DevicePager>(module, "Pager", "Host memory that is filled page by page when a launch touches it.")
      .def(nb::init<uint64_t, nb::object>(), nb::arg("bytes"), nb::arg("fetch"),
           "fetch(from, view) fills the memoryview with the bytes from byte `from` on.")
      .def_prop_ro("address", &DevicePager::address)
      .def_prop_ro("fetched", &spans, "(from, to) of each fetch so far.")
      .def("write_back", &DevicePager::writeBack, nb::arg("put"),
           "put(from, view) for each run of changed pages; returns their (from, to).");
}

}  // namespace tilesight::binding
