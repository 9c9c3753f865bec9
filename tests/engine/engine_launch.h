// A small launch of a kernel written as TTIR.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "clients/registry.h"
#include "exec/run.h"

namespace tilesight::exec {

// A launch on int32 vectors and int32 scalars, in the order of the kernel's parameters.
struct Bench {
  std::vector<std::vector<int32_t>> arrays;
  launch::Launch launch;
  std::shared_ptr<const Kernel> kernel;

  explicit Bench(const std::string& text) {
    auto compiled = compile(text, "test.ttir");
    EXPECT_TRUE(compiled) << compiled.error().str();
    if (compiled) kernel = *compiled;
    launch.kernel = "k";
    arrays.reserve(8);
  }
  Bench& array(const std::string& name, std::vector<int32_t> values) {
    arrays.push_back(std::move(values));
    launch::Storage storage;
    storage.data = reinterpret_cast<uint8_t*>(arrays.back().data());
    storage.bytes = arrays.back().size() * 4;
    storage.name = name;
    launch.storages.push_back(storage);
    launch::Argument argument;
    argument.name = name;
    argument.kind = launch::Argument::Kind::Tensor;
    argument.view.element = ir::ElementKind::I32;
    argument.view.dtype = "int32";
    argument.view.shape = {static_cast<int64_t>(arrays.back().size())};
    argument.view.strides = {1};
    argument.view.storage = static_cast<uint32_t>(launch.storages.size() - 1);
    launch.arguments.push_back(argument);
    return *this;
  }
  Bench& scalar(const std::string& name, int32_t value) {
    launch::Argument argument;
    argument.name = name;
    argument.element = ir::ElementKind::I32;
    argument.bits = static_cast<uint64_t>(static_cast<int64_t>(value));
    launch.arguments.push_back(argument);
    return *this;
  }
  /// With the sanitizer.
  findings::LaunchReport run(int64_t grid, unsigned threads = 1, bool addressOnly = false) {
    RunOptions options;
    options.clients.push_back({clients::find("sanitizer")});
    options.threads = threads;
    options.addressOnly = addressOnly;
    return run(grid, options);
  }
  findings::LaunchReport run(int64_t grid, const RunOptions& options) { return run(std::array<int64_t, 3>{grid, 1, 1}, options); }
  findings::LaunchReport run(const std::array<int64_t, 3>& grid, const RunOptions& options) {
    launch.grid = grid;
    auto report = exec::run(*kernel, launch, options);
    EXPECT_TRUE(report) << report.error().str();
    return report ? *report : findings::LaunchReport{};
  }
};

}  // namespace tilesight::exec
