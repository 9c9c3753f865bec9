// What a view of a whole launch needs, added up while the launch runs: accesses per element of each tensor, and totals
// per operation and per program. So the page never asks for single accesses of a launch.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <vector>

#include "server/element_map.h"
#include "server/rows.h"
#include "tilesight/client.h"

namespace tilesight::server {

struct OpTotals {
  uint64_t accesses = 0, elements = 0, active = 0, read = 0, written = 0, faults = 0;
};

struct ProgramTotals {
  std::vector<uint32_t> accesses, faults;
  std::vector<double> read, written, masked;  // bytes, bytes, elements that masks left out
};

/// The client. `done`, which may be null, counts programs that have run.
class Survey {
 public:
  static constexpr const char* name = "survey";
  static constexpr uint32_t needs = TS_NEED_ADDRESSES | TS_NEED_PROGRAMS;

  Survey(const ts_host& host, const char*) : host_(&host), rows_(host) {}
  Survey(const ts_host& host, std::atomic<int64_t>* done) : host_(&host), done_(done), rows_(host) {}
  ~Survey();
  Survey(Survey&&) = delete;

  Survey fork() const { return Survey(*this, Fork{}); }
  void merge(Survey&& later);
  void launch_begin(const ts_launch& launch);
  void argument(const ts_argument& argument);
  void program_end(const ts_program&);
  void on_load(const ts_access& access) { take(access, true, false); }
  void on_store(const ts_access& access) { take(access, false, true); }
  void on_atomic(const ts_access& access) { take(access, true, true); }
  /// Call it once after the run: until then there are no counts.
  void finish();

  const std::vector<ElementMap>& maps() const { return maps_; }  // by argument
  const std::map<uint32_t, OpTotals>& ops() const { return ops_; }
  /// Empty for grids of more than kMaxProgramTotals programs.
  const ProgramTotals& programs() const { return programs_; }
  uint64_t accesses() const;

  static constexpr int64_t kMaxProgramTotals = 1 << 26;

 private:
  struct Fork {};
  Survey(const Survey& whole, Fork);
  void take(const ts_access& access, bool reads, bool writes);
  size_t rowOf(int64_t program);  // in programs_
  void resize(size_t n);

  const ts_host* host_;
  std::atomic<int64_t>* done_ = nullptr;
  int64_t finished_ = 0;  // programs of this range, as long as it may be dropped
  Rows rows_;
  std::vector<ElementMap> maps_;
  std::map<uint32_t, OpTotals> ops_;
  std::pair<uint32_t, OpTotals*> last_{0, nullptr};
  ProgramTotals programs_;
  bool isNumbered_ = true;    // programs are few enough for the maps
  int64_t count_ = 0;         // of programs, or 0: too many
  int64_t firstProgram_ = -1; // that programs_ has; all of them, in the whole
  bool isWhole_ = true;
};

}  // namespace tilesight::server
