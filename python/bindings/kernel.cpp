// Kernels: MLIR text, compiled once.
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "binding.h"

namespace nb = nanobind;

namespace tilesight::binding {
namespace {

Kernel compile(const std::string& text, const std::string& file) {
  Kernel kernel;
  {
    nb::gil_scoped_release released;
    kernel.compiled = valueOf(exec::compile(text, file));
  }
  kernel.prototype.irText = text;
  kernel.prototype.irName = file;
  return kernel;
}

void describe(Kernel& kernel, std::string name, std::string config, std::string tritonVersion,
              std::string target, std::map<std::string, std::string> sources) {
  kernel.prototype.kernel = std::move(name);
  kernel.prototype.config = std::move(config);
  kernel.prototype.tritonVersion = std::move(tritonVersion);
  kernel.prototype.target = std::move(target);
  kernel.prototype.sources = std::move(sources);
}

std::vector<std::string> parameters(const Kernel& kernel) {
  std::vector<std::string> result;
  for (const auto& parameter : exec::info(*kernel.compiled).parameters)
    result.push_back(parameter.name + ": " + parameter.type);
  return result;
}

}  // namespace

void defineKernel(nb::module_& module) {
  nb::class_<Kernel>(module, "Kernel", "A compiled kernel.")
      .def("describe", &describe, nb::arg("name"), nb::arg("config"), nb::arg("triton_version"),
           nb::arg("target"), nb::arg("sources"), "What all launches of the kernel have in common.")
      .def_prop_ro("parameters", &parameters, "The parameters of its IR: \"name: type\".");
  module.def("compile", &compile, nb::arg("text"), nb::arg("file"),
             "Compiles MLIR text; `file` is its name in messages.");
}

}  // namespace tilesight::binding
