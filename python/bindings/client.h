// Clients written in Python: the C table's hooks fill columns, and a Python object gets them in
// batches, range by range in program order.
#pragma once

#include <array>
#include <cstdint>
#include <exception>
#include <map>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>

#include "exec/run.h"
#include "findings/finding.h"
#include "launch/launch.h"

namespace tilesight::binding {

/// The rows of one hook in one range of programs.
struct AccessColumns {
  std::vector<int64_t> program, order, elements, active, base, start, maskStart;
  std::vector<uint32_t> op, faults, elementBytes, rank;
  std::vector<int32_t> argument;
  std::vector<uint8_t> kind, form, maskForm, maskAll, element, sem, scope;
  std::array<std::vector<int64_t>, 3> valueStart;  // by ts_which; -1: there are none
  std::vector<uint8_t> values;                     // at the starts
  std::vector<int64_t> numbers;  // at `start`: shape, strides, lo, hi, then axes or addresses
  std::vector<uint8_t> bytes;    // at `maskStart`: axes or elements of masks
};

struct ComputeColumns {
  std::vector<int64_t> program, order, m, n, k;
  std::vector<uint32_t> op, element;
};

struct IterationColumns {
  std::vector<int64_t> program, order, value, trip;
  std::vector<uint32_t> op;
};

struct ProgramColumns {
  std::vector<int64_t> program, order;
};

struct Place {
  std::string file, name;
  uint32_t line = 0, column = 0;
};

/// One tilesight.Client during one launch.
class PythonClient {
 public:
  /// Errors (thrown): needs that do not exist. The GIL is held.
  PythonClient(nanobind::object client, const launch::Launch& launch);
  PythonClient(const PythonClient&) = delete;

  exec::ClientInstance instance() { return {&table_, "", this}; }
  /// After the run, with the GIL: raises what a hook raised, and adds the client's findings.
  void finish(findings::LaunchReport& report);

 private:
  struct Range;
  void hand(Range& range);
  template <typename Call>
  void guarded(Call call);
  void defineTable(uint32_t needs, bool computes);

  nanobind::object client_;
  const launch::Launch& launch_;
  ts_client table_{};
  std::string name_;
  bool elements_ = false;  // keep dense addresses and masks
  bool values_ = false;    // keep what is loaded and stored
  std::map<uint32_t, Place> places_;
  std::exception_ptr error_;
};

}  // namespace tilesight::binding
