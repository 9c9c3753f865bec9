#include "trace.h"

#include <set>
#include <vector>

#include <nanobind/stl/string.h>

#include "binding.h"
#include "clients/tracer/replay.h"
#include "exec/kernel.h"
#include "report.h"
#include "trace/copies.h"

namespace nb = nanobind;

namespace tilesight::binding {

TracerInstance::TracerInstance(std::shared_ptr<const exec::Kernel> kernel)
    : kernel_(std::move(kernel)), self_(clients::tracer().create(nullptr, "")) {}

TracerInstance::~TracerInstance() { clients::tracer().destroy(self_); }

namespace {

using clients::TraceRecord;

template <typename Member>
nb::bytes column(const std::vector<TraceRecord>& records, Member member) {
  using Value = std::decay_t<decltype(records.front().*member)>;
  std::vector<Value> values;
  values.reserve(records.size());
  for (const TraceRecord& record : records) values.push_back(record.*member);
  return nb::bytes(values.data(), values.size() * sizeof(Value));
}

/// Name -> bytes of a column; tilesight/trace.py knows their types.
nb::dict columns(const TracerInstance& instance) {
  const std::vector<TraceRecord>& records = instance.trace().records;
  nb::dict result;
  result["program"] = column(records, &TraceRecord::program);
  result["base"] = column(records, &TraceRecord::base);
  result["op"] = column(records, &TraceRecord::op);
  result["pattern"] = column(records, &TraceRecord::pattern);
  result["active"] = column(records, &TraceRecord::active);
  result["argument"] = column(records, &TraceRecord::argument);
  result["kind"] = column(records, &TraceRecord::kind);
  result["faults"] = column(records, &TraceRecord::faults);
  result["m"] = column(records, &TraceRecord::m);
  result["n"] = column(records, &TraceRecord::n);
  return result;
}

nb::tuple numbers(const std::vector<int64_t>& values) {
  nb::list list;
  for (int64_t value : values) list.append(value);
  return nb::tuple(list);
}

/// One dict a pattern, in the order of their numbers.
nb::list patterns(const TracerInstance& instance) {
  nb::list result;
  for (const clients::TracePattern& pattern : instance.trace().patterns) {
    nb::dict entry;
    entry["form"] = pattern.form;
    entry["mask_form"] = pattern.maskForm;
    entry["mask_all"] = pattern.maskAll != 0;
    entry["element_bytes"] = pattern.elementBytes;
    entry["shape"] = numbers(pattern.shape);
    entry["strides"] = numbers(pattern.strides);
    entry["lo"] = numbers(pattern.lo);
    entry["hi"] = numbers(pattern.hi);
    result.append(entry);
  }
  return result;
}

/// Number of an operation -> (name, file, line, column), for those that occur.
nb::dict operations(const TracerInstance& instance) {
  std::set<uint32_t> numbers;
  for (const TraceRecord& record : instance.trace().records) numbers.insert(record.op);
  nb::dict result;
  for (uint32_t number : numbers) {
    const ir::Operation* operation = instance.kernel().operation(number);
    if (!operation) continue;
    const ir::LocationStorage* place = operation->location.file();
    result[nb::int_(number)] = nb::make_tuple(operation->name, place ? place->text : std::string(),
                                              place ? place->line : 0, place ? place->column : 0);
  }
  return result;
}

/// Addresses (int64) and mask (uint8) of access `ordinal` of a program, as bytes: the launch runs again
/// up to that program on a copy of the inputs it was given.
nb::tuple replay(const TracerInstance& instance, const Report& report, int64_t program, int64_t ordinal) {
  if (!report.inputs) throw Error("the inputs of this launch are gone: set ts.config.keep_inputs = \"64M\" before it");
  const std::shared_ptr<const launch::Launch> inputs = report.inputs.get();
  clients::AccessElements elements;
  {
    nb::gil_scoped_release released;
    const std::shared_ptr<launch::Launch> copy = trace::copyForRun(instance.kernel(), *inputs);
    elements = valueOf(clients::replayAccess(instance.kernel(), *copy, program, ordinal));
  }
  return nb::make_tuple(nb::bytes(elements.addresses.data(), elements.addresses.size() * sizeof(int64_t)),
                        nb::bytes(elements.mask.data(), elements.mask.size()));
}

}  // namespace

void defineTrace(nb::module_& module) {
  nb::class_<TracerInstance>(module, "Trace", "What the tracer recorded of one launch.")
      .def("columns", &columns)
      .def("patterns", &patterns)
      .def("operations", &operations)
      .def("replay", &replay, nb::arg("report"), nb::arg("program"), nb::arg("ordinal"))
      .def("__len__", [](const TracerInstance& instance) { return instance.size(); });
}

}  // namespace tilesight::binding
