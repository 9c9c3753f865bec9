// Values of a launch that is over, and the inputs that they are computed from.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>

#include "binding.h"
#include "trace/values.h"

namespace tilesight::binding {

/// What a launch was given, for whoever asks later. Either a copy, or what the program's own tensors still hold: those
/// that the launch may read and write are copied, and of those that it reads a change is noticed by the version that torch
/// counts, by later launches, and by some of their bytes. docs/values.md says what stays unseen.
class Inputs {
 public:
  Inputs() = default;
  /// A whole copy.
  static Inputs copied(std::shared_ptr<const launch::Launch> copy);
  /// `launch` as it is before it runs; `owners` (one a storage) keep the program's memory alive. With the GIL.
  static Inputs shared(const exec::Kernel& kernel, const launch::Launch& launch, const std::vector<nanobind::object>& owners);
  /// Read from a bundle when they are needed.
  static Inputs later(std::function<Result<launch::Launch>()> read);

  /// Right after the launch, with the GIL. `complete`: all programs ran to their ends, so that what they left can be
  /// compared with.
  void launched(bool complete);

  explicit operator bool() const { return launch_ || read_later_; }
  /// Errors (thrown): a tensor has changed since, a bundle cannot be read.
  std::shared_ptr<const launch::Launch> get() const;
  /// The same, where all of it matters: of what the launch wrote and did not read, get() holds what it left. Errors
  /// (thrown): as get(); that has changed, too.
  std::shared_ptr<const launch::Launch> whole() const;
  /// By storage: has it changed since the launch wrote it, without a copy?
  std::vector<bool> lost() const;
  /// What the launch left; storages that have changed since have no data. Null: that is not known.
  std::shared_ptr<const launch::Launch> left() const;
  void drop() { *this = Inputs(); }

 private:
  mutable std::shared_ptr<const launch::Launch> launch_;
  std::function<Result<launch::Launch>()> read_later_;
  struct Seen {
    size_t storage;
    uint64_t print;    // of some of its bytes
    int64_t version;   // torch's count of changes, or -1
  };
  Seen seen(size_t storage) const;
  /// How the storage has changed since, for a message.
  std::optional<std::string> change(const Seen& seen) const;

  std::vector<Seen> read_, written_;
  std::shared_ptr<launch::Launch> now_;  // all of the program's own memory, with its owners; null: a copy was made
  std::vector<bool> mayWrite_;
  uint64_t launchNumber_ = 0;
  bool complete_ = false;
};

}  // namespace tilesight::binding
