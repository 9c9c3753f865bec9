// tilesight diff: do two launches read and write the same elements, and compute the same?
#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "diff/render.h"
#include "exec/run.h"
#include "findings/files.h"
#include "launch/bundle.h"
#include "tools/inputs.h"
#include "tools/options.h"
#include "tools/output.h"

namespace tilesight::tools {
namespace {

int refused(const Diagnostic& error) {
  if (error.file.empty()) return usageError(error.remedy.empty() ? error.message : error.message + "; " + error.remedy, "diff");
  printError(error);
  return 2;
}

/// "3:5" -> 3, 5.
std::optional<std::pair<size_t, size_t>> pairOf(const std::string& text) {
  const size_t colon = text.find(':');
  if (colon == text.npos) return std::nullopt;
  size_t numbers[2];
  const std::string parts[] = {text.substr(0, colon), text.substr(colon + 1)};
  for (size_t i = 0; i < 2; ++i) {
    const auto [end, error] = std::from_chars(parts[i].data(), parts[i].data() + parts[i].size(), numbers[i]);
    if (error != std::errc() || end != parts[i].data() + parts[i].size() || parts[i].empty()) return std::nullopt;
  }
  return std::pair(numbers[0], numbers[1]);
}

/// The launches of a bundle, or of those in a folder or a trace, in order.
struct Bundle {
  std::string path;
  std::vector<launch::BundleReader> readers;
  std::vector<std::pair<size_t, size_t>> places;  // of each launch: which reader, and where in it
  std::vector<std::string> kernels;
};

Result<Bundle> open(const std::string& path) {
  const auto paths = bundlesAt(path);
  if (!paths) return failure(paths.error());
  Bundle bundle{path, {}, {}, {}};
  for (const std::string& one : *paths) {
    auto reader = launch::BundleReader::open(one);
    if (!reader) return failure(reader.error());
    for (size_t i = 0; i < reader->launches(); ++i) {
      auto name = reader->kernelName(i);
      if (!name) return failure(name.error());
      bundle.kernels.push_back(std::move(*name));
      bundle.places.emplace_back(bundle.readers.size(), i);
    }
    bundle.readers.push_back(std::move(*reader));
  }
  if (bundle.kernels.empty()) return failure(Diagnostic{path, 0, 0, "holds no launch", {}});
  return bundle;
}

/// By kernel and order; a single launch of each, whatever its kernel is called.
std::vector<std::pair<size_t, size_t>> match(const std::array<Bundle, 2>& bundles, diff::Comparison& comparison) {
  const auto &a = bundles[0].kernels, &b = bundles[1].kernels;
  if (a.size() == 1 && b.size() == 1) return {{0, 0}};
  std::vector<std::pair<size_t, size_t>> pairs;
  std::vector<bool> taken(b.size(), false);
  for (size_t i = 0; i < a.size(); ++i) {
    size_t k = 0;
    while (k < b.size() && (taken[k] || b[k] != a[i])) ++k;
    if (k == b.size()) {
      comparison.unpaired[0].push_back(a[i]);
      continue;
    }
    taken[k] = true;
    pairs.emplace_back(i, k);
  }
  for (size_t k = 0; k < b.size(); ++k)
    if (!taken[k]) comparison.unpaired[1].push_back(b[k]);
  return pairs;
}

Result<diff::Side> load(const Bundle& bundle, size_t position) {
  diff::Side side;
  side.position = position;
  for (launch::Launch* launch : {&side.launch, &side.again, &side.before}) {
    const auto [reader, index] = bundle.places[position];
    auto read = bundle.readers[reader].launch(index);
    if (!read) return failure(read.error());
    *launch = std::move(*read);
  }
  auto kernel = exec::compile(side.launch.irText, side.launch.irName);
  if (!kernel) return failure(kernel.error());
  side.kernel = std::move(*kernel);
  return side;
}

}  // namespace

int diff(const DiffOptions& options) {
  std::vector<Bundle> opened;
  for (const std::string& path : {options.a, options.b}) {
    auto bundle = open(path);
    if (!bundle) return refused(bundle.error());
    opened.push_back(std::move(*bundle));
  }
  std::array<Bundle, 2> bundles{std::move(opened[0]), std::move(opened[1])};
  diff::Comparison comparison{{options.a, options.b}, {}, {}};
  std::vector<std::pair<size_t, size_t>> pairs;
  for (const std::string& text : options.launches) {
    const auto pair = pairOf(text);
    if (!pair) return usageError(fmt::format("--launch is '{}'; it must be two positions, as in 0:2", text), "diff");
    for (size_t s = 0; s < 2; ++s)
      if ((s ? pair->second : pair->first) >= bundles[s].kernels.size())
        return usageError(fmt::format("--launch {}: {} has {} launches, counted from 0", text, bundles[s].path, bundles[s].kernels.size()), "diff");
    pairs.push_back(*pair);
  }
  if (pairs.empty()) pairs = match(bundles, comparison);
  for (const auto& [a, b] : pairs) {
    std::array<diff::Side, 2> sides;
    for (size_t s = 0; s < 2; ++s) {
      auto side = load(bundles[s], s ? b : a);
      if (!side) return refused(side.error());
      sides[s] = std::move(*side);
    }
    auto result = diff::compare(sides);
    if (!result) return refused(Diagnostic{options.a, 0, 0, result.error().message, result.error().remedy});
    comparison.launches.push_back(std::move(*result));
  }
  const diff::Verdict verdict = diff::verdictOf(comparison);
  if (!options.json.empty()) {
    const std::string text = diff::json(comparison);
    if (options.json == "-") printOut(text);
    else if (Status status = findings::writeFile(options.json, text); !status) return refused(status.error());
  }
  if (options.json != "-" && !options.quiet) printOut(diff::text(comparison));
  return verdict == diff::Verdict::Same ? 0 : verdict == diff::Verdict::Differ ? 1 : 3;
}

}  // namespace tilesight::tools
