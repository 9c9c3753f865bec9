#include "exec/parameters.h"

#include <algorithm>

#include <fmt/format.h>

#include "exec/kernel.h"

namespace tilesight::exec {

Result<std::vector<int32_t>> matchParameters(const Kernel& kernel, const launch::Launch& launch) {
  const auto& parameters = kernel.common().entry()->regions[0]->blocks[0]->arguments;
  std::vector<int32_t> result;
  for (size_t i = 0; i < launch.arguments.size(); ++i) {
    const launch::Argument& a = launch.arguments[i];
    if (a.kind == launch::Argument::Kind::Specialized) continue;
    if (result.size() >= parameters.size())
      return failure(fmt::format("{} takes {} parameters, the launch has more arguments", launch.kernel, parameters.size()));
    result.push_back(static_cast<int32_t>(i));
    if (a.kind != launch::Argument::Kind::Descriptor) continue;
    // Its sizes and strides follow as parameters d.shape.0, d.stride.0, ...
    const size_t sizes = 2 * a.view.shape.size();
    for (size_t extra = 0; extra < sizes + 2 && result.size() < parameters.size(); ++extra) {
      if (extra >= sizes && !parameters[result.size()]->name.starts_with(a.name + ".")) break;
      result.push_back(static_cast<int32_t>(i));
    }
  }
  if (result.size() != parameters.size())
    return failure(fmt::format("{} takes {} parameters, the launch has {} arguments", launch.kernel, parameters.size(), result.size()));
  return result;
}

namespace {

// Callers that know of allocations make one storage of views that share memory; others may not know that they do.
void shareAmongOverlapping(const launch::Launch& launch, TouchedStorages& touched) {
  std::vector<size_t> order;  // by address
  for (size_t s = 0; s < launch.storages.size(); ++s)
    if (launch.storages[s].data && launch.storages[s].bytes) order.push_back(s);
  const auto begin = [&](size_t s) { return reinterpret_cast<uintptr_t>(launch.storages[s].data); };
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return begin(a) < begin(b); });
  for (size_t first = 0; first < order.size();) {
    uintptr_t end = 0;
    size_t past = first;
    bool read = false, written = false;
    for (; past < order.size() && (past == first || begin(order[past]) < end); ++past) {
      end = std::max<uintptr_t>(end, begin(order[past]) + launch.storages[order[past]].bytes);
      read = read || touched.read[order[past]];
      written = written || touched.written[order[past]];
    }
    if (past > first + 1) {
      touched.shared = touched.shared || written;
      for (size_t i = first; i < past; ++i) {
        touched.read[order[i]] = read;
        touched.written[order[i]] = written;
      }
    }
    first = past;
  }
}

}  // namespace

TouchedStorages touchedStorages(const Kernel& kernel, const launch::Launch& launch,
                                const std::vector<int32_t>& argumentOfParameter) {
  const plan::Effects& effects = kernel.effects();
  const size_t count = launch.storages.size();
  TouchedStorages touched{std::vector<bool>(count, effects.unknown), std::vector<bool>(count, effects.unknown), false};
  for (size_t p = 0; p < argumentOfParameter.size() && p < effects.loaded.size(); ++p) {
    const launch::Argument& a = launch.arguments[argumentOfParameter[p]];
    if (a.kind == launch::Argument::Kind::Scalar) {
      // A pointer that was given as an address may lead anywhere. (Of other scalars an index is made at most.)
      if (a.element != ir::ElementKind::Pointer) continue;
      if (effects.loaded[p]) touched.read.assign(count, true);
      if (effects.stored[p]) touched.written.assign(count, true);
      continue;
    }
    if (effects.loaded[p]) touched.read[a.view.storage] = true;
    if (effects.stored[p]) touched.written[a.view.storage] = true;
  }
  shareAmongOverlapping(launch, touched);
  return touched;
}

TouchedStorages mayTouch(const Kernel& kernel, const launch::Launch& launch) {
  const std::vector<bool> all(launch.storages.size(), true);
  for (const launch::Argument& a : launch.arguments) {
    bool tensor = a.kind == launch::Argument::Kind::Tensor || a.kind == launch::Argument::Kind::Descriptor;
    if (tensor && a.view.storage >= all.size()) return {all, all, false};
  }
  auto matched = matchParameters(kernel, launch);
  return matched ? touchedStorages(kernel, launch, *matched) : TouchedStorages{all, all, false};
}

std::vector<bool> mayWrite(const Kernel& kernel, const launch::Launch& launch) { return mayTouch(kernel, launch).written; }

}  // namespace tilesight::exec
