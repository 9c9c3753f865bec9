// Values of a launch that is over, and the inputs that they are computed from.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <nanobind/nanobind.h>

#include "binding.h"
#include "trace/values.h"

namespace tilesight::binding {

/// What a launch was given, for whoever asks later. Either a copy, or what the program's own tensors still hold: those
/// that the launch may write are copied, the others are told to be the same by a fingerprint.
class Inputs {
 public:
  Inputs() = default;
  /// A whole copy.
  static Inputs copied(std::shared_ptr<const launch::Launch> copy);
  /// `launch` as it is before it runs; `owners` (one a storage) keep the program's memory alive. With the GIL.
  static Inputs shared(const exec::Kernel& kernel, const launch::Launch& launch, const std::vector<nanobind::object>& owners);
  /// Read from a bundle when they are needed.
  static Inputs later(std::function<Result<launch::Launch>()> read);

  explicit operator bool() const { return launch_ || read_; }
  /// Errors (thrown): a tensor has changed since, a bundle cannot be read.
  std::shared_ptr<const launch::Launch> get() const;
  void drop() { *this = Inputs(); }

 private:
  mutable std::shared_ptr<const launch::Launch> launch_;
  std::function<Result<launch::Launch>()> read_;
  struct Print {
    size_t storage;
    uint64_t value;
  };
  std::vector<Print> prints_;
};

}  // namespace tilesight::binding
