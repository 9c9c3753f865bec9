// Findings of a range of programs, merged by place: one per kind, call chain, operation and argument,
// with the first witness in program order and the counts of all.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "exec/reads.h"
#include "exec/work.h"
#include "findings/finding.h"
#include "plan/plan.h"

namespace tilesight::exec {

struct FindingKey {
  std::string kind;
  const plan::Instr* instr = nullptr;  // an instruction is one operation in one call chain
  int32_t argument = -1;
  auto operator<=>(const FindingKey&) const = default;
};

class Collector {
 public:
  /// The finding of this key, or null if it has not been seen in this range.
  findings::Finding* find(const FindingKey& key);
  findings::Finding& add(const FindingKey& key, findings::Finding finding);
  /// Counts `elements` more for a finding of program `linear`.
  void count(const FindingKey& key, int64_t elements, int64_t linear);
  /// What came of faults at this instruction, or of promises that it breaks. The findings there that tell of those
  /// get it when they are taken, whichever program they are of: a fault and its finding may be of different ranges.
  enum class Of : uint8_t { Faults, Promises };
  void addConsequence(const plan::Instr* instr, Of of, const std::string& text);
  void addUnknown(findings::Unknown unknown);
  /// How many findings there are.
  size_t found() const { return entries_.size(); }
  /// Keeps what a program has read that is the witness of a finding.
  void keepReads(int64_t program, const Reads& reads) { reads_[program] = reads; }
  ReadsOfPrograms takeReads() { return std::move(reads_); }
  /// Keeps text that the programs print.
  void print(std::string text) { printed_ += text; }
  std::string takePrinted() { return std::exchange(printed_, {}); }
  /// How the programs were run.
  Work& work() { return work_; }
  /// Appends a later range.
  void merge(Collector&& later);
  /// In order of first appearance.
  std::vector<findings::Finding> takeFindings();
  std::vector<findings::Unknown> takeUnknowns() { return std::move(unknowns_); }
  bool empty() const { return entries_.empty() && unknowns_.empty(); }

 private:
  static bool tellsOf(const std::string& kind, Of of);

  struct Entry {
    findings::Finding finding;
    int64_t lastProgram = -1;
    size_t order = 0;
  };
  std::map<FindingKey, Entry> entries_;
  std::map<std::pair<const plan::Instr*, Of>, std::vector<std::string>> consequences_;
  std::vector<findings::Unknown> unknowns_;
  std::string printed_;
  ReadsOfPrograms reads_;
  Work work_;
};

}  // namespace tilesight::exec
