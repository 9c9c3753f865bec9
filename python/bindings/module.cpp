// tilesight._native: the engine, sessions, bundles and the command line for Python.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "binding.h"
#include "trace_folder.h"
#include "pager.h"
#include "tools/tools.h"
#include "report.h"

namespace nb = nanobind;

namespace tilesight::binding {

std::string textOf(const Diagnostic& diagnostic) {
  if (!diagnostic.file.empty()) return diagnostic.str();
  return diagnostic.remedy.empty() ? diagnostic.message
                                   : diagnostic.message + " (" + diagnostic.remedy + ")";
}

void check(const Status& status) {
  if (!status) throw Error(textOf(status.error()));
}

namespace {

/// Runs a command of `tilesight`; `arguments` begin with the program's name.
int runMain(std::vector<std::string> arguments) {
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  nb::gil_scoped_release released;
  return tools::main(static_cast<int>(arguments.size()), pointers.data());
}

}  // namespace
}  // namespace tilesight::binding

NB_MODULE(_native, module) {
  using namespace tilesight::binding;
  module.doc() = "The native part of Tilesight.";
  nb::set_leak_warnings(false);  // Python keeps modules until its very end
  // The exception types live as long as the interpreter.
  const nb::module_ errors = nb::module_::import_("tilesight.errors");
  static PyObject* errorType = nb::object(errors.attr("Error")).release().ptr();
  static PyObject* internalType = nb::object(errors.attr("InternalError")).release().ptr();
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const Error& error) {
      PyErr_SetString(errorType, error.what());
    } catch (const InternalError& error) {
      PyErr_SetString(internalType, error.what());
    }
  });
  defineKernel(module);
  definePager(module);
  defineTrace(module);
  defineReport(module);
  defineLaunch(module);
  defineSession(module);
  defineBundle(module);
  defineValues(module);
  defineStories(module);
  definePasses(module);
  defineTraceFolder(module);
  module.def("main", &runMain, nb::arg("arguments"), "Runs a command; returns its exit status.");
}
