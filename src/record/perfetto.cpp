#include "record/perfetto.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tilesight::record {

namespace {

std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string fileName(const std::string& path) { return path.substr(path.rfind('/') + 1); }

class Output {
 public:
  explicit Output(const std::string& path) : path_(path), temporary_(path + ".part"), file_(std::fopen(temporary_.c_str(), "wb")) {}
  ~Output() {
    if (!file_) return;
    std::fclose(file_);
    std::remove(temporary_.c_str());
  }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  Status write(const std::string& text) {
    if (!file_ || std::fwrite(text.data(), 1, text.size(), file_) != text.size()) return problem();
    return {};
  }
  Status event(const std::string& text) {
    TS_CHECK(write(first_ ? "\n" : ",\n"));
    first_ = false;
    return write(text);
  }
  Status finish() {
    std::FILE* file = std::exchange(file_, nullptr);
    if (std::fclose(file) == 0 && std::rename(temporary_.c_str(), path_.c_str()) == 0) return {};
    const Status status = problem();
    std::remove(temporary_.c_str());
    return status;
  }

 private:
  Status problem() const {
    return failure(Diagnostic{path_, 0, 0, fmt::format("cannot be written: {}", std::strerror(errno)), {}});
  }

  std::string path_, temporary_;
  std::FILE* file_;
  bool first_ = true;
};

// A slice that is open: a program, or a turn of its loop.
struct Slice {
  bool open = false;
  int64_t launch = 0, key = 0, start = 0;
  std::string name;

  Status close(Output& out, int64_t now) {
    if (!std::exchange(open, false)) return {};
    return out.event(fmt::format(R"({{"ph":"X","pid":{},"tid":1,"ts":{},"dur":{},"name":{}}})", launch + 1, start, now - start, name));
  }
};

}  // namespace

Result<PerfettoTotals> writePerfetto(const Trace& trace, const std::string& path, int64_t limit) {
  struct Launch {
    std::string kernel;
    int64_t x = 1, y = 1;
  };
  std::map<int64_t, Launch> launches;
  PerfettoTotals totals;
  Output out(path);
  TS_CHECK(out.write(R"({"otherData":{"order":"one microsecond is one access of a program: order, not time"},"traceEvents":[)"));
  TS_CHECK(trace.each(Table::Launches, [&](const arrow::Batch& batch) -> Status {
    for (size_t i = 0; i < static_cast<size_t>(batch.rows); ++i) {
      const int64_t launch = batch.columns[0].ints[i];
      launches[launch] = {batch.columns[1].texts[i], std::max<int64_t>(1, batch.columns[5].ints[i]), std::max<int64_t>(1, batch.columns[6].ints[i])};
      TS_CHECK(out.event(fmt::format(R"({{"ph":"M","pid":{},"name":"process_name","args":{{"name":{}}}}})", launch + 1,
                                     quoted(fmt::format("launch {}: {}", launch, batch.columns[1].texts[i])))));
      TS_CHECK(out.event(fmt::format(R"({{"ph":"M","pid":{},"tid":1,"name":"thread_name","args":{{"name":"accesses in program order: not time"}}}})",
                                     launch + 1)));
    }
    return {};
  }));
  Slice program, turn;
  int64_t now = 0;
  TS_CHECK(trace.each(Table::Accesses, [&](const arrow::Batch& batch) -> Status {
    totals.all += batch.rows;
    for (size_t i = 0; i < static_cast<size_t>(batch.rows) && totals.written < limit; ++i) {
      const auto number = [&](size_t column) { return batch.columns[column].ints[i]; };
      const auto text = [&](size_t column) -> const std::string& { return batch.columns[column].texts[i]; };
      const int64_t launch = number(at::launch), id = number(at::program), trip = number(at::trip);
      const bool other = !program.open || program.launch != launch || program.key != id;
      if (other || turn.key != trip) TS_CHECK(turn.close(out, now));
      if (other) {
        TS_CHECK(program.close(out, now));
        if (program.launch != launch) now = 0;
        const Launch& of = launches[launch];
        program = {true, launch, id, now, quoted(fmt::format("program ({},{},{})", id % of.x, id / of.x % of.y, id / of.x / of.y))};
      }
      if (!turn.open && trip >= 0) turn = {true, launch, trip, now, quoted(fmt::format("iteration {}", trip))};
      const std::string name = fmt::format("{} {}", text(at::kind), text(at::tensor).empty() ? "?" : text(at::tensor));
      TS_CHECK(out.event(fmt::format(
          R"({{"ph":"X","pid":{},"tid":1,"ts":{},"dur":1,"name":{},"cat":{},"args":{{"line":{},"variable":{},"op":{},"bytes":{},"active":{},"elements":{},"base":{},"form":{},"mask":{},"faults":{}}}}})",
          launch + 1, now, quoted(name), quoted(text(at::kind)), quoted(fmt::format("{}:{}", fileName(text(at::file)), number(at::line))),
          quoted(text(at::variable)), number(at::op), number(at::bytes), number(at::active), number(at::elements), number(at::base),
          quoted(text(at::form)), quoted(text(at::mask)), quoted(text(at::faults)))));
      ++now;
      ++totals.written;
    }
    return {};
  }));
  TS_CHECK(turn.close(out, now));
  TS_CHECK(program.close(out, now));
  TS_CHECK(out.write("\n]}\n"));
  TS_CHECK(out.finish());
  return totals;
}

}  // namespace tilesight::record
