// The JSON files of a bundle: `bundle.json` (what the bundle holds) and `launch.json` (one launch).
// docs/bundle.md describes them. Text in, structures out; no file is touched here.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "launch/launch.h"
#include "support/result.h"

namespace tilesight::launch {

constexpr int bundleVersion = 1;

/// Bytes of a content that are stored in its file.
struct Piece {
  uint64_t offset = 0;  // in the content
  uint64_t bytes = 0;
  bool operator==(const Piece&) const = default;
};

/// The bytes of a storage at one moment: those of content `base`, or a repeated pattern, overwritten
/// by the pieces, which lie in `file` one after another.
struct Content {
  uint64_t bytes = 0;
  std::vector<uint8_t> fill;  // 1, 2, 4, 8 or 16 bytes; {0} if there is a base
  int64_t base = -1;          // number of an earlier content without a base and of equal size; or -1
  std::vector<Piece> pieces;  // ascending, disjoint
  std::string file;           // "" without pieces
};

struct SourceFile {
  std::string path;  // as in locations; never opened
  std::string file;  // in the bundle
};

/// bundle.json
struct BundleManifest {
  std::vector<std::string> launches;  // file names, in order
  std::vector<Content> contents;
  std::vector<SourceFile> sources;
};

/// launch.json: a launch whose storages have no memory yet, and where its parts lie.
struct LaunchManifest {
  Launch launch;                   // without irText, sources and memory
  std::string irFile;
  std::vector<uint32_t> contents;  // one a storage
  std::vector<uint32_t> sources;
};

std::string writeManifest(const BundleManifest& manifest);
std::string writeManifest(const LaunchManifest& manifest);

/// Errors name the field ("contents[3].bytes: ..."). All numbers are within bounds afterwards.
Result<BundleManifest> parseBundleManifest(const std::string& text);
/// As above, and all indices are within `bundle`, sizes of storages those of their contents, views
/// inside their storages.
Result<LaunchManifest> parseLaunchManifest(const std::string& text, const BundleManifest& bundle);

}  // namespace tilesight::launch
