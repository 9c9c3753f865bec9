#include "findings/remarks.h"

#include <fmt/format.h>

#include "findings/format.h"

namespace tilesight::findings {

std::string noLaunchLeft(const std::string& prefix, const std::string& name, const std::vector<std::string>& kernels) {
  const std::string why = name.empty() ? fmt::format("{0}launch-skip and {0}launch-count leave no launch", prefix)
                                       : fmt::format("no launch matches {}kernel-name {}", prefix, name);
  return fmt::format("{} (kernels seen: {})", why, joined(kernels, ", "));
}

std::string addressOnlyRemark(const std::string& prefix) {
  return prefix + "address-only: outputs were not computed, so launches that use them may be judged on other data than "
                  "in a full run";
}

std::string tracerRemark(const std::string& bundle) {
  const std::string start = "the tracer's records were counted and not kept: ";
  if (!bundle.empty())
    return fmt::format("{}ts.load(\"{}\", client=\"tracer\") has them as report.trace in Python", start, bundle);
  return start + "in Python, ts.check(kernel, client=\"tracer\")[grid](...).trace has those of a launch, and "
                 "ts.load(\"run.tsb\", client=\"tracer\") those of launches kept with --save-all --save run.tsb";
}

}  // namespace tilesight::findings
