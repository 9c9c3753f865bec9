// What a range of programs did: the state that the recorder forks.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "record/accesses.h"
#include "record/programs.h"
#include "record/stream.h"
#include "tilesight/client.h"

namespace tilesight::record {

/// Of one launch, shared by its ranges and left as it is while they run.
struct LaunchRecording {
  FixedNames fixed;
  LaunchNames names;
  std::string folder;     // for temporary files
  bool elements = false;  // places of single elements are written, where nothing else says them
  std::atomic<bool>* failed = nullptr;  // set where something cannot be written
  std::unique_ptr<Encoders> encoders = std::make_unique<Encoders>();
};

class Range {
 public:
  /// `whole`: it begins with the launch's first program, others are merged into it.
  Range(const LaunchRecording& launch, bool whole);
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;

  void access(const ts_host& host, const ts_access& access);
  void dot(const ts_compute& compute);
  void reduce(const ts_compute& compute);

  /// Takes the programs behind those that are here.
  void merge(Range& later);
  /// The launch has ended after `programs` programs: those behind the last that did something did nothing.
  void end(int64_t programs);
  using Sink = Stream<AccessRows>::Sink;
  /// Batches that are certain; after end(), all.
  Status handOn(const Sink& accesses, const Sink& programs);
  /// Has something gone wrong?
  const Status& status() const { return accesses_.status() ? programs_.status() : accesses_.status(); }
  int64_t accesses() const { return count_; }
  /// That have rows.
  int64_t programs() const { return program_ + 1; }

 private:
  /// The program that hooks are called of.
  void turn(const ts_program& program);
  void close();
  /// Rows of programs that did nothing, up to `program`.
  void skipTo(int64_t program);
  void bounds(const ts_host& host, const ts_access& access, const Pattern& pattern, int64_t origin);

  const LaunchRecording& launch_;
  Patterns patterns_;
  arrow::Packer packer_;
  Stream<AccessRows> accesses_;
  Stream<ProgramRows> programs_;
  ProgramSums sums_;
  int64_t program_ = -1;  // the current one; -1: none yet
  int64_t first_ = -1;    // of the range
  bool open_ = false, ended_ = false;
  int64_t count_ = 0;     // accesses
  // Of dense and separable accesses.
  std::vector<int64_t> addresses_;
  std::vector<uint8_t> mask_;
  int64_t offset_ = 0, low_ = 0, high_ = 0;
  std::vector<int64_t> cells_;
};

}  // namespace tilesight::record
