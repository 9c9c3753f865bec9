// One run of a pass of a plugin: what its handles mean. A handle is a number (kind, generation, place in a table), so that a
// wrong one is recognised, never followed.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "passes/pass.h"
#include "passes/range.h"
#include "tilesight/plugin.h"

namespace tilesight::plugins {

enum class Kind : uint8_t { None, Op, Region, Block, Value, Type, Attr, Location };

class Session {
 public:
  Session(passes::PassContext& context, const passes::Pass& pass);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  ts_context handle() const;
  /// The session of a handle, or null if it is not one of a run in progress on this thread.
  static Session* of(ts_context context);

  passes::PassContext& context() { return context_; }
  passes::Rewriter& rewriter() { return context_.rewriter; }
  const passes::Pass& pass() const { return pass_; }

  // --- handles of things; null for null
  ts_op op(const ir::Operation* op) { return reinterpret_cast<ts_op>(number(Kind::Op, op)); }
  ts_region region(const ir::Region* region) { return reinterpret_cast<ts_region>(number(Kind::Region, region)); }
  ts_block block(const ir::Block* block) { return reinterpret_cast<ts_block>(number(Kind::Block, block)); }
  ts_value value(const ir::Value* value) { return reinterpret_cast<ts_value>(number(Kind::Value, value)); }
  ts_type type(ir::Type type) { return reinterpret_cast<ts_type>(number(Kind::Type, type.operator->())); }
  ts_attr attr(ir::Attribute attribute) { return reinterpret_cast<ts_attr>(number(Kind::Attr, attribute.raw())); }
  ts_location location(ir::Location location) { return reinterpret_cast<ts_location>(number(Kind::Location, location.raw())); }

  // --- things of handles; null, and a failed run, for wrong ones. `call` is the host's function, for the message.
  ir::Operation* op(ts_op handle, const char* call) { return static_cast<ir::Operation*>(thing(Kind::Op, handle, call)); }
  ir::Region* region(ts_region handle, const char* call) { return static_cast<ir::Region*>(thing(Kind::Region, handle, call)); }
  ir::Block* block(ts_block handle, const char* call) { return static_cast<ir::Block*>(thing(Kind::Block, handle, call)); }
  ir::Value* value(ts_value handle, const char* call) { return static_cast<ir::Value*>(thing(Kind::Value, handle, call)); }
  ir::Type type(ts_type handle, const char* call) { return ir::Type(static_cast<const ir::TypeStorage*>(thing(Kind::Type, handle, call))); }
  ir::Attribute attr(ts_attr handle, const char* call) { return ir::Attribute(static_cast<const ir::AttributeStorage*>(thing(Kind::Attr, handle, call))); }
  ir::Location location(ts_location handle, const char* call) { return ir::Location(static_cast<const ir::LocationStorage*>(thing(Kind::Location, handle, call))); }
  /// A point to insert at; false, and a failed run, if it is none.
  bool point(ts_point at, passes::Point& out, const char* call);

  // --- of a run that lowers one operation, which must leave all others alone
  void lower(const ir::Operation& op);
  /// False, and a failed run, if this run lowers another operation than this one, what is in it, and what it made.
  bool mayEdit(const ir::Operation* op, const char* call);
  bool mayEdit(const ir::Value* value, const char* call);
  /// What is new has the number and the place of what it is made for.
  void made(ir::Operation& op);
  /// Names what takes the place of a result as that is named.
  void replaced(const ir::Value& value, ir::Value& with);
  /// Whether the operation of a handle of this run is still there.
  bool isThere(ts_op handle) const;

  /// Ends the handles of an operation that goes, and of all in it.
  void forget(const ir::Operation& op);
  void forgetValue(const ir::Value* value) { end(value); }

  /// Text that stays until the run ends.
  ts_string keep(std::string text);
  static ts_string view(std::string_view text) { return {text.data(), text.size()}; }

  void fail(std::string message);
  /// Adds where in the plugin's source the run failed, if that is known.
  void failedAt(const std::string& place) {
    if (failure_) *failure_ += place;
  }
  bool hasFailed() const { return failure_.has_value(); }
  const std::string& failure() const { return *failure_; }

  /// Ranges of the module as it is now.
  passes::RangeAnalysis& ranges();
  void assume(passes::Assumptions assumptions);
  void edited() { ranges_.reset(); }

 private:
  struct Entry {
    const void* thing = nullptr;
    uint32_t generation = 0;
    Kind kind = Kind::None;
  };
  uintptr_t number(Kind kind, const void* thing);
  void* thing(Kind kind, const void* handle, const char* call);
  void end(const void* thing);

  struct Lowered {
    const ir::Operation* op;
    uint32_t number, line, column;
    ir::Location location, unnamed;
  };

  passes::PassContext& context_;
  const passes::Pass& pass_;
  std::vector<Entry> entries_;
  std::unordered_map<const void*, uint32_t> places_;
  std::vector<uint32_t> free_;
  std::deque<std::string> kept_;
  std::optional<std::string> failure_;
  std::optional<passes::RangeAnalysis> ranges_;
  passes::Assumptions assumptions_;
  std::optional<Lowered> lowered_;
};

/// Sets the fields of the host's table.
void fillReading(ts_plugin_host& host);
void fillEditing(ts_plugin_host& host);
void fillAsking(ts_plugin_host& host);

/// The table that plugins get.
const ts_plugin_host& hostTable();

inline std::string_view viewOf(ts_string text) { return text.data ? std::string_view(text.data, text.size) : std::string_view(); }

}  // namespace tilesight::plugins
