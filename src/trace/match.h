// Which values a query means.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "exec/machine.h"
#include "trace/values.h"

namespace tilesight::trace {

struct Candidate {
  bool operand = false;
  uint32_t number = 0;
};

/// Values that have the name and the line, or are of the operation, by site.
class Candidates {
 public:
  void add(uint32_t site, Candidate candidate) { bySite_[site].push_back(candidate); }
  const std::vector<Candidate>& of(uint32_t site) const {
    static const std::vector<Candidate> none;
    const auto found = bySite_.find(site);
    return found == bySite_.end() ? none : found->second;
  }
  bool empty() const { return bySite_.empty(); }

 private:
  std::unordered_map<uint32_t, std::vector<Candidate>> bySite_;
};

/// The loops that were around what fitted, and how far they went.
class LoopsSeen {
 public:
  struct Range {
    int64_t lowest = INT64_MAX, highest = INT64_MIN;
  };
  void add(exec::Machine& machine);
  /// A loop's name; "while" if it has none.
  const std::string& nameOf(exec::Machine& machine, const exec::Instr& loop);
  const std::map<std::string, Range>& trips() const { return trips_; }

 private:
  std::unordered_map<const exec::Instr*, std::string> names_;
  std::map<std::string, Range> trips_;
};

/// Is the program in these turns of its loops?
bool fits(exec::Machine& machine, const std::vector<Query::Trip>& trips, LoopsSeen& seen);

/// Errors: there is no such operation, result, operand, line or name.
Result<Candidates> candidatesOf(const Values& values, const Query& query);

/// Why the program came to nothing that fits. `count`: how often it came to what fits but for the occurrence.
Diagnostic notFound(const Values& values, const Query& query, const Candidates& candidates, const LoopsSeen& loops,
                    int64_t count, const std::string& stopped);

}  // namespace tilesight::trace
