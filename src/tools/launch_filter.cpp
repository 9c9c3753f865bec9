#include "tools/launch_filter.h"

#if defined(_WIN32)
#include <regex>
#else
#include <regex.h>
#endif

#include <fmt/format.h>

namespace tilesight::tools {

Result<LaunchFilter> LaunchFilter::create(const std::string& name, uint64_t skip, uint64_t count) {
  LaunchFilter filter;
  filter.name_ = name;
  filter.skip_ = skip;
  filter.count_ = count;
  constexpr std::string_view prefix = "regex:";
  if (!name.starts_with(prefix)) return filter;
  const std::string pattern = name.substr(prefix.size());
#if defined(_WIN32)
  try {
    filter.regex_ = std::make_shared<std::regex>(pattern, std::regex::ECMAScript);
  } catch (const std::regex_error& error) {
    return failure(fmt::format("--kernel-name {}: {}", name, error.what()));
  }
#else
  auto compiled = std::make_unique<regex_t>();
  if (const int code = regcomp(compiled.get(), pattern.c_str(), REG_EXTENDED | REG_NOSUB)) {
    char message[128];
    regerror(code, compiled.get(), message, sizeof message);
    return failure(fmt::format("--kernel-name {}: {}", name, message));
  }
  filter.regex_ = std::shared_ptr<void>(compiled.release(), [](void* regex) {
    regfree(static_cast<regex_t*>(regex));
    delete static_cast<regex_t*>(regex);
  });
#endif
  return filter;
}

bool LaunchFilter::matches(const std::string& kernel) const {
  if (!regex_) return name_.empty() || name_ == kernel;
#if defined(_WIN32)
  return std::regex_search(kernel, *static_cast<const std::regex*>(regex_.get()));
#else
  return regexec(static_cast<const regex_t*>(regex_.get()), kernel.c_str(), 0, nullptr, 0) == 0;
#endif
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
