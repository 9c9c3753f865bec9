#include "tools/launch_filter.h"

#include <regex.h>

#include <fmt/format.h>

namespace tilesight::tools {

Result<LaunchFilter> LaunchFilter::create(const std::string& name, uint64_t skip, uint64_t count) {
  LaunchFilter filter;
  filter.name_ = name;
  filter.skip_ = skip;
  filter.count_ = count;
  constexpr std::string_view prefix = "regex:";
  if (!name.starts_with(prefix)) return filter;
  auto compiled = std::make_unique<regex_t>();
  const std::string pattern = name.substr(prefix.size());
  if (const int code = regcomp(compiled.get(), pattern.c_str(), REG_EXTENDED | REG_NOSUB)) {
    char message[128];
    regerror(code, compiled.get(), message, sizeof message);
    return failure(fmt::format("--kernel-name {}: {}", name, message));
  }
  filter.regex_ = std::shared_ptr<void>(compiled.release(), [](void* regex) {
    regfree(static_cast<regex_t*>(regex));
    delete static_cast<regex_t*>(regex);
  });
  return filter;
}

bool LaunchFilter::matches(const std::string& kernel) const {
  if (!regex_) return name_.empty() || name_ == kernel;
  return regexec(static_cast<const regex_t*>(regex_.get()), kernel.c_str(), 0, nullptr, 0) == 0;
}

bool LaunchFilter::wants(const std::string& kernel) {
  if (!matches(kernel)) return false;
  if (skip_) {
    --skip_;
    return false;
  }
  if (!count_) return false;
  --count_;
  return true;
}

}  // namespace tilesight::tools
