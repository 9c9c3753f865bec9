// A finding: one thing a client has to say to the user, with its evidence. Field names are those of
// the JSON contract (docs/findings.md).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tilesight::findings {

enum class Severity : uint8_t { Note, Warning, Error };

struct Frame {
  std::string file;
  uint32_t line = 0, column = 0;
  std::string function;
};

struct Iteration {
  std::string name;   // the loop variable's name in the source, or "" for while loops
  int64_t value = 0;  // of the induction variable; the trip for while loops
  int64_t trip = 0;   // 0-based
};

struct Operand {
  std::string argument;            // the kernel's parameter name
  std::vector<int64_t> index;      // of the element in the tensor; empty if it has none
  int64_t byteOffset = 0;          // from the view's first byte
  int64_t bytesPast = 0;           // how far past the end (or, negative, before the start)
  std::vector<int64_t> shape, strides;  // strides in elements
  std::string dtype;               // "float16", "int32", ...
  int64_t viewBytes = 0;           // extent of the view: first to last byte
  int64_t allocationBytes = 0;
  bool allocationKnown = true;
};

struct Because {
  std::string name;        // the user's variable, or ""
  std::string expression;  // in the user's names
  std::string value;       // "960..1023", "1000"
};

/// A `# tilesight: ignore[...]` comment that is in force at a line.
struct IgnoreComment {
  std::string file;
  uint32_t line = 0;               // of the comment
  std::vector<std::string> kinds;  // as written; empty: the comment names none, and does nothing
  std::string misspelt = {};       // what stands where "ignore" should, as "tilesight: noqa"; "": it is right
};

struct Finding {
  std::string kind;  // "out-of-bounds"
  Severity severity = Severity::Error;
  std::string message;      // one sentence, without place
  std::string fingerprint;
  std::string client;
  std::string kernel;
  std::string kernelFile;   // where the kernel is defined, or ""; the session fills it in
  uint32_t launch = 0;      // 0-based, in the session
  std::array<int64_t, 3> grid{1, 1, 1};
  std::string config;       // JSON object text: constexprs, autotune configuration
  std::string test;
  Frame location;           // innermost frame in the user's code
  std::vector<Frame> stack; // callers, innermost first, without `location`
  std::string sourceLine;   // text of location.line, or ""
  std::vector<IgnoreComment> ignores;  // at `location` and at the frames of `stack`
  std::string accessKind;   // "read", "write", "atomic", or ""
  int64_t accessBytes = 0;  // bytes of one element
  std::string operation;    // "load", "store", "atomic_add"...
  std::array<int64_t, 3> program{0, 0, 0};
  std::vector<int64_t> element;  // in the tile; empty for scalars
  std::vector<Iteration> iterations;  // outermost first
  std::optional<Operand> operand;
  std::vector<Because> because;
  std::vector<std::string> notes;         // "no mask on offs_n"; "result unused: ..."
  std::vector<std::string> consequences;
  std::string remedy;                     // what to do next
  int64_t maxBytesPast = 0;  // over all elements counted: how far outside, in bytes
  int64_t otherSideBytes = 0;  // how far outside on the other side, if that happened too; in the message
  int64_t countElements = 0, countPrograms = 0, countLaunches = 0;
  std::string bundle;
};

/// Something that was not checked or not executed, and why. Makes the verdict `unknown`.
struct Unknown {
  std::string kernel;
  std::string reason;    // "tt.histogram cannot be executed yet"
  Frame location;
  std::string sourceLine;
  std::string kernelFile = {};  // as a finding's
};

enum class Verdict : uint8_t { Ok, Finding, Unknown };

/// What one launch amounted to.
struct LaunchReport {
  uint32_t launch = 0;
  std::string kernel;
  std::string file;  // where the kernel is defined, or ""
  std::array<int64_t, 3> grid{1, 1, 1};
  std::vector<Finding> findings;
  std::vector<Unknown> unknowns;
  double seconds = 0;
  std::vector<std::string> checked, notChecked;  // "bounds", "alignment", "asserts"; "races", ...
  uint64_t traceRecords = 0;  // what the tracer recorded, if it was on
  std::vector<std::string> clients;  // that looked at the launch
  /// Error findings beat unknowns beat ok; warnings and notes leave `ok`.
  Verdict verdict() const;
};

const char* severityName(Severity severity);
const char* verdictName(Verdict verdict);

}  // namespace tilesight::findings
