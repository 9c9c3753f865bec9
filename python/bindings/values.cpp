#include "values.h"

#include <cstring>
#include <optional>
#include <tuple>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "ir/float_format.h"
#include "report.h"

namespace nb = nanobind;

namespace tilesight::binding {
namespace {

using trace::Value;
using trace::Values;

std::array<int64_t, 3> programOf(const nb::tuple& program) {
  return {nb::cast<int64_t>(program[0]), nb::cast<int64_t>(program[1]), nb::cast<int64_t>(program[2])};
}

nb::bytes bytesOf(const std::vector<uint8_t>& bytes) { return nb::bytes(bytes.data(), bytes.size()); }

template <typename T>
nb::bytes column(const std::vector<T>& values) {
  return nb::bytes(values.data(), values.size() * sizeof(T));
}

// Formats that numpy lacks come as f32, which holds all of their values.
bool inNumpy(ir::ElementKind kind) {
  using Kind = ir::ElementKind;
  return !ir::isFloatKind(kind) || kind == Kind::F16 || kind == Kind::F32 || kind == Kind::F64 || kind == Kind::TF32;
}

std::vector<uint8_t> widened(const Value& value) {
  const size_t size = ir::elementBytes(value.element), count = value.bytes.size() / std::max<size_t>(size, 1);
  std::vector<uint8_t> bytes(count * sizeof(float));
  for (size_t i = 0; i < count; ++i) {
    uint64_t bits = 0;
    std::memcpy(&bits, value.bytes.data() + i * size, size);
    const float number = static_cast<float>(ir::bitsToFloat(bits, value.element));
    std::memcpy(bytes.data() + i * sizeof number, &number, sizeof number);
  }
  return bytes;
}

nb::dict dictOf(const Values& values, const Value& value) {
  const trace::Site& site = values.sites()[value.site];
  const trace::Named& named = (value.operand ? site.operands : site.values)[value.number];
  nb::dict result;
  result["element"] = ir::elementName(value.element);
  nb::list shape;
  for (int64_t size : value.shape) shape.append(size);
  result["shape"] = nb::tuple(shape);
  result["bytes"] = bytesOf(inNumpy(value.element) ? value.bytes : widened(value));
  result["text"] = value.text;
  if (value.element == ir::ElementKind::Pointer) {
    result["arguments"] = column(value.arguments);
    result["offsets"] = column(value.offsets);
  }
  nb::dict trips, variables;
  for (const trace::Iteration& i : value.iterations) {
    trips[nb::str(i.name.c_str())] = i.trip;
    variables[nb::str(i.name.c_str())] = i.value;
  }
  result["trips"] = trips;
  result["variables"] = variables;
  result["occurrence"] = value.occurrence;
  result["occurrences"] = value.occurrences;
  result["name"] = named.name.empty() ? named.ssa : named.name;
  result["type"] = named.type;
  result["file"] = named.file;
  result["line"] = named.line;
  result["op"] = site.op;
  result["operation"] = site.operation;
  result["step"] = value.step;
  return result;
}

trace::Query queryOf(const nb::tuple& program, std::optional<uint32_t> op, uint32_t result, std::optional<uint32_t> operand,
                     const std::string& file, uint32_t line, const std::string& name,
                     const std::vector<std::tuple<std::string, int64_t, bool>>& trips, std::optional<int64_t> occurrence) {
  trace::Query query;
  query.program = programOf(program);
  query.op = op;
  query.result = result;
  query.operand = operand;
  query.file = file;
  query.line = line;
  query.name = name;
  for (const auto& [loop, number, isValue] : trips) query.trips.push_back({loop, number, isValue});
  query.occurrence = occurrence;
  return query;
}

template <typename Work>
auto released(Work&& work) {
  nb::gil_scoped_release without;
  return work();
}

nb::dict names(const Values& values, const std::string& file) {
  nb::dict result;
  for (const auto& [line, all] : trace::namesByLine(values, file)) {
    nb::list list;
    for (const std::string& name : all) list.append(nb::str(name.c_str()));
    result[nb::int_(line)] = list;
  }
  return result;
}

/// (argument, name, dtype, shape, strides in elements) of the tensors.
nb::list tensors(const Values& values) {
  nb::list result;
  const auto& arguments = values.launch().arguments;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const launch::Argument& a = arguments[i];
    if (a.kind != launch::Argument::Kind::Tensor && a.kind != launch::Argument::Kind::Descriptor) continue;
    nb::list shape, strides;
    for (int64_t size : a.view.shape) shape.append(size);
    for (int64_t stride : a.view.strides) strides.append(stride);
    result.append(nb::make_tuple(i, a.name, a.view.dtype, nb::tuple(shape), nb::tuple(strides)));
  }
  return result;
}

std::shared_ptr<Values> valuesOfReport(Report& report) {
  if (!report.inputs)
    throw Error("the inputs of this launch of " + report.launch.kernel +
                " were not kept, so its values cannot be computed again: ask for client=\"tracer\" (or a list with it), set "
                "ts.config.keep_inputs = \"1G\" before the launch, or save it with `tilesight run --save run.tsb` and ts.load it");
  auto launch = report.inputs.get();
  if (!report.values) {
    if (!report.kernel) throw Error("this launch was not executed, so it has no values");
    report.values = valueOf(released([&] { return Values::of(report.kernel, launch); }));
  }
  report.values->compareWith(report.inputs.left(), report.inputs.lost());
  return report.values;
}

}  // namespace

void defineValues(nb::module_& module) {
  nb::class_<Values>(module, "Values", "The values of one launch, computed again.")
      .def("at",
           [](const Values& values, const nb::tuple& program, std::optional<uint32_t> op, uint32_t result,
              std::optional<uint32_t> operand, const std::string& file, uint32_t line, const std::string& name,
              const std::vector<std::tuple<std::string, int64_t, bool>>& trips, std::optional<int64_t> occurrence) {
             const trace::Query query = queryOf(program, op, result, operand, file, line, name, trips, occurrence);
             return dictOf(values, valueOf(released([&] { return values.at(query); })));
           },
           nb::arg("program"), nb::arg("op").none(), nb::arg("result"), nb::arg("operand").none(), nb::arg("file"), nb::arg("line"),
           nb::arg("name"), nb::arg("trips"), nb::arg("occurrence").none())
      .def("all",
           [](const Values& values, const nb::tuple& program, std::optional<uint32_t> op, uint32_t result,
              std::optional<uint32_t> operand, const std::string& file, uint32_t line, const std::string& name,
              const std::vector<std::tuple<std::string, int64_t, bool>>& trips, size_t limit) {
             const trace::Query query = queryOf(program, op, result, operand, file, line, name, trips, {});
             nb::list list;
             for (const Value& value : valueOf(released([&] { return values.all(query, limit); }))) list.append(dictOf(values, value));
             return list;
           },
           nb::arg("program"), nb::arg("op").none(), nb::arg("result"), nb::arg("operand").none(), nb::arg("file"), nb::arg("line"),
           nb::arg("name"), nb::arg("trips"), nb::arg("limit"))
      .def("names", &names, nb::arg("file"))
      .def("tensors", &tensors);
  module.def("values", &valuesOfReport, nb::arg("report"), "The values of a launch. Raises Error if its inputs are gone.");
}

}  // namespace tilesight::binding
