// Findings and launches made by hand, as the engine and capture would make them.
#pragma once

#include "findings/session.h"
#include "launch/launch.h"

namespace tilesight::test {

/// The finding of the attention kernel with a tail bug: K is read past its end.
findings::Finding attentionFinding();
/// A launch with that finding.
findings::LaunchReport attentionReport();
/// An empty session at the root of a repository.
findings::Session sessionIn(const std::string& root);
/// A clean launch of `kernel`.
findings::LaunchReport cleanReport(const std::string& kernel);
findings::Unknown histogramUnknown();

/// A launch with every kind of argument. The first storage holds `count` floats 0, 1, 2, ...
launch::Launch sampleLaunch(uint64_t count = 1000);

/// A storage of `bytes` bytes, all zero, that owns its memory.
launch::Storage makeStorage(uint64_t bytes, uint64_t recordedBase, const std::string& name);

}  // namespace tilesight::test
