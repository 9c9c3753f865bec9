// The host's functions for options, remarks and analysis.
#include <fmt/format.h>

#include "passes/constants.h"
#include "plugins/handles.h"

namespace tilesight::plugins {

namespace {

template <typename T>
const T* optionOf(Session& session, uint32_t option, const char* call) {
  const auto& values = session.context().options;
  if (option >= values.size()) {
    session.fail(fmt::format("{}: the pass has no option number {}", call, option));
    return nullptr;
  }
  const T* value = std::get_if<T>(&values[option]);
  if (!value) session.fail(fmt::format("{}: option '{}' is of another kind", call, session.pass().options[option].name));
  return value;
}

int64_t option_integer(ts_context context, uint32_t option) {
  TS_SESSION(0);
  const int64_t* value = optionOf<int64_t>(*session, option, __func__);
  return value ? *value : 0;
}

int32_t option_boolean(ts_context context, uint32_t option) {
  TS_SESSION(0);
  const bool* value = optionOf<bool>(*session, option, __func__);
  return value && *value;
}

ts_string option_string(ts_context context, uint32_t option) {
  TS_SESSION(ts_string{});
  const std::string* value = optionOf<std::string>(*session, option, __func__);
  return value ? session->keep(*value) : ts_string{};
}

void remark(ts_context context, ts_op at, uint32_t kind, ts_string rule, ts_string message) {
  TS_SESSION();
  ir::Operation* op = at ? session->op(at, __func__) : session->context().module().top.get();
  if (!op) return;
  const auto meant = kind == TS_REMARK_DONE      ? passes::Remark::Kind::Done
                     : kind == TS_REMARK_REFUSED ? passes::Remark::Kind::Refused
                                                 : passes::Remark::Kind::Note;
  session->context().say(*op, meant, std::string(viewOf(rule)), std::string(viewOf(message)));
}

void fail(ts_context context, ts_string message) {
  TS_SESSION();
  session->fail(std::string(viewOf(message)));
}

int32_t has_failed(ts_context context) {
  TS_SESSION(1);
  return session->hasFailed();
}

int32_t constant_integer(ts_context context, ts_value handle, int64_t* out) {
  TS_THING(value, value, handle, 0);
  const auto constant = passes::splatInteger(value);
  if (constant && out) *out = *constant;
  return constant.has_value();
}

int32_t assume(ts_context context, ts_string text) {
  TS_SESSION(0);
  auto read = passes::Assumptions::parse(viewOf(text));
  if (!read) {
    session->fail(read.error().message + (read.error().remedy.empty() ? "" : " (" + read.error().remedy + ")"));
    return 0;
  }
  session->assume(std::move(*read));
  return 1;
}

void range(ts_context context, ts_value handle, int64_t* low, int64_t* high) {
  if (low) *low = INT64_MIN;
  if (high) *high = INT64_MAX;
  TS_THING(value, value, handle, );
  const passes::IntegerRange found = session->ranges().of(value);
  if (low) *low = found.low;
  if (high) *high = found.high;
}

int32_t is_multiple(ts_context context, ts_value handle, uint64_t divisor) {
  TS_THING(value, value, handle, 0);
  return session->ranges().of(value).isMultipleOf(divisor);
}

void difference(ts_context context, ts_value first, ts_value second, int64_t* low, int64_t* high) {
  if (low) *low = INT64_MIN;
  if (high) *high = INT64_MAX;
  TS_THING(value, a, first, );
  ir::Value* b = session->value(second, __func__);
  if (!b || !a->type || !b->type) return;
  const auto [least, most] = session->ranges().difference(a, b);
  if (low) *low = least;
  if (high) *high = most;
}

int32_t truth(ts_context context, ts_value handle) {
  TS_THING(value, value, handle, -1);
  const auto always = value->type ? session->ranges().truth(value) : std::nullopt;
  return always ? *always : -1;
}

int64_t max_trips(ts_context context, ts_op handle) {
  TS_THING(op, op, handle, -1);
  return session->ranges().maxTrips(*op).value_or(-1);
}

}  // namespace

void fillAsking(ts_plugin_host& host) {
  host.option_integer = option_integer;
  host.option_boolean = option_boolean;
  host.option_string = option_string;
  host.remark = remark;
  host.fail = fail;
  host.has_failed = has_failed;
  host.constant_integer = constant_integer;
  host.assume = assume;
  host.range = range;
  host.is_multiple = is_multiple;
  host.difference = difference;
  host.truth = truth;
  host.max_trips = max_trips;
}

}  // namespace tilesight::plugins
