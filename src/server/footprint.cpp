#include "server/footprint.h"

#include <charconv>
#include <map>

#include <fmt/format.h>

#include "findings/json_values.h"
#include "ir/type.h"
#include "server/elements.h"
#include "tilesight/client.hpp"
#include "trace/expect.h"

namespace tilesight::server {
namespace {

constexpr size_t kMaxBrushed = 1 << 20;

class Footprint {
 public:
  static constexpr const char* name = "footprint";
  static constexpr uint32_t needs = TS_NEED_ADDRESSES | TS_NEED_PROGRAMS;

  Footprint(const ts_host& host, const char*) : rows_(host) {}
  void visit(const std::function<void(const Touch&)>* visit) { visit_ = visit; }

  void argument(const ts_argument& argument) {
    if (argument.index >= first_.size()) first_.resize(argument.index + 1);
    if (argument.is_tensor)
      first_[argument.index] = {static_cast<int64_t>(argument.address), std::max<int64_t>(1, ir::elementBytes(static_cast<ir::ElementKind>(argument.element)))};
  }
  void program_begin(const ts_program&) { occurrences_.clear(); }
  void on_load(const ts_access& access) { take(access, true, false); }
  void on_store(const ts_access& access) { take(access, false, true); }
  void on_atomic(const ts_access& access) { take(access, true, true); }

 private:
  void take(const ts_access& access, bool reads, bool writes) {
    Touch touch;
    touch.program = access.program->linear;
    touch.op = access.op;
    touch.occurrence = occurrences_[access.op]++;
    touch.read = reads, touch.write = writes;
    rows_.each(access, [&](int32_t argument, int64_t address, int64_t elements, int64_t times) {
      if (argument < 0 || static_cast<size_t>(argument) >= first_.size() || !first_[static_cast<size_t>(argument)].second) return;
      const auto [start, size] = first_[static_cast<size_t>(argument)];
      const int64_t from = address - start;
      touch.argument = argument;
      touch.first = from >= 0 ? from / size : -((-from + size - 1) / size);
      touch.count = (elements * access.element_bytes + size - 1) / size;
      touch.times = times;
      (*visit_)(touch);
    });
  }

