// The example of docs/write-a-client.md, whole: how many bytes each line of a kernel reads and writes.
// It asks the core for addresses and masks only, keeps one row per operation, and prints a table when
// the launch is over:
//
//   tilesight run --client traffic script.py
#include "clients/traffic/traffic.h"

#include <cstdio>
#include <map>
#include <string>

#include "tilesight/client.hpp"

namespace tilesight::clients {

namespace {

class Traffic {
 public:
  static constexpr const char* name = "traffic";
  // Clean accesses come to on_load and friends only if some client needs addresses.
  static constexpr uint32_t needs = TS_NEED_ADDRESSES;

  Traffic(const ts_host& host, const char*) : host_(&host) {}

  // Programs run in ranges, possibly side by side: each range has its own counts ...
  Traffic fork() const { return Traffic(*host_, ""); }

  // ... which are added up in program order.
  void merge(Traffic&& later) {
    for (auto& [op, row] : later.rows_) {
      Row& mine = rows_[op];
      mine.place = row.place;
      mine.read += row.read;
      mine.written += row.written;
      mine.accesses += row.accesses;
    }
  }

  void launch_begin(const ts_launch& launch) { kernel_ = launch.kernel; }

  // One call per tile operation: `active` elements pass the mask, whatever form the addresses have.
  void on_load(const ts_access& access) { rowOf(access).read += access.active * access.element_bytes; }
  void on_store(const ts_access& access) { rowOf(access).written += access.active * access.element_bytes; }
  void on_atomic(const ts_access& access) {
    Row& row = rowOf(access);
    row.read += access.active * access.element_bytes;
    row.written += access.active * access.element_bytes;
  }

  void launch_end(const ts_summary& summary) {
    std::fprintf(stderr, "%s: traffic of %lld programs\n", kernel_.c_str(), static_cast<long long>(summary.programs));
    for (auto& [op, row] : rows_)
      std::fprintf(stderr, "  %-24s %12lld bytes read %12lld bytes written %8lld tile accesses\n", row.place.c_str(),
                   static_cast<long long>(row.read), static_cast<long long>(row.written),
                   static_cast<long long>(row.accesses));
  }

 private:
  struct Row {
    std::string place;
    int64_t read = 0, written = 0, accesses = 0;
  };

  Row& rowOf(const ts_access& access) {
    Row& row = rows_[access.op];
    if (row.accesses++ == 0) {
      // The host knows where an operation stands in the source.
      const char* file = nullptr;
      uint32_t line = 0, column = 0;
      host_->op_place(access.core, access.op, &file, &line, &column);
      std::string path = file ? file : "?";
      row.place = path.substr(path.rfind('/') + 1) + ":" + std::to_string(line);
    }
    return row;
  }

  const ts_host* host_;
  std::string kernel_;
  std::map<uint32_t, Row> rows_;  // by operation number: the order of the IR
};

}  // namespace

const ts_client& traffic() { return client_table<Traffic>(); }

}  // namespace tilesight::clients
