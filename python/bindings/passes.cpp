// Passes on IR text: ts.opt, and passes that are written in Python. Those get the same tables as plugins in C (plugin.h):
// handles are numbers here, and every function of the host's table is one of `_native.host`.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "binding.h"
#include "plugins/library.h"
#include "plugins/session.h"
#include "tools/isolated.h"

namespace nb = nanobind;

namespace tilesight::binding {
namespace {

using Number = uint64_t;  // a handle

// --- the host's functions

/// A call that went wrong has failed the run; in Python it is an exception at that line.
void checkRun(Number context) {
  plugins::Session* session = plugins::Session::of(reinterpret_cast<ts_context>(context));
  if (!session) throw Error("the pass has returned: what it was given means nothing any more");
  if (session->hasFailed()) throw Error(session->failure());
}

/// How an argument or result of the table is passed to and from Python.
template <typename T>
struct Passed {
  using Python = T;
  static T in(T value) { return value; }
  static T out(T value) { return value; }
};
template <typename T>
struct Passed<T*> {  // a handle
  using Python = Number;
  static T* in(Number value) { return reinterpret_cast<T*>(value); }
  static Number out(T* value) { return reinterpret_cast<Number>(value); }
};
template <>
struct Passed<ts_string> {
  using Python = std::string;
  static ts_string in(const std::string& value) { return {value.data(), value.size()}; }
  static std::string out(ts_string value) { return std::string(plugins::viewOf(value)); }
};
template <>
struct Passed<ts_point> {
  using Python = std::pair<Number, Number>;  // block, operation before which
  static ts_point in(const Python& value) { return {reinterpret_cast<ts_block>(value.first), reinterpret_cast<ts_op>(value.second)}; }
};

const ts_plugin_host& table() { return plugins::hostTable(); }
ts_context contextOf(Number number) { return reinterpret_cast<ts_context>(number); }

/// A function of the table as it is.
template <typename R, typename... A>
void define(nb::module_& module, const char* name, R (*ts_plugin_host::*member)(ts_context, A...)) {
  module.def(name, [member](Number context, const typename Passed<A>::Python&... arguments) {
    checkRun(context);
    if constexpr (std::is_void_v<R>) {
      (table().*member)(contextOf(context), Passed<A>::in(arguments)...);
      checkRun(context);
    } else {
      const R result = (table().*member)(contextOf(context), Passed<A>::in(arguments)...);
      checkRun(context);
      return Passed<R>::out(result);
    }
  });
}

template <typename H>
std::vector<H> handles(const std::vector<Number>& numbers) {
  std::vector<H> out;
  for (Number number : numbers) out.push_back(reinterpret_cast<H>(number));
  return out;
}

Number create(Number context, const std::string& name, std::pair<Number, Number> at, const std::vector<Number>& operands, const std::vector<Number>& results,
              const std::vector<std::pair<std::string, Number>>& attributes, const std::optional<std::vector<uint32_t>>& groups, uint32_t regions, Number location) {
  const auto values = handles<ts_value>(operands);
  const auto types = handles<ts_type>(results);
  std::vector<ts_string> keys;
  std::vector<ts_attr> attrs;
  for (const auto& [key, value] : attributes) {
    keys.push_back({key.data(), key.size()});
    attrs.push_back(reinterpret_cast<ts_attr>(value));
  }
  ts_op_description d = {};
  d.size = sizeof d;
  d.name = {name.data(), name.size()};
  d.at = Passed<ts_point>::in(at);
  d.operands = values.data();
  d.operand_count = static_cast<uint32_t>(values.size());
  d.results = types.data();
  d.result_count = static_cast<uint32_t>(types.size());
  d.attribute_keys = keys.data();
  d.attribute_values = attrs.data();
  d.attribute_count = static_cast<uint32_t>(keys.size());
  if (groups) {
    static const uint32_t none = 0;
    d.group_sizes = groups->empty() ? &none : groups->data();
    d.group_count = static_cast<uint32_t>(groups->size());
  }
  d.region_count = regions;
  d.location = reinterpret_cast<ts_location>(location);
  checkRun(context);
  const ts_op op = table().op_create(contextOf(context), &d);
  checkRun(context);
  return reinterpret_cast<Number>(op);
}

void defineHost(nb::module_& m) {
  using H = ts_plugin_host;
  define(m, "option_integer", &H::option_integer);
  define(m, "option_boolean", &H::option_boolean);
  define(m, "option_string", &H::option_string);
  define(m, "remark", &H::remark);
  define(m, "module", &H::module);
  define(m, "walk", &H::walk);
  define(m, "op_name", &H::op_name);
  define(m, "op_facts", &H::op_facts);
  define(m, "op_parent", &H::op_parent);
  define(m, "op_block", &H::op_block);
  define(m, "op_next", &H::op_next);
  define(m, "op_previous", &H::op_previous);
  define(m, "op_is_inside", &H::op_is_inside);
  define(m, "op_operand_count", &H::op_operand_count);
  define(m, "op_operand", &H::op_operand);
  define(m, "op_result_count", &H::op_result_count);
  define(m, "op_result", &H::op_result);
  define(m, "op_attribute_count", &H::op_attribute_count);
  define(m, "op_attribute_key", &H::op_attribute_key);
  define(m, "op_attribute", &H::op_attribute);
  define(m, "op_region_count", &H::op_region_count);
  define(m, "op_region", &H::op_region);
  define(m, "op_successor_count", &H::op_successor_count);
  define(m, "op_successor", &H::op_successor);
  define(m, "op_location", &H::op_location);
  define(m, "region_op", &H::region_op);
  define(m, "region_block_count", &H::region_block_count);
  define(m, "region_block", &H::region_block);
  define(m, "block_region", &H::block_region);
  define(m, "block_argument_count", &H::block_argument_count);
  define(m, "block_argument", &H::block_argument);
  define(m, "block_first", &H::block_first);
  define(m, "block_last", &H::block_last);
  define(m, "value_type", &H::value_type);
  define(m, "value_op", &H::value_op);
  define(m, "value_block", &H::value_block);
  define(m, "value_index", &H::value_index);
  define(m, "value_name", &H::value_name);
  define(m, "value_use_count", &H::value_use_count);
  define(m, "value_is_outside", &H::value_is_outside);
  define(m, "type_text", &H::type_text);
  define(m, "type_kind", &H::type_kind);
  define(m, "type_width", &H::type_width);
  define(m, "type_element", &H::type_element);
  define(m, "type_rank", &H::type_rank);
  define(m, "type_extent", &H::type_extent);
  define(m, "type_encoding", &H::type_encoding);
  define(m, "type_parse", &H::type_parse);
  define(m, "attr_text", &H::attr_text);
  define(m, "attr_kind", &H::attr_kind);
  define(m, "attr_string", &H::attr_string);
  define(m, "attr_count", &H::attr_count);
  define(m, "attr_element", &H::attr_element);
  define(m, "attr_element_integer", &H::attr_element_integer);
  define(m, "attr_entry", &H::attr_entry);
  define(m, "attr_type", &H::attr_type);
  define(m, "attr_parse", &H::attr_parse);
  define(m, "attr_make_integer", &H::attr_make_integer);
  define(m, "attr_make_string", &H::attr_make_string);
  define(m, "attr_make_keyword", &H::attr_make_keyword);
  define(m, "location_name", &H::location_name);
  define(m, "op_copy", &H::op_copy);
  define(m, "op_move", &H::op_move);
  define(m, "op_erase", &H::op_erase);
  define(m, "op_set_operand", &H::op_set_operand);
  define(m, "op_set_attribute", &H::op_set_attribute);
  define(m, "op_set_location", &H::op_set_location);
  define(m, "value_replace_uses", &H::value_replace_uses);
  define(m, "value_set_type", &H::value_set_type);
  define(m, "value_set_name", &H::value_set_name);
  define(m, "region_add_block", &H::region_add_block);
  define(m, "block_add_argument", &H::block_add_argument);
  define(m, "block_erase_argument", &H::block_erase_argument);
  define(m, "block_move_body", &H::block_move_body);
  define(m, "constant", &H::constant);
  define(m, "assume", &H::assume);
  define(m, "is_multiple", &H::is_multiple);
  define(m, "truth", &H::truth);
  define(m, "max_trips", &H::max_trips);

  // Those that write what they find to places of the caller's.
  m.def("op_create", &create);
  m.def("op_operand_group", [](Number context, Number op, const std::string& group) {
    uint32_t first = 0;
    const uint32_t count = table().op_operand_group(contextOf(context), reinterpret_cast<ts_op>(op), {group.data(), group.size()}, &first);
    checkRun(context);
    return std::pair(first, count);
  });
  m.def("value_use", [](Number context, Number value, uint32_t use) {
    uint32_t operand = 0;
    const ts_op op = table().value_use(contextOf(context), reinterpret_cast<ts_value>(value), use, &operand);
    checkRun(context);
    return std::pair(reinterpret_cast<Number>(op), operand);
  });
  m.def("attr_integer", [](Number context, Number attr) -> std::optional<int64_t> {
    int64_t out = 0;
    const bool is = table().attr_integer(contextOf(context), reinterpret_cast<ts_attr>(attr), &out);
    checkRun(context);
    return is ? std::optional(out) : std::nullopt;
  });
  m.def("constant_integer", [](Number context, Number value) -> std::optional<int64_t> {
    int64_t out = 0;
    const bool is = table().constant_integer(contextOf(context), reinterpret_cast<ts_value>(value), &out);
    checkRun(context);
    return is ? std::optional(out) : std::nullopt;
  });
  m.def("location_file", [](Number context, Number location) -> std::optional<std::tuple<std::string, uint32_t, uint32_t>> {
    ts_string file = {};
    uint32_t line = 0, column = 0;
    const bool has = table().location_file(contextOf(context), reinterpret_cast<ts_location>(location), &file, &line, &column);
    checkRun(context);
    if (!has) return std::nullopt;
    return std::tuple(std::string(plugins::viewOf(file)), line, column);
  });
  m.def("range", [](Number context, Number value) {
    int64_t low = 0, high = 0;
    table().range(contextOf(context), reinterpret_cast<ts_value>(value), &low, &high);
    checkRun(context);
    return std::pair(low, high);
  });
  m.def("difference", [](Number context, Number a, Number b) {
    int64_t low = 0, high = 0;
    table().difference(contextOf(context), reinterpret_cast<ts_value>(a), reinterpret_cast<ts_value>(b), &low, &high);
    checkRun(context);
    return std::pair(low, high);
  });
  m.def("op_set_operands", [](Number context, Number op, const std::vector<Number>& values, const std::optional<std::vector<uint32_t>>& groups) {
    const auto all = handles<ts_value>(values);
    table().op_set_operands(contextOf(context), reinterpret_cast<ts_op>(op), all.data(), static_cast<uint32_t>(all.size()), groups ? groups->data() : nullptr,
                            groups ? static_cast<uint32_t>(groups->size()) : 0);
    checkRun(context);
  });
  m.def("type_tensor", [](Number context, const std::vector<int64_t>& shape, Number element, Number encoding) {
    const ts_type type = table().type_tensor(contextOf(context), shape.data(), static_cast<uint32_t>(shape.size()), reinterpret_cast<ts_type>(element), reinterpret_cast<ts_attr>(encoding));
    checkRun(context);
    return reinterpret_cast<Number>(type);
  });
  m.def("attr_make_i32_array", [](Number context, const std::vector<int64_t>& values) {
    const ts_attr attr = table().attr_make_i32_array(contextOf(context), values.data(), static_cast<uint32_t>(values.size()));
    checkRun(context);
    return reinterpret_cast<Number>(attr);
  });
}

// --- passes in Python

/// The tables of one pass, as a plugin in C has them, around a Python function.
struct PassTable {
  // kind, name, help, default as text, least, most, choices
  using Option = std::tuple<uint32_t, std::string, std::string, std::string, int64_t, int64_t, std::vector<std::string>>;

