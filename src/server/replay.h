// What one program did, step by step, with its values: the program runs again (trace/values.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "server/loaded.h"

namespace tilesight::server {

/// JSON: the places where values appear, {"sites": [..], "needsReads"}. A value is `last` if no later one of the same
/// line has its name: what the variable is after the line.
std::string sitesJson(const trace::Values& values);

/// Packed: `site` (u32 [n]), `trips` (i32 [n, depth], -1: no such loop); meta {total, first, complete, stopped}.
Result<std::string> steps(const Loaded& loaded, int64_t program, int64_t first, int64_t limit);

/// Packed: meta {"step", "iterations", "values": [..], "variables": [..]}: the step's operands and values, and what all
/// variables are after it; each with statistics, and a small picture `pN` (f32 [h, w], NaN as it is) if it has more than
/// one element. Errors: there is no such step.
Result<std::string> step(const Loaded& loaded, int64_t program, int64_t step);

/// Packed: all values of all steps, each once: what a page of its own holds. meta {"values": [..]}, as in step(), with
/// "last" and "iterations"; the first `limit` steps.
Result<std::string> everything(const Loaded& loaded, int64_t program, int64_t limit);

struct ValuePlace {
  int64_t program = 0, step = 0;
  bool operand = false;
  uint32_t number = 0;
};
Result<trace::Value> valueAt(const Loaded& loaded, const ValuePlace& place);
/// Packed: `number` (f64 [numel]), `bits` (u8 [numel, bytes]), `histogram` (f64 [64]), of pointers `offset` (f64); meta
/// as in step(). Errors also: it is no tile.
Result<std::string> value(const Loaded& loaded, const ValuePlace& place);

/// How variables change. Packed, a row a time that one of `names` gets a value: `name` (u32), `site`, `step`, `elements`
/// (u32), `trips`, `min`, `max`, `mean`, `first` (f64), `nan`, `inf` (u32); at most `limit` rows; meta {total}.
/// Errors: a name that no variable has.
Result<std::string> watch(const Loaded& loaded, int64_t program, const std::vector<std::string>& names, int64_t limit);

/// JSON: the next step from (program, from) on where the condition holds: {"program", "step"}; {"program", "done": false}
/// if time is up: go on there; {"done": true} if there is none. `everywhere`: in all programs, not this one alone.
/// Errors: of the condition, and variables that do not exist.
Result<std::string> find(const Loaded& loaded, int64_t program, int64_t from, const std::string& condition, bool everywhere);

}  // namespace tilesight::server
