// The launches of a trace themselves, as bundles in its folder: what values are computed from. Where their data was not
// kept, bundles have the IR, the arguments and the source.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "launch/bundle.h"

namespace tilesight::record {

/// Where a trace has its bundles, beside its tables.
inline constexpr const char* kBundles = "bundles";
std::string bundlesFolder(const std::string& trace);
/// Those that are there, by name.
std::vector<std::string> bundlesOf(const std::string& trace);

/// Writes them: a bundle has some launches, one after another, as a segment has.
class Kept {
 public:
  /// `launch` as it is before it runs; `number` in the trace. Errors: as BundleWriter has them.
  Status add(const std::string& trace, uint32_t number, const launch::Launch& launch, launch::BundleWriter::Data data);
  /// The bundle that is open gets its name. Without it, it is not there.
  Status close();
  uint32_t launches() const { return launches_; }
  /// Of the open one: what it will weigh; 0 if there is none.
  uint64_t open() const { return writer_ ? writer_->bytes() : 0; }
  /// Of those that are closed.
  uint64_t bytes() const { return bytes_; }

 private:
  std::optional<launch::BundleWriter> writer_;
  std::string path_;
  uint32_t launches_ = 0;  // in the open one
  uint64_t bytes_ = 0;
};

}  // namespace tilesight::record