  std::string name, summary, stage;
  std::vector<Option> given;
  std::vector<std::vector<const char*>> choices;
  std::vector<ts_option> options;
  std::vector<const ts_option*> optionPointers;
  nb::object function;  // of the run: None, or (message, place) of what went wrong
  ts_pass pass = {};
  const ts_pass* passes[1] = {&pass};
  ts_plugin plugin = {};
  plugins::Library library;

  PassTable(std::string name_, std::string summary_, std::string stage_, std::string file, std::vector<Option> options_, nb::object function_)
      : name(std::move(name_)), summary(std::move(summary_)), stage(std::move(stage_)), given(std::move(options_)), function(std::move(function_)) {
    choices.resize(given.size());
    options.resize(given.size());
    for (size_t i = 0; i < given.size(); ++i) {
      const auto& [kind, option, help, fallback, least, most, words] = given[i];
      for (const std::string& word : words) choices[i].push_back(word.c_str());
      ts_option& o = options[i];
      o.size = sizeof o;
      o.kind = kind;
      o.name = option.c_str();
      o.help = help.c_str();
      o.fallback = fallback.c_str();
      o.least = least;
      o.most = most;
      o.choices = choices[i].data();
      o.choice_count = static_cast<uint32_t>(words.size());
      optionPointers.push_back(&o);
    }
    pass.size = sizeof pass;
    pass.name = name.c_str();
    pass.summary = summary.c_str();
    pass.stage = stage.empty() ? nullptr : stage.c_str();
    pass.options = optionPointers.data();
    pass.option_count = static_cast<uint32_t>(optionPointers.size());
    pass.run = &PassTable::run;
    pass.data = this;
    plugin.size = sizeof plugin;
    plugin.abi_major = TS_PLUGIN_ABI_MAJOR;
    plugin.id = "python";
    plugin.version = "";
    plugin.summary = "";
    plugin.passes = passes;
    plugin.pass_count = 1;
    library.path = std::move(file);
    plugins::readPlugin(&plugin, library);
    if (!library.refused.empty()) throw Error("this is no pass: it " + library.refused);
  }
  PassTable(const PassTable&) = delete;
  PassTable& operator=(const PassTable&) = delete;

