// First NaNs, wrong elements and slices as Python dicts, each with its text.
#include <cstring>
#include <limits>
#include <optional>

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "report.h"
#include "trace/story.h"

namespace nb = nanobind;

namespace tilesight::binding {
namespace {

using trace::Values;

const findings::Painter kPlain(false);

template <typename Work>
auto released(Work&& work) {
  nb::gil_scoped_release without;
  return work();
}

nb::tuple tupleOf(const auto& numbers) {
  nb::list list;
  for (int64_t number : numbers) list.append(number);
  return nb::tuple(list);
}

nb::dict dictOf(const std::vector<trace::Iteration>& iterations) {
  nb::dict result;
  for (const trace::Iteration& i : iterations) result[nb::str(i.name.c_str())] = i.trip;
  return result;
}

/// Boxes as tuples of slices, which numpy indexing takes.
nb::dict dictOf(const trace::Region& region) {
  nb::list boxes;
  for (const trace::Box& box : region.boxes) {
    nb::list axes;
    for (size_t d = 0; d < box.first.size(); ++d) axes.append(nb::module_::import_("builtins").attr("slice")(box.first[d], box.past[d]));
    boxes.append(nb::tuple(axes));
  }
  nb::dict result;
  result["boxes"] = boxes;
  result["count"] = region.count;
  result["exact"] = region.exact;
  return result;
}

nb::dict dictOf(const trace::Slice& slice) {
  nb::list chain;
  for (const trace::Link& link : slice.chain) {
    nb::dict entry;
    entry["program"] = tupleOf(link.program);
    entry["name"] = link.name;
    entry["stored"] = link.store;
    entry["file"] = link.file;
    entry["line"] = link.line;
    entry["trip"] = dictOf(link.iterations);
    entry["times"] = link.times;
    entry["shape"] = tupleOf(link.shape);
    entry["elements"] = dictOf(link.elements);
    if (link.values.count == 1) entry["value"] = link.values.nan ? nb::float_(std::numeric_limits<double>::quiet_NaN())
                                                 : link.values.positiveInfinity ? nb::float_(std::numeric_limits<double>::infinity())
                                                 : link.values.negativeInfinity ? nb::float_(-std::numeric_limits<double>::infinity())
                                                                                : nb::float_(link.values.mean);
    chain.append(entry);
  }
  nb::dict sources;
  for (const trace::Source& source : slice.sources) {
    nb::dict entry = dictOf(source.region);
    entry["text"] = source.region.text(source.name);
    entry["outside"] = source.outside;
    entry["written_by_the_launch"] = source.mayHaveChanged;
    sources[nb::str(source.name.c_str())] = entry;
  }
  nb::dict result;
  result["program"] = tupleOf(slice.program);
  result["chain"] = chain;
  result["inputs"] = sources;
  result["scalars"] = nb::cast(slice.scalars);
  return result;
}

nb::dict dictOf(const Values& values, const trace::Written& written) {
  nb::dict result = dictOf(written.slice);
  result["value"] = written.value;
  result["line"] = values.sites()[written.site].line;
  result["file"] = values.sites()[written.site].file;
  result["trip"] = dictOf(written.iterations);
  result["element"] = tupleOf(trace::indexOfNumber(written.shape, written.element));
  return result;
}

nb::dict dictOf(const Values& values, const trace::NonFinite& found) {
  const trace::Site& site = values.sites()[found.site];
  nb::dict result = dictOf(found.slice);
  result["program"] = tupleOf(found.program);
  result["name"] = found.result < site.values.size() ? site.values[found.result].name : std::string();
  result["line"] = site.line;
  result["file"] = site.file;
  result["op"] = site.op;
  result["operation"] = found.operation;
  result["trip"] = dictOf(found.iterations);
  result["element"] = tupleOf(trace::indexOfNumber(found.shape, found.element));
  result["value"] = nb::float_(found.isNan ? std::numeric_limits<double>::quiet_NaN()
                               : found.value == "inf" ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity());
  nb::list operands;
  for (const trace::OperandSeen& operand : found.operands) operands.append(nb::make_tuple(operand.name, operand.value, dictOf(operand.elements)));
  result["operands"] = operands;
  return result;
}

nb::object firstNonFinite(const Values& values) {
  const trace::NonFiniteReport report = valueOf(released([&] { return trace::firstNonFinite(values); }));
  nb::dict result;
  result["text"] = trace::nonFiniteText(values, report, kPlain);
  result["first"] = report.first ? nb::object(dictOf(values, *report.first)) : nb::object(nb::none());
  result["nan"] = report.first && report.first->isNan ? nb::object(dictOf(values, *report.first))
                  : report.firstNan ? nb::object(dictOf(values, *report.firstNan)) : nb::object(nb::none());
  nb::dict inputs;
  for (const auto& input : report.inputs) inputs[nb::str(input.name.c_str())] = tupleOf(input.index);
  result["inputs"] = inputs;
  return result;
}

nb::dict explain(const Values& values, const std::string& tensor, const std::vector<int64_t>& shape, const nb::bytes& numbers,
                 std::optional<double> rtol, std::optional<double> atol) {
  const uint32_t argument = valueOf(trace::tensorNamed(values.launch(), tensor));
  trace::Expected expected;
  expected.shape = shape;
  expected.numbers.resize(numbers.size() / sizeof(double));
  std::memcpy(expected.numbers.data(), numbers.c_str(), expected.numbers.size() * sizeof(double));
  std::optional<trace::Tolerance> tolerance;
  if (rtol || atol) tolerance = {rtol.value_or(0), atol.value_or(0)};
  const trace::Mismatch m = valueOf(released([&] { return trace::compare(values, argument, expected, tolerance); }));
  nb::dict result;
  result["text"] = trace::mismatchText(values, m, kPlain);
  result["wrong"] = m.wrong;
  result["elements"] = dictOf(m.wrongElements);
  if (!m.wrong) return result;
  result["index"] = tupleOf(m.index);
  result["actual"] = m.actual;
  result["expected"] = m.expected;
  result["writers"] = m.writers;
  result["program"] = m.written ? nb::object(tupleOf(m.program)) : nb::object(nb::none());
  if (m.store) result["written"] = dictOf(values, *m.store);
  return result;
}

nb::dict sliceOf(const Values& values, const std::string& tensor, const std::vector<int64_t>& index) {
  const uint32_t argument = valueOf(trace::tensorNamed(values.launch(), tensor));
  const trace::Written written = valueOf(released([&] { return trace::sliceOfElement(values, argument, index); }));
  nb::dict result = dictOf(values, written);
  std::string element = tensor;
  for (size_t d = 0; d < index.size(); ++d) element += (d ? ", " : "[") + std::to_string(index[d]);
  if (!index.empty()) element += "]";
  result["text"] = trace::writtenText(values, element, written, kPlain);
  return result;
}

}  // namespace

void defineStories(nb::module_& module) {
  module.def("first_non_finite", &firstNonFinite, nb::arg("values"), "The first NaN or infinity that is made: a dict.");
  module.def("explain", &explain, nb::arg("values"), nb::arg("tensor"), nb::arg("shape"), nb::arg("numbers"), nb::arg("rtol").none(),
             nb::arg("atol").none(), "Compares an output with float64 numbers, row-major: a dict.");
  module.def("slice_of", &sliceOf, nb::arg("values"), nb::arg("tensor"), nb::arg("index"), "Where an element of a tensor came from: a dict.");
}

}  // namespace tilesight::binding
