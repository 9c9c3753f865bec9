// Any value of any program of a launch, computed again: the one program runs alone, with everything made, on what it
// read the first time. Nothing of the launch changes. Bit for bit what an execution that stored everything would have.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "exec/run.h"
#include "launch/launch.h"
#include "support/result.h"
#include "trace/copies.h"

namespace tilesight::trace {

/// One of the loops that a step is in: its variable's name ("" for `while`), the variable's value (of `while`, the
/// trip) and how often it had gone around before.
using Iteration = findings::Iteration;

/// A value of a site: of an operation, of a loop's turn, of a function's arguments.
struct Named {
  std::string name;  // the user's variable, or ""
  std::string ssa;   // "%qk_43", or ""
  std::string type;  // "tensor<32x16xf32>"
  std::string file;
  uint32_t line = 0, column = 0;
  bool isPart = false;  // on the way to the variable of that name, in its own line
};

/// A place in the program where values appear: an operation in one chain of calls.
struct Site {
  enum class What : uint8_t {
    Operation,  // an operation with its results; stores, asserts and the like have none
    Arguments,  // a function is entered, or a loop begins a turn: what it was given, or carries
    Results,    // of a loop, a branch or a call that has ended
  };
  What what = What::Operation;
  uint32_t op = 0;          // pre-order number in the launch's IR
  std::string operation;    // "tt.load"
  std::string function;     // the symbol it stands in
  std::vector<uint32_t> calls;  // the calls it was expanded through, innermost first
  std::string file;
  uint32_t line = 0, column = 0;
  std::vector<Named> values;    // results, arguments
  std::vector<Named> operands;  // of What::Operation
};

/// One time that a site was executed, in order.
struct Step {
  uint32_t site = 0;            // index in Values::sites()
  std::vector<int64_t> trips;   // of the loops around it, outermost first
};

/// The steps of a program, or some of them.
struct Steps {
  int64_t total = 0, first = 0;
  std::vector<Step> steps;
  bool complete = true;         // false: the program was stopped; see `stopped`
  std::string stopped;
};

struct Value {
  int64_t step = 0;             // which step of the program made it
  uint32_t site = 0;            // index in Values::sites()
  bool operand = false;         // an operand of the site, not one of its values
  uint32_t number = 0;          // index in Site::values or Site::operands
  std::vector<Iteration> iterations;  // outermost first
  int64_t occurrence = 0, occurrences = 1;  // of those that the query fits, in order
  ir::ElementKind element = ir::ElementKind::Invalid;
  std::vector<int64_t> shape;   // {} is a scalar
  /// Row-major, elementBytes(element) each; i1: a byte of 0 or 1 each; pointers: 64-bit virtual addresses.
  std::vector<uint8_t> bytes;
  /// Pointers: per element the index in Launch::arguments it comes from, -1 if that is not known, and how many
  /// elements of that argument it is behind its element [0,..,0] (of bytes, if the argument is not known).
  std::vector<int32_t> arguments;
  std::vector<int64_t> offsets;
  /// Descriptors and block pointers have no elements: what they are.
  std::string text;

  int64_t numel() const;
};

struct SiteTable;

/// Which value. By `op`, or by `line` and `name`.
struct Query {
  std::array<int64_t, 3> program{};
  std::optional<uint32_t> op;       // pre-order number; with `result`, or `operand`
  uint32_t result = 0;
  std::optional<uint32_t> operand;
  std::string file;                 // the end of a path; "": the kernel's own file
  uint32_t line = 0;                // 0: any
  std::string name;                 // a variable, or an SSA name with its %; of several values of one line that have
                                    // the name, the last is meant: what the variable is after the line
  struct Trip {
    std::string loop;               // the loop variable's name; "while" for loops without one
    int64_t number = 0;             // from 0; or the variable's value
    bool isValue = false;
  };
  std::vector<Trip> trips;
  std::optional<int64_t> occurrence;  // from 0, of what fits so far; none: the last
};

/// The values of one launch. Thread-safe.
class Values {
 public:
  /// `launch`: with the data that it had before it ran, at least in what it reads. `reads`: what all programs read
  /// (RunOptions::keepAllReads); null: made when first needed, by running the launch on a copy. Only launches that
  /// read memory which they may write have any. Errors: what run() says of arguments.
  static Result<std::shared_ptr<Values>> of(std::shared_ptr<const exec::Kernel> kernel,
                                            std::shared_ptr<const launch::Launch> launch,
                                            std::shared_ptr<const exec::ReadsOfPrograms> reads = nullptr);
  ~Values();

  const launch::Launch& launch() const;
  const exec::Kernel& kernel() const;
  const std::vector<Site>& sites() const;
  /// What the launch left, as far as nobody is known to have changed it: storages of which that is not known have no
  /// data. From now on, what a program stores is compared with it. Where it is not the same, some tensor has changed
  /// unseen, and values of that program are an error. Null: nothing is compared. `lost`: storages (by number) that
  /// launch() does not hold as the launch found them, nor as it left them. No value depends on them, but the elements that
  /// no program wrote are gone.
  void compareWith(std::shared_ptr<const launch::Launch> left, std::vector<bool> lost = {});
  bool lost(size_t storage) const;
  /// Do programs read memory that the launch may write? Then replays need what they read.
  bool needsReads() const;

  /// Errors: no such program, operation, line, name, loop or trip: each says what there is.
  Result<Value> at(const Query& query) const;
  /// What the program executed, in order: `limit` steps from `first` on.
  Result<Steps> steps(std::array<int64_t, 3> program, int64_t first = 0, int64_t limit = INT64_MAX) const;
  /// All values and operands of these steps of a program. Errors: no such step.
  Result<std::vector<Value>> valuesAt(std::array<int64_t, 3> program, int64_t step) const;
  /// Every occurrence that fits the query (`occurrence` does not count), the first `limit` of them: a watch.
  Result<std::vector<Value>> all(const Query& query, size_t limit = 4096) const;

  /// Visits the steps of a program in order, each with its values, and its operands if `operands`. `visit` returns
  /// false to end it.
  using Visit = std::function<bool(std::vector<Value>& values)>;
  Status each(std::array<int64_t, 3> program, bool operands, const Visit& visit) const;

  // -- for src/trace ----------------------------------------------------------------------------------

  /// Runs a program alone under an observer. The text says why it ended early, or "".
  Result<std::string> watch(std::array<int64_t, 3> program, exec::Observer& observer) const;
  /// Runs programs number [first, past), x fastest, one after another.
  Result<std::string> watch(int64_t first, int64_t past, exec::Observer& observer) const;
  const SiteTable& table() const;
  /// The launch as it is after it ran (on a copy; once).
  Result<std::shared_ptr<const launch::Launch>> after() const;

 private:
  struct Impl;
  explicit Values(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// What to do where a tensor has changed since its launch.
inline constexpr const char* kAskBefore =
    "ask before the program changes it, or set ts.config.keep_inputs = \"1G\" before the launch to keep a copy";

/// The variables whose values a line makes, by line, in the kernel's own file (or one that ends in `file`).
std::map<uint32_t, std::vector<std::string>> namesByLine(const Values& values, const std::string& file = {});

}  // namespace tilesight::trace