  static int32_t run(void* data, const ts_plugin_host*, ts_context context, ts_error* error) {
    const nb::gil_scoped_acquire acquired;
    try {
      const nb::object wrong = static_cast<PassTable*>(data)->function(reinterpret_cast<Number>(context));
      if (wrong.is_none()) return 0;
      const auto [message, place] = nb::cast<std::pair<std::string, std::string>>(wrong);
      if (plugins::Session* session = plugins::Session::of(context); session && session->hasFailed()) session->failedAt(place);
      return ts_failure(error, (message + place).c_str());
    } catch (const nb::python_error& thrown) {
      return ts_failure(error, thrown.what());
    }
  }
};

/// Plugins that are Python files, by `open(path)`, which gives (id, summary, [PassTable]) or raises.
void openPythonPluginsWith(nb::object open) {
  plugins::setPythonOpener([open = new nb::object(std::move(open))](const std::string& path, plugins::Library& library) {
    const nb::gil_scoped_acquire acquired;
    try {
      const nb::object opened = (*open)(path);
      const auto [id, summary, tables] = nb::cast<std::tuple<std::string, std::string, std::vector<PassTable*>>>(opened);
      new nb::object(opened);  // plugins stay until the process ends
      library.id = id;
      library.summary = summary;
      library.abiMajor = TS_PLUGIN_ABI_MAJOR;
      for (const PassTable* table : tables) {
        library.passes.push_back(table->library.passes[0]);
        library.stages.push_back(table->library.stages[0]);
      }
    } catch (const nb::python_error& thrown) {
      library.refused = nb::cast<std::string>(nb::str(thrown.value()));
    }
  });
}

// --- ts.opt

/// The text afterwards, the remarks as JSON, and whether each pass changed something.
using Transformed = std::tuple<std::string, std::string, std::vector<std::pair<std::string, bool>>>;

Transformed transform(std::string text, const std::string& file, std::vector<std::string> pipelines, std::vector<std::string> libraries, const std::vector<PassTable*>& tables,
                      bool verifyEach, bool isolate, double seconds) {
  tools::Transform how;
  how.pipelines = std::move(pipelines);
  how.plugins = std::move(libraries);
  how.verifyEach = verifyEach;
  how.isolate = isolate;
  how.seconds = seconds;
  for (const PassTable* table : tables) how.passes.push_back(table->library.passes[0]);
  Result<passes::Outcome> outcome = failure("");
  {
    const nb::gil_scoped_release released;
    outcome = tools::transform(std::move(text), file, how);
  }
  const passes::Outcome done = valueOf(std::move(outcome));
  check(done.status);
  std::vector<std::pair<std::string, bool>> changed;
  for (const passes::PassReport& report : done.reports) changed.emplace_back(report.name, report.changed);
  return {done.text, passes::remarksAsJson(done.remarks), std::move(changed)};
}

}  // namespace

void definePasses(nb::module_& module) {
  nb::module_ host = module.def_submodule("host", "The functions that a pass may call; the first argument is the run.");
  defineHost(host);
  nb::class_<PassTable>(module, "PassTable", "The tables of a pass that is a Python function.")
      .def(nb::init<std::string, std::string, std::string, std::string, std::vector<PassTable::Option>, nb::object>(), nb::arg("name"), nb::arg("summary"), nb::arg("stage"),
           nb::arg("file"), nb::arg("options"), nb::arg("function"));
  module.def("open_python_plugins_with", &openPythonPluginsWith, nb::arg("open"));
  module.def("isolate_python_with", &tools::isolatePythonWith, nb::arg("command"), "The program and arguments that are `tilesight isolated` with this Python.");
  module.def("transform", &transform, nb::arg("text"), nb::arg("file"), nb::arg("pipelines"), nb::arg("plugins"), nb::arg("tables"), nb::arg("verify_each"), nb::arg("isolate"),
             nb::arg("seconds"), "Runs passes on IR text.");
}

}  // namespace tilesight::binding
