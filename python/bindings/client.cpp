#include "client.h"

#include <nanobind/stl/set.h>
#include <nanobind/stl/string.h>

#include "binding.h"
#include "exec/machine.h"
#include "exec/source_line.h"

namespace nb = nanobind;

namespace tilesight::binding {

/// What one range of programs did.
struct PythonClient::Range {
  PythonClient* client;
  int64_t order = 0;
  AccessColumns loads, stores, atomics, copies;
  ComputeColumns dots, reduces;
  IterationColumns iterations;
  ProgramColumns begins, ends;
  std::map<uint32_t, Place> places;
};

namespace {

const std::map<std::string, uint32_t>& needBits() {
  static const std::map<std::string, uint32_t> bits{
      {"addresses", TS_NEED_ADDRESSES}, {"elements", TS_NEED_ADDRESSES}, {"values", TS_NEED_VALUES},
      {"compute", TS_NEED_COMPUTE},     {"programs", TS_NEED_PROGRAMS},  {"loops", TS_NEED_LOOPS},
      {"order", TS_NEED_ORDER},         {"promises", TS_NEED_PROMISES}};
  return bits;
}

void appendAddresses(AccessColumns& columns, const ts_access& access, bool elements) {
  if (access.form == TS_FORM_SEPARABLE) {
    for (uint32_t d = 0; d < access.rank; ++d) {
      const int64_t* axis = access.axis ? access.axis[d] : nullptr;
      columns.numbers.push_back(axis != nullptr);
      if (axis) columns.numbers.insert(columns.numbers.end(), axis, axis + access.shape[d]);
    }
  } else if (access.form == TS_FORM_DENSE && elements) {
    const size_t at = columns.numbers.size();
    columns.numbers.resize(at + access.elements);
    exec::host().addresses(&access, columns.numbers.data() + at);
  }
}

void appendMask(AccessColumns& columns, const ts_access& access, bool elements) {
  const ts_mask& mask = access.mask;
  if (mask.form == TS_FORM_SEPARABLE) {
    for (uint32_t d = 0; d < access.rank; ++d) {
      const uint8_t* axis = mask.axis ? mask.axis[d] : nullptr;
      columns.bytes.push_back(axis != nullptr);
      if (axis) columns.bytes.insert(columns.bytes.end(), axis, axis + access.shape[d]);
    }
  } else if (mask.form == TS_FORM_DENSE && elements) {
    const size_t at = columns.bytes.size();
    columns.bytes.resize(at + access.elements);
    exec::host().mask_bytes(&access, columns.bytes.data() + at);
  }
}

void appendValues(AccessColumns& columns, const ts_access& access) {
  const size_t bytes = static_cast<size_t>(access.elements) * access.element_bytes;
  for (uint32_t which : {TS_VALUE, TS_BEFORE, TS_COMPARED}) {
    const size_t at = columns.values.size();
    columns.values.resize(at + bytes);
    const bool there = exec::host().values(&access, which, columns.values.data() + at) != 0;
    columns.valueStart[which].push_back(there ? static_cast<int64_t>(at) : -1);
    if (!there) columns.values.resize(at);
  }
}

void append(AccessColumns& columns, const ts_access& access, int64_t order, bool elements, bool values) {
  columns.program.push_back(access.program->linear);
  columns.order.push_back(order);
  columns.op.push_back(access.op);
  columns.kind.push_back(static_cast<uint8_t>(access.kind));
  columns.faults.push_back(access.faults);
  columns.argument.push_back(access.argument);
  columns.elementBytes.push_back(access.element_bytes);
  columns.element.push_back(static_cast<uint8_t>(access.element));
  columns.sem.push_back(static_cast<uint8_t>(access.sem));
  columns.scope.push_back(static_cast<uint8_t>(access.scope));
  columns.elements.push_back(access.elements);
  columns.active.push_back(access.active);
  columns.base.push_back(access.base);
  columns.rank.push_back(access.rank);
  columns.form.push_back(static_cast<uint8_t>(access.form));
  columns.maskForm.push_back(static_cast<uint8_t>(access.mask.form));
  columns.maskAll.push_back(access.mask.form != TS_FORM_SPLAT || access.mask.all);
  columns.start.push_back(static_cast<int64_t>(columns.numbers.size()));
  columns.maskStart.push_back(static_cast<int64_t>(columns.bytes.size()));
  const bool strided = access.form == TS_FORM_AFFINE || access.form == TS_FORM_SEPARABLE;
  const bool boxed = access.mask.form == TS_FORM_AFFINE || access.mask.form == TS_FORM_SEPARABLE;
  const auto extend = [&](const int64_t* from, int64_t otherwise) {
    for (uint32_t d = 0; d < access.rank; ++d) columns.numbers.push_back(from ? from[d] : otherwise);
  };
  extend(access.shape, 0);
  extend(strided ? access.strides : nullptr, 0);
  extend(boxed ? access.mask.lo : nullptr, 0);
  extend(boxed ? access.mask.hi : nullptr, 0);
  appendAddresses(columns, access, elements);
  appendMask(columns, access, elements);
  if (values) appendValues(columns, access);
}

template <typename T>
nb::bytes bytesOf(const std::vector<T>& column) {
  return nb::bytes(column.data(), column.size() * sizeof(T));
}

nb::dict dictOf(const AccessColumns& c) {
  nb::dict result;
  result["program"] = bytesOf(c.program);
  result["order"] = bytesOf(c.order);
  result["op"] = bytesOf(c.op);
  result["kind"] = bytesOf(c.kind);
  result["faults"] = bytesOf(c.faults);
  result["argument"] = bytesOf(c.argument);
  result["element_bytes"] = bytesOf(c.elementBytes);
  result["element"] = bytesOf(c.element);
  result["sem"] = bytesOf(c.sem);
  result["scope"] = bytesOf(c.scope);
  result["elements"] = bytesOf(c.elements);
  result["active"] = bytesOf(c.active);
  result["base"] = bytesOf(c.base);
  result["rank"] = bytesOf(c.rank);
  result["form"] = bytesOf(c.form);
  result["mask_form"] = bytesOf(c.maskForm);
  result["mask_all"] = bytesOf(c.maskAll);
  result["start"] = bytesOf(c.start);
  result["mask_start"] = bytesOf(c.maskStart);
  result["numbers"] = bytesOf(c.numbers);
  result["bytes"] = bytesOf(c.bytes);
  if (c.valueStart[TS_VALUE].empty()) return result;
  result["value_start"] = bytesOf(c.valueStart[TS_VALUE]);
  result["before_start"] = bytesOf(c.valueStart[TS_BEFORE]);
  result["compared_start"] = bytesOf(c.valueStart[TS_COMPARED]);
  result["values"] = bytesOf(c.values);
  return result;
}

nb::dict dictOf(const ComputeColumns& c) {
  nb::dict result;
  result["program"] = bytesOf(c.program);
  result["order"] = bytesOf(c.order);
  result["op"] = bytesOf(c.op);
  result["element"] = bytesOf(c.element);
  result["m"] = bytesOf(c.m);
  result["n"] = bytesOf(c.n);
  result["k"] = bytesOf(c.k);
  return result;
}

nb::dict dictOf(const IterationColumns& c) {
  nb::dict result;
  result["program"] = bytesOf(c.program);
  result["order"] = bytesOf(c.order);
  result["op"] = bytesOf(c.op);
  result["value"] = bytesOf(c.value);
  result["trip"] = bytesOf(c.trip);
  return result;
}

nb::dict dictOf(const ProgramColumns& c) {
  nb::dict result;
  result["program"] = bytesOf(c.program);
  result["order"] = bytesOf(c.order);
  return result;
}

nb::tuple triple(const int64_t* values) { return nb::make_tuple(values[0], values[1], values[2]); }

nb::tuple list(const int64_t* values, uint32_t count) {
  nb::list result;
  for (uint32_t d = 0; d < count; ++d) result.append(values[d]);
  return nb::tuple(result);
}

}  // namespace

PythonClient::PythonClient(nb::object client, const launch::Launch& launch)
    : client_(std::move(client)), launch_(launch) {
  name_ = nb::cast<std::string>(client_.attr("name"));
  uint32_t needs = 0;
  bool computes = false;
  for (const std::string& need : nb::cast<std::set<std::string>>(nb::set(client_.attr("needs")))) {
    const auto bit = needBits().find(need);
    if (bit == needBits().end())
      throw Error("a client needs \"" + need + "\", which does not exist; there are addresses, elements, values, "
                  "compute, programs, loops, order, promises");
    needs |= bit->second;
    elements_ |= need == "elements";
    values_ |= need == "values";
    computes |= need == "compute";
  }
  defineTable(needs, computes);
}

template <typename Call>
void PythonClient::guarded(Call call) {
  nb::gil_scoped_acquire held;
  if (error_) return;
  try {
    call();
  } catch (...) {
    error_ = std::current_exception();
  }
}

void PythonClient::defineTable(uint32_t needs, bool computes) {
  table_.size = sizeof table_;
  table_.abi = TS_CLIENT_ABI;
  table_.name = name_.c_str();
  table_.needs = needs;
  const auto self = [](void* pointer) { return static_cast<PythonClient*>(pointer); };
  static const auto of = self;
  table_.launch_begin = [](void* s, const ts_launch* launch) {
    of(s)->guarded([&] {
      of(s)->client_.attr("_launch_begin")(std::string(launch->kernel), triple(launch->grid));
    });
  };
  table_.argument = [](void* s, const ts_argument* a) {
    of(s)->guarded([&] {
      of(s)->client_.attr("_argument")(a->index, std::string(a->name), a->element, a->is_tensor != 0, a->bits,
                                       list(a->shape, a->rank), list(a->strides, a->rank), a->address,
                                       a->allocation, a->allocation_bytes);
    });
  };
  table_.fork = [](void* s) -> void* { return new Range{of(s), 0, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}; };
  table_.discard = [](void*, void* state) { delete static_cast<Range*>(state); };
  table_.merge = [](void* s, void* state) {
    Range* range = static_cast<Range*>(state);
    of(s)->hand(*range);
    delete range;
  };
  table_.launch_end = [](void* s, const ts_summary* summary) {
    of(s)->guarded([&] { of(s)->client_.attr("_launch_end")(summary->programs, summary->seconds); });
  };
  if (needs & TS_NEED_PROGRAMS) {
    table_.program_begin = [](void* state, const ts_program* program) {
      Range& range = *static_cast<Range*>(state);
      range.begins.program.push_back(program->linear);
      range.begins.order.push_back(range.order++);
    };
    table_.program_end = [](void* state, const ts_program* program) {
      Range& range = *static_cast<Range*>(state);
      range.ends.program.push_back(program->linear);
      range.ends.order.push_back(range.order++);
    };
  }
  if (needs & TS_NEED_LOOPS)
    table_.loop_iteration = [](void* state, const ts_iteration* iteration) {
      Range& range = *static_cast<Range*>(state);
      range.iterations.program.push_back(iteration->program->linear);
      range.iterations.order.push_back(range.order++);
      range.iterations.op.push_back(iteration->op);
      range.iterations.value.push_back(iteration->value);
      range.iterations.trip.push_back(iteration->trip);
    };
  static const auto access = [](void* state, const ts_access* a, AccessColumns Range::* columns) {
    Range& range = *static_cast<Range*>(state);
    append(range.*columns, *a, range.order++, range.client->elements_, range.client->values_);
    const auto [place, isNew] = range.places.try_emplace(a->op);
    if (!isNew) return;
    const ts_host& host = exec::host();
    const char* file = nullptr;
    host.op_place(a->core, a->op, &file, &place->second.line, &place->second.column);
    place->second.file = file ? file : "";
    place->second.name = host.op_name(a->core, a->op);
  };
  table_.on_load = [](void* state, const ts_access* a) { access(state, a, &Range::loads); };
  table_.on_store = [](void* state, const ts_access* a) { access(state, a, &Range::stores); };
  table_.on_atomic = [](void* state, const ts_access* a) { access(state, a, &Range::atomics); };
  table_.on_copy = [](void* state, const ts_access* a) { access(state, a, &Range::copies); };
  if (!computes) return;
  static const auto compute = [](void* state, const ts_compute* c, ComputeColumns Range::* columns) {
    Range& range = *static_cast<Range*>(state);
    ComputeColumns& rows = range.*columns;
    rows.program.push_back(c->program->linear);
    rows.order.push_back(range.order++);
    rows.op.push_back(c->op);
    rows.element.push_back(c->element);
    rows.m.push_back(c->m);
    rows.n.push_back(c->n);
    rows.k.push_back(c->k);
  };
  table_.on_dot = [](void* state, const ts_compute* c) { compute(state, c, &Range::dots); };
  table_.on_reduce = [](void* state, const ts_compute* c) { compute(state, c, &Range::reduces); };
}

void PythonClient::hand(Range& range) {
  guarded([&] {
    nb::dict places;
    for (const auto& [op, place] : range.places) {
      places_.emplace(op, place);
      places[nb::int_(op)] = nb::make_tuple(place.name, place.file, place.line, place.column);
    }
    const auto give = [&](const char* hook, const auto& columns) {
      if (!columns.program.empty()) client_.attr("_batch")(hook, dictOf(columns), places);
    };
    give("program_begin", range.begins);
    give("loop_iteration", range.iterations);
    give("on_load", range.loads);
    give("on_store", range.stores);
    give("on_atomic", range.atomics);
    give("on_copy", range.copies);
    give("on_dot", range.dots);
    give("on_reduce", range.reduces);
    give("program_end", range.ends);
  });
}

void PythonClient::finish(findings::LaunchReport& report) {
  if (error_) std::rethrow_exception(error_);
  // (op, linear program, argument, kind, severity, message, element, count), of client.report().
  for (nb::handle row : nb::list(client_.attr("_take_findings")())) {
    const nb::tuple r = nb::borrow<nb::tuple>(row);
    findings::Finding finding;
    const auto op = nb::cast<uint32_t>(r[0]);
    const auto linear = nb::cast<int64_t>(r[1]);
    const auto argument = nb::cast<int32_t>(r[2]);
    finding.kind = nb::cast<std::string>(r[3]);
    finding.severity = static_cast<findings::Severity>(nb::cast<int>(r[4]));
    finding.message = nb::cast<std::string>(r[5]);
    for (nb::handle index : nb::borrow<nb::tuple>(r[6])) finding.element.push_back(nb::cast<int64_t>(index));
    finding.countElements = nb::cast<int64_t>(r[7]);
    finding.countPrograms = 1;
    finding.client = name_;
    finding.kernel = launch_.kernel;
    finding.grid = launch_.grid;
    finding.config = launch_.config;
    finding.test = launch_.test;
    const int64_t x = std::max<int64_t>(launch_.grid[0], 1), y = std::max<int64_t>(launch_.grid[1], 1);
    finding.program = {linear % x, linear / x % y, linear / x / y};
    if (const auto place = places_.find(op); place != places_.end()) {
      finding.location = {place->second.file, place->second.line, place->second.column, launch_.kernel};
      finding.operation = place->second.name.substr(place->second.name.find('.') + 1);
      finding.sourceLine = exec::sourceLine(launch_, place->second.file, place->second.line);
    }
    if (argument >= 0 && static_cast<size_t>(argument) < launch_.arguments.size()) {
      finding.operand.emplace();
      const launch::Argument& named = launch_.arguments[argument];
      finding.operand->argument = named.name;
      finding.operand->shape = named.view.shape;
      finding.operand->strides = named.view.strides;
      finding.operand->dtype = named.view.dtype;
      if (named.view.storage < launch_.storages.size()) {
        finding.operand->allocationBytes = static_cast<int64_t>(launch_.storages[named.view.storage].bytes);
        finding.operand->viewBytes = exec::viewBytes(named.view);
      }
    }
    report.findings.push_back(std::move(finding));
  }
}

}  // namespace tilesight::binding
