#include "plugins/lowering.h"

#include <array>
#include <map>
#include <mutex>
#include <optional>
#include <unordered_map>

#include <fmt/format.h>

#include "dialects/table.h"
#include "frontends/added.h"
#include "ir/verifier.h"
#include "passes/clone.h"
#include "plugins/session.h"

namespace tilesight::plugins {

namespace {

constexpr int kMostFailures = 32;  // each makes the whole be done again
constexpr int kMostRounds = 64;    // of operations that lowerings make and that have to be lowered themselves

std::mutex mutex;

/// Tables by the name of their dialect.
std::unordered_map<std::string, const ts_dialect*>& tables() {
  static auto* const all = new std::unordered_map<std::string, const ts_dialect*>;
  return *all;
}

const ts_dialect* tableOf(const std::string& dialect) {
  std::lock_guard lock(mutex);
  const auto found = tables().find(dialect);
  return found == tables().end() ? nullptr : found->second;
}

/// Why an operation, by its number, stays as it is.
using Reasons = std::map<uint32_t, std::string>;

struct Failure {
  uint32_t number;
  std::string reason;
};

/// The added operations in `region` that have no reason to stay, outermost ones only: what is in them may go with them.
void collect(ir::Region& region, const Reasons& reasons, std::vector<ir::Operation*>& out) {
  for (const auto& block : region.blocks) {
    for (const auto& op : block->operations) {
      if (op->info && op->info->added) {
        if (!reasons.count(op->number)) out.push_back(op.get());
        continue;
      }
      for (const auto& nested : op->regions) collect(*nested, reasons, out);
    }
  }
}

/// Calls the plugin's function for one operation. "" if it is gone, else why not.
std::string lowerOne(ir::Operation& op, const ts_dialect& table, passes::Rewriter& rewriter) {
  static const passes::Pass none;
  const passes::OptionValues options;
  std::vector<passes::Remark> remarks;
  passes::PassContext context(rewriter, options, remarks);
  Session session(context, none);
  session.lower(op);
  const ts_op handle = session.op(&op);
  std::array<char, 1024> text{};
  ts_error error{sizeof(ts_error), static_cast<uint32_t>(text.size()), text.data()};
  int32_t code = 0;
  try {
    code = table.lower(table.data, &hostTable(), session.handle(), handle, &error);
  } catch (...) {
    return "an exception left it";
  }
  text.back() = 0;
  if (session.hasFailed()) return session.failure();
  if (code != 0) return text[0] ? std::string(text.data()) : fmt::format("it returned {} without a reason", code);
  return session.isThere(handle) ? "it is still there afterwards" : "";
}

/// Lowers all that has no reason to stay. The first failure ends it, with the module half done.
std::optional<Failure> lowerAll(ir::Module& module, const Reasons& reasons) {
  passes::Rewriter rewriter(module);
  std::vector<ir::Operation*> round;
  for (int rounds = 0;; ++rounds) {
    round.clear();
    collect(*module.top->regions[0], reasons, round);
    if (round.empty()) return std::nullopt;
    if (rounds == kMostRounds) return Failure{round[0]->number, fmt::format("lowering does not end: {} is still made after {} rounds", round[0]->name, rounds)};
    for (ir::Operation* op : round) {
      const uint32_t number = op->number;
      const ts_dialect* table = tableOf(op->info->dialect);
      if (!table) return Failure{number, fmt::format("the dialect '{}' has no lowering", op->info->dialect)};
      const std::string dialect = op->info->dialect;
      if (std::string why = lowerOne(*op, *table, rewriter); !why.empty())
        return Failure{number, fmt::format("the lowering of the dialect '{}' failed: {}", dialect, why)};
    }
  }
}

void giveReasons(ir::Module& module, const Reasons& reasons) {
  ir::walk(*module.top, [&](ir::Operation& op) {
    if (op.info && op.info->added)
      if (const auto reason = reasons.find(op.number); reason != reasons.end()) op.setAttribute(frontends::kNotLowered, module.context->string(reason->second));
    return true;
  });
}

/// Reasons of all added operations, but for those that have one.
void giveUp(const ir::Module& source, Reasons& reasons, const std::string& reason) {
  ir::walk(*source.top, [&](ir::Operation& op) {
    if (op.info && op.info->added) reasons.emplace(op.number, reason);
    return true;
  });
}

/// The added operation that stands where `error` is, or null.
const ir::Operation* addedAt(const ir::Module& source, const Diagnostic& error, const Reasons& reasons) {
  const ir::Operation* found = nullptr;
  ir::walk(*source.top, [&](ir::Operation& op) {
    if (op.info && op.info->added && op.sourceLine == error.line && op.sourceColumn == error.column && !reasons.count(op.number)) found = &op;
    return !found;
  });
  return found;
}

ir::Module lowered(const ir::Module& source) {
  Reasons reasons;
  // Operations of a dialect that has no lowering stay, without a try each.
  ir::walk(*source.top, [&](ir::Operation& op) {
    if (op.info && op.info->added && !tableOf(op.info->dialect)) reasons.emplace(op.number, fmt::format("the dialect '{}' has no lowering", op.info->dialect));
    return true;
  });
  for (int failures = 0;; ++failures) {
    ir::Module module = passes::clone(source);
    std::optional<Failure> failed = lowerAll(module, reasons);
    if (!failed) {
      const Status valid = ir::verify(module);
      if (valid || failures > kMostFailures) {  // all were given up then: it is what was verified before
        giveReasons(module, reasons);
        return module;
      }
      const std::string why = fmt::format("what its lowering made is not valid: {}", valid.error().message);
      if (const ir::Operation* at = addedAt(source, valid.error(), reasons)) failed = Failure{at->number, why};
      else giveUp(source, reasons, why);
    }
    if (failed) reasons.emplace(failed->number, failed->reason);
    if (failures == kMostFailures) giveUp(source, reasons, fmt::format("the lowering failed for {} other operations and was not tried again", failures));
  }
}

}  // namespace

void addLowering(const ts_dialect& table, const dialects::Dialect& dialect) {
  {
    std::lock_guard lock(mutex);
    if (table.lower) tables()[dialect.name] = &table;
    else tables().erase(dialect.name);
  }
  frontends::setAddedLowering(lowered);
}

bool hasLowering(const dialects::Dialect& dialect) { return static_cast<const ts_dialect*>(dialect.table)->lower; }

}  // namespace tilesight::plugins
