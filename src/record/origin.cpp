#include "record/origin.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "launch/bundle.h"
#include "record/kept.h"
#include "record/reader.h"

namespace tilesight::record {

namespace {

namespace fs = std::filesystem;

const arrow::Values& column(const arrow::Batch& batch, Table table, std::string_view name) {
  const auto& fields = schemaOf(table).fields;
  const auto found = std::find_if(fields.begin(), fields.end(), [&](const arrow::Field& field) { return field.name == name; });
  return batch.columns[static_cast<size_t>(found - fields.begin())];
}

/// Names of the bundles in the order of the launches, each once; none if a launch names none.
Result<std::vector<std::string>> namesIn(const Trace& trace) {
  std::vector<std::string> names;
  bool all = true;
  TS_CHECK(trace.each(Table::Launches, [&](const arrow::Batch& batch) -> Status {
    for (const std::string& name : column(batch, Table::Launches, "bundle").texts) {
      all = all && !name.empty();
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
    return {};
  }));
  if (!all) names.clear();
  return names;
}

/// The launches of some bundles, one after another.
class Launches {
 public:
  bool open(const std::vector<std::string>& paths) {
    for (const std::string& path : paths) {
      auto reader = launch::BundleReader::open(path);
      if (!reader) return false;
      for (size_t i = 0; i < reader->launches(); ++i) places_.emplace_back(readers_.size(), i);
      readers_.push_back(std::move(*reader));
    }
    return true;
  }
  size_t size() const { return places_.size(); }
  Result<launch::Launch> at(size_t i) const { return readers_[places_[i].first].launch(places_[i].second); }

 private:
  std::vector<launch::BundleReader> readers_;
  std::vector<std::pair<size_t, size_t>> places_;
};

bool sameArguments(const launch::Launch& a, const launch::Launch& b) {
  return std::equal(a.arguments.begin(), a.arguments.end(), b.arguments.begin(), b.arguments.end(), [](const auto& x, const auto& y) {
    return x.name == y.name && x.kind == y.kind && x.bits == y.bits && x.view.shape == y.view.shape && x.view.strides == y.view.strides;
  });
}

/// But for the data, which one of them does not have.
bool same(const launch::Launch& a, const launch::Launch& b) {
  return a.kernel == b.kernel && a.index == b.index && a.grid == b.grid && a.seed == b.seed && a.numSms == b.numSms &&
         a.irText == b.irText && sameArguments(a, b);
}

bool hasAllData(const launch::Launch& launch) {
  return std::none_of(launch.storages.begin(), launch.storages.end(), [](const launch::Storage& storage) { return storage.withheld; });
}

/// Was it written before the trace was?
bool older(const std::string& bundle, const Trace& trace) {
  std::error_code error;
  const auto written = fs::last_write_time(bundle, error);
  if (error) return false;
  for (const std::string& segment : trace.segments(Table::Launches))
    if (const auto at = fs::last_write_time(segment, error); error || at < written) return false;
  return true;
}

}  // namespace

Result<std::vector<std::string>> originOf(const std::string& path) {
  const auto trace = Trace::open(path);
  if (!trace) return failure(trace.error());
  std::vector<std::string> kept = bundlesOf(path);
  Launches inside;
  if (!inside.open(kept)) return kept;  // who reads them says what is wrong
  auto names = namesIn(*trace);
  if (!names) return failure(names.error());
  for (std::string& name : *names) {
    std::error_code error;
    // Named from where the trace was made; both may have been moved together.
    if (!fs::exists(name, error)) name = (fs::absolute(path, error).lexically_normal().parent_path() / fs::path(name).filename()).generic_string();
    if (!older(name, *trace)) return kept;
  }
  Launches named;
  if (names->empty() || !named.open(*names) || named.size() != inside.size()) return kept;
  bool complete = true;
  for (size_t i = 0; i < inside.size(); ++i) {
    const auto here = inside.at(i), there = named.at(i);
    if (!here || !there || !same(*here, *there)) return kept;
    complete = complete && hasAllData(*here);
  }
  return complete ? kept : *names;
}

}  // namespace tilesight::record