  Rows rows_;
  const std::function<void(const Touch&)>* visit_ = nullptr;
  std::vector<std::pair<int64_t, int64_t>> first_;  // address, element size; size 0: no tensor
  std::map<uint32_t, uint32_t> occurrences_;
};

/// Does the access of this step, as it has pointers for operands, touch the element?
bool touches(const std::vector<trace::Value>& values, size_t argument, int64_t offset) {
  const trace::Value *pointers = nullptr, *mask = nullptr;
  for (const trace::Value& value : values) {
    if (!value.operand) continue;
    if (!pointers && value.element == ir::ElementKind::Pointer) pointers = &value;
    else if (pointers && value.element == ir::ElementKind::I1 && !mask) mask = &value;
  }
  if (!pointers) return false;
  for (size_t i = 0; i < pointers->offsets.size(); ++i)
    if (pointers->offsets[i] == offset && pointers->arguments[i] == static_cast<int32_t>(argument) &&
        (!mask || mask->bytes[mask->bytes.size() == 1 ? 0 : i]))
      return true;
  return false;
}

struct Written {
  int64_t step = -1;
  uint32_t op = 0;
  std::vector<trace::Iteration> iterations;
  uint32_t operand = 1;  // the tile that is written
};

bool isAtomicOrStore(const std::string& operation) {
  return operation.find("store") != operation.npos || operation.find("atomic") != operation.npos || operation.find("scatter") != operation.npos ||
         operation.find("reduce") != operation.npos;
}

Result<Written> lastWrite(const Loaded& loaded, int64_t program, size_t argument, int64_t offset) {
  Written written;
  std::optional<Touch> last;
  Status status = footprint(loaded, {program}, [&](const Touch& t) {
    if (t.write && t.argument == static_cast<int32_t>(argument) && offset >= t.first && offset < t.first + t.count) last = t;
  });
  if (!status) return failure(status.error());
  if (!last) return written;
  written.op = last->op;
  auto values = loaded.values();
  if (!values) return failure(values.error());
  const auto& sites = (*values)->sites();
  // The step: by its pointers; accesses by descriptors have none, so by counting.
  uint32_t seen = 0;
  int64_t at = 0, counted = -1;
  std::vector<trace::Iteration> countedIterations;
  status = (*values)->each(loaded.programId(program), true, [&](std::vector<trace::Value>& step) {
    const int64_t number = at++;
    if (step.empty()) return true;
    const trace::Site& site = sites[step.front().site];
    if (site.op != last->op || site.what != trace::Site::What::Operation || !isAtomicOrStore(site.operation)) return true;
    if (seen++ == last->occurrence) counted = number, countedIterations = step.front().iterations;
    if (touches(step, argument, offset)) written.step = number, written.iterations = step.front().iterations;
    return true;
  });
  if (!status) return failure(status.error());
  if (written.step < 0) written.step = counted, written.iterations = std::move(countedIterations);
  return written;
}

}  // namespace

Status footprint(const Loaded& loaded, const std::vector<int64_t>& programs, const std::function<void(const Touch&)>& visit) {
  Footprint client(exec::host(), "");
  client.visit(&visit);
  auto report = loaded.replay(programs, {{&client_table<Footprint>(), "", &client}});
  if (!report) return failure(report.error());
  return {};
}

Result<std::vector<int64_t>> brushed(const Loaded& loaded, const std::string& text) {
  int64_t range[4] = {};
  const char* at = text.data();
  const char* end = at + text.size();
  for (int i = 0; i < 4; ++i) {
    const auto [next, error] = std::from_chars(at, end, range[i]);
    if (error != std::errc() || (i < 3 ? next == end || *next != (i == 1 ? ',' : '-') : next != end)) return failure("a part of the grid is written as 0-3,2-5");
    at = next + 1;
  }
  const auto& grid = loaded.launch().grid;
  if (range[0] < 0 || range[2] < 0 || range[1] >= grid[0] || range[3] >= grid[1] || range[0] > range[1] || range[2] > range[3])
    return failure("this part lies outside of the grid");
  std::vector<int64_t> programs;
  for (int64_t z = 0; z < grid[2]; ++z)
    for (int64_t y = range[2]; y <= range[3]; ++y)
      for (int64_t x = range[0]; x <= range[1]; ++x) {
        if (programs.size() >= kMaxBrushed) return failure("this part of the grid is too large");
        programs.push_back(x + grid[0] * (y + grid[1] * z));
      }
  return programs;
}

Result<std::string> elementJson(const Loaded& loaded, size_t argument, const std::vector<int64_t>& index) {
  using findings::Json;
  if (argument >= loaded.launch().arguments.size() || loaded.launch().arguments[argument].kind != launch::Argument::Kind::Tensor)
    return failure("there is no such tensor");
  const launch::View& view = loaded.launch().arguments[argument].view;
  if (index.size() != view.shape.size()) return failure("the index has another number of axes than the tensor");
  int64_t offset = 0, low = 0;
  for (size_t d = 0; d < index.size(); ++d) {
    if (index[d] < 0 || index[d] >= view.shape[d]) return failure("the index lies outside of the tensor");
    offset += index[d] * view.strides[d];
    low += std::min<int64_t>(0, (view.shape[d] - 1) * view.strides[d]);
  }
  Json json{{"index", index}, {"reads", 0}, {"writes", 0}, {"first", -1}, {"writer", nullptr}, {"value", Json::object()}};
  const int64_t bytes = std::max<int64_t>(1, ir::elementBytes(view.element));
  const auto text = [&](const launch::Launch& launch) {
    return elementText(view.element, launch.storages[view.storage].data + view.offset + offset * bytes);
  };
  if (!loaded.launch().storages[view.storage].withheld) {
    json["value"]["after"] = text(*loaded.surveyed()->after);
    json["value"]["before"] = text(loaded.launch());
  }
  const ElementMap& map = loaded.surveyed()->survey->maps()[argument];
  if (!map.counts()) return findings::dumped(json, -1);
  const int64_t at = offset - low + map.margin();
  int64_t program = map.writer(at);
  bool shared = map.isShared(at);
  if (map.cell() == 1 && !map.overflowed()) {
    json["reads"] = map.reads(at), json["writes"] = map.writes(at);
    json["first"] = map.first(at);
  } else {
    json["reads"] = json["writes"] = json["first"] = nullptr;
  }
  if (program >= 0 && map.cell() > 1) {  // of some element of the cell: the launch runs again to find who wrote this one
    auto values = loaded.values();
    if (!values) return failure(values.error());
    auto found = trace::writerOf(**values, static_cast<uint32_t>(argument), index);
    if (!found) return failure(found.error());
    const auto& grid = loaded.launch().grid;
    program = found->program ? (*found->program)[0] + grid[0] * ((*found->program)[1] + grid[1] * (*found->program)[2]) : -1;
    shared = found->programs > 1;
  }
  if (program < 0) return findings::dumped(json, -1);
  auto written = lastWrite(loaded, program, argument, offset);
  if (!written) return failure(written.error());
  Json writer{{"program", program}, {"shared", shared}, {"step", written->step}, {"op", written->op},
              {"file", ""}, {"line", 0}, {"variable", ""}, {"operand", written->operand}, {"iterations", Json::array()}};
  for (const ShownOp& op : loaded.shown.ops)
    if (op.number == written->op) writer["file"] = op.file, writer["line"] = op.fileLine, writer["variable"] = op.variable;
  for (const trace::Iteration& i : written->iterations) writer["iterations"].push_back({{"name", i.name}, {"value", i.value}, {"trip", i.trip}});
  json["writer"] = writer;
  return findings::dumped(json, -1);
}

}  // namespace tilesight::server
