// Bundles: launches on disk, as `*.tsb` (a zip with stored entries) or a directory of the same
// layout. docs/bundle.md describes the format.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "launch/launch.h"
#include "support/result.h"

namespace tilesight::launch {

/// Reads the launches of a bundle one by one, so that only those in use take memory. Input may be
/// hostile: nothing outside the bundle is touched, all sizes are bounded, and anything odd is an
/// error with the bundle's path, what is wrong, and what to do.
class BundleReader {
 public:
  static Result<BundleReader> open(const std::string& path);
  /// A bundle in memory; `bytes` must outlive the reader. `name` stands for the path in messages.
  static Result<BundleReader> openBytes(std::span<const uint8_t> bytes, const std::string& name);

  BundleReader(BundleReader&&) noexcept;
  BundleReader& operator=(BundleReader&&) noexcept;
  ~BundleReader();

  size_t launches() const;
  /// The kernel of launch `index`, without reading its storages.
  Result<std::string> kernelName(size_t index) const;
  /// The number that launch `index` had in its session, likewise.
  Result<uint32_t> launchNumber(size_t index) const;
  /// Launch `index` with its storages in memory of its own: running it in place changes neither the
  /// bundle nor another launch. The memory lives as long as the storages' owners.
  Result<Launch> launch(size_t index) const;

 private:
  struct Impl;
  explicit BundleReader(std::unique_ptr<Impl> impl);
  static Result<BundleReader> over(Result<std::unique_ptr<class Archive>> archive);
  std::unique_ptr<Impl> impl_;
};

/// All launches of a bundle, in order.
Result<std::vector<Launch>> readBundle(const std::string& path);

/// Writes a bundle. What is written appears under its name when it is whole (`finish`), or never.
class BundleWriter {
 public:
  enum class Layout { Zip, Directory };
  /// Whose data a bundle carries. Zeros stand for the rest, and the storage is marked `withheld`.
  enum class Data {
    All,
    Indices,  // storages that a tensor of integers (or pointers) lies in
    None,
  };

  /// Starts a bundle that will replace `path`. Errors: the folder is not there or not writable; with
  /// Layout::Directory, `path` exists.
  static Result<BundleWriter> open(const std::string& path, Layout layout = Layout::Zip);

  BundleWriter(BundleWriter&&) noexcept;
  BundleWriter& operator=(BundleWriter&&) noexcept;
  /// Drops what was not finished.
  ~BundleWriter();

  /// Takes a launch as it is now: call it before the launch runs. Storages whose bytes an earlier
  /// launch of the bundle already has are not stored again; of a changed one, the changed parts are.
  Status add(const Launch& launch, Data data = Data::All);
  /// Bytes of storages and texts taken so far: what the bundle will weigh.
  uint64_t bytes() const;
  Status finish();

 private:
  struct Impl;
  explicit BundleWriter(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tilesight::launch
