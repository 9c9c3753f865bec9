// What a child process says to its parent: what it begins, and in the end its result. A part of support/child.h.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "support/result.h"

namespace tilesight::support {

enum class Message : char { Begins = 'b', Result = 'r', Threw = 't' };

/// A message as it goes through the pipe: its kind, the number of bytes, the bytes.
std::string packed(Message kind, const std::string& bytes);

/// The parent's side: takes bytes as they come, and knows what the child does and how long it may still take.
class Conversation {
 public:
  /// `seconds` for one thing; the process itself may take half a minute to start.
  Conversation(double seconds, bool starts);

  void add(const char* bytes, size_t count) { bytes_.append(bytes, count); }
  /// The result, or that the work threw or sent what is no message, once that has come.
  std::optional<Result<std::string>> outcome();

  /// Until the child is late; 0 or less: it is.
  int64_t millisecondsLeft() const;
  tl::unexpected<Diagnostic> isLate() const;
  /// `how`: "crashed with signal 11".
  tl::unexpected<Diagnostic> ended(const std::string& how) const;

 private:
  using Clock = std::chrono::steady_clock;
  void wait(double seconds);

  double seconds_;
  Clock::time_point deadline_;
  std::string doing_ = "the process", bytes_;
};

}  // namespace tilesight::support
