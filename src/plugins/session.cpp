#include "plugins/session.h"

#include <fmt/format.h>

namespace tilesight::plugins {

static_assert(sizeof(void*) == 8, "handles are 64 bits");

namespace {

// Contexts are numbers, too: only a run in progress on this thread has one.
thread_local std::vector<std::pair<uint64_t, Session*>> running;
thread_local uint64_t nextRun = 1;

const char* nameOf(Kind kind) {
  switch (kind) {
    case Kind::Op: return "an operation";
    case Kind::Region: return "a region";
    case Kind::Block: return "a block";
    case Kind::Value: return "a value";
    case Kind::Type: return "a type";
    case Kind::Attr: return "an attribute";
    default: return "a location";
  }
}

}  // namespace

Session::Session(passes::PassContext& context, const passes::Pass& pass) : context_(context), pass_(pass) {
  running.emplace_back(0x7C00000000000000u | nextRun++, this);
}

Session::~Session() {
  std::erase_if(running, [&](const auto& entry) { return entry.second == this; });
}

ts_context Session::handle() const {
  for (const auto& [number, session] : running)
    if (session == this) return reinterpret_cast<ts_context>(number);
  return nullptr;
}

Session* Session::of(ts_context context) {
  for (const auto& [number, session] : running)
    if (number == reinterpret_cast<uint64_t>(context)) return session;
  return nullptr;
}

uintptr_t Session::number(Kind kind, const void* thing) {
  if (!thing) return 0;
  auto [found, added] = places_.emplace(thing, 0);
  if (added) {
    if (free_.empty()) {
      found->second = static_cast<uint32_t>(entries_.size());
      entries_.emplace_back();
    } else {
      found->second = free_.back();
      free_.pop_back();
    }
    Entry& entry = entries_[found->second];
    entry.thing = thing;
    entry.kind = kind;
  }
  const Entry& entry = entries_[found->second];
  return (static_cast<uint64_t>(kind) << 56) | (static_cast<uint64_t>(entry.generation & 0xFFFFFF) << 32) | found->second;
}

void* Session::thing(Kind kind, const void* handle, const char* call) {
  const uint64_t number = reinterpret_cast<uint64_t>(handle);
  const auto place = static_cast<uint32_t>(number);
  const auto wrong = [&](std::string what) -> void* {
    fail(fmt::format("{}: {}", call, what));
    return nullptr;
  };
  if (!number) return wrong(fmt::format("needs {}, was given NULL", nameOf(kind)));
  const auto given = static_cast<uint8_t>(number >> 56);
  if (given != static_cast<uint8_t>(kind)) {
    if (given >= 1 && given <= static_cast<uint8_t>(Kind::Location)) return wrong(fmt::format("needs {}, was given {}", nameOf(kind), nameOf(static_cast<Kind>(given))));
    return wrong(fmt::format("needs {}, was given no handle", nameOf(kind)));
  }
  if (place >= entries_.size() || entries_[place].kind != kind || (entries_[place].generation & 0xFFFFFF) != ((number >> 32) & 0xFFFFFF))
    return wrong(fmt::format("was given {} that is gone, or of another run", nameOf(kind)));
  return const_cast<void*>(entries_[place].thing);
}

bool Session::point(ts_point at, passes::Point& out, const char* call) {
  if (at.before) {
    ir::Operation* before = op(at.before, call);
    if (!before) return false;
    if (!before->parent) return fail(fmt::format("{}: nothing can stand before the module", call)), false;
    if (at.block && block(at.block, call) != before->parent) {
      if (!hasFailed()) fail(fmt::format("{}: the operation to stand before is in another block", call));
      return false;
    }
    out = passes::Point::beforeOp(before);
    return true;
  }
  ir::Block* end = block(at.block, call);
  if (!end) return false;
  out = passes::Point::atEnd(end);
  return true;
}

void Session::end(const void* thing) {
  auto found = places_.find(thing);
  if (found == places_.end()) return;
  Entry& entry = entries_[found->second];
  entry.thing = nullptr;
  entry.kind = Kind::None;
  ++entry.generation;
  free_.push_back(found->second);
  places_.erase(found);
}

namespace {
/// The same place without the name of a variable, which is that of the result only.
ir::Location unnamed(ir::Context& context, ir::Location location) {
  switch (location.kind()) {
    case ir::LocationKind::Name: return unnamed(context, location->child);
    case ir::LocationKind::CallSite: return context.callSite(unnamed(context, location->child), location->caller);
    case ir::LocationKind::Fused: return location->fused.empty() ? location : unnamed(context, location->fused.front());
    default: return location;
  }
}
}  // namespace

void Session::lower(const ir::Operation& op) {
  lowered_ = Lowered{&op, op.number, op.sourceLine, op.sourceColumn, op.location, unnamed(rewriter().context(), op.location)};
}

bool Session::mayEdit(const ir::Operation* op, const char* call) {
  if (!lowered_) return true;
  for (const ir::Operation* around = op; around; around = around->parentOp())
    if (around->number == lowered_->number) return true;
  fail(fmt::format("{}: {} is not what is lowered", call, op ? op->name : "the function's argument"));
  return false;
}

bool Session::mayEdit(const ir::Value* value, const char* call) {
  return !lowered_ || mayEdit(passes::ownerOf(*value), call);
}

void Session::made(ir::Operation& op) {
  if (!lowered_) return;
  ir::walk(op, [&](ir::Operation& nested) {
    nested.number = lowered_->number;
    nested.sourceLine = lowered_->line;
    nested.sourceColumn = lowered_->column;
    if (!nested.location) nested.location = lowered_->unnamed;
    return true;
  });
}

void Session::replaced(const ir::Value& value, ir::Value& with) {
  // Only where the lowered operation's own result goes, and to something new.
  if (!lowered_ || !with.owner || with.owner->number != lowered_->number) return;
  if (with.name.empty()) with.name = value.name;
  if (with.owner->location == lowered_->unnamed) with.owner->location = lowered_->location;
}

bool Session::isThere(ts_op handle) const {
  const uint64_t number = reinterpret_cast<uint64_t>(handle);
  const auto place = static_cast<uint32_t>(number);
  return place < entries_.size() && entries_[place].kind == Kind::Op && (entries_[place].generation & 0xFFFFFF) == ((number >> 32) & 0xFFFFFF);
}

void Session::forget(const ir::Operation& op) {
  ir::walk(const_cast<ir::Operation&>(op), [&](ir::Operation& nested) {
    for (const auto& result : nested.results) end(result.get());
    for (const auto& region : nested.regions) {
      for (const auto& block : region->blocks) {
        for (const auto& argument : block->arguments) end(argument.get());
        end(block.get());
      }
      end(region.get());
    }
    end(&nested);
    return true;
  });
}

ts_string Session::keep(std::string text) {
  kept_.push_back(std::move(text));
  return view(kept_.back());
}

void Session::fail(std::string message) {
  if (!failure_) failure_ = std::move(message);
}

passes::RangeAnalysis& Session::ranges() {
  if (!ranges_) ranges_.emplace(assumptions_);
  return *ranges_;
}

void Session::assume(passes::Assumptions assumptions) {
  assumptions_ = std::move(assumptions);
  ranges_.reset();
}

}  // namespace tilesight::plugins
