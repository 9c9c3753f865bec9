// `--kernel-name`, `--launch-skip`, `--launch-count`: which launches are looked at.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "support/result.h"

namespace tilesight::tools {

class LaunchFilter {
 public:
  /// `name` is "" (all kernels), a whole kernel name, or "regex:" and an extended regular expression
  /// that is searched for in the name. Errors: an expression that does not compile.
  static Result<LaunchFilter> create(const std::string& name, uint64_t skip, uint64_t count);
  /// Whether to look at the next launch. Skip and count are those of launches whose name matches.
  bool wants(const std::string& kernel);

 private:
  bool matches(const std::string& kernel) const;

  std::string name_;
  std::shared_ptr<void> regex_;  // compiled, or null
  uint64_t skip_ = 0, count_ = UINT64_MAX;
};

}  // namespace tilesight::tools
