// What a run says about its options: the same words from `tilesight check` and `tilesight run`.
#pragma once

#include <string>
#include <vector>

namespace tilesight::findings {

/// Why no launch was checked where --kernel-name (`name`, or ""), --launch-skip and --launch-count left none of
/// `kernels`. `prefix` stands before the options' names.
std::string noLaunchLeft(const std::string& prefix, const std::string& name, const std::vector<std::string>& kernels);

/// --address-only computes no outputs.
std::string addressOnlyRemark(const std::string& prefix);

/// The tracer's records are not kept by commands. `bundle`: where the launches are, or "" if they were not saved.
std::string tracerRemark(const std::string& bundle);

}  // namespace tilesight::findings
