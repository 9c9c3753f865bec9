// Random kernels before and after a pass, on the engine: the same bits.
#pragma once

#include <functional>
#include <random>

#include <fmt/format.h>

#include "../engine/engine_launch.h"
#include "passes/manager.h"
#include "plugins/catalog.h"
#include "plugins/dynamic.h"

namespace tilesight::plugins {

struct Random {
  std::mt19937 engine;
  int between(int low, int high) { return low + static_cast<int>(engine() % static_cast<unsigned>(high - low + 1)); }
  int one(std::initializer_list<int> of) { return *(of.begin() + between(0, static_cast<int>(of.size()) - 1)); }
};

/// Tensors of this size, with other data before and after what a kernel means by them: tiles are in the middle.
constexpr int kCells = 4096, kMiddle = 2048;

inline std::string constants(const std::vector<std::pair<std::string, std::string>>& all) {
  std::string text;
  for (const auto& [name, value] : all) text += fmt::format("  %{} = arith.constant {}\n", name, value);
  return text;
}

/// What a kernel k(x, y, scalars...) leaves in y.
inline std::vector<int32_t> outputOf(const std::string& text, int grid, const std::vector<int32_t>& scalars = {}) {
  std::vector<int32_t> x(kCells), y(kCells);
  for (int i = 0; i < kCells; ++i) x[static_cast<size_t>(i)] = static_cast<int32_t>(1000003u * static_cast<unsigned>(i) + 17u), y[static_cast<size_t>(i)] = -i;
  exec::Bench bench(text);
  bench.array("x", x).array("y", y);
  for (size_t i = 0; i < scalars.size(); ++i) bench.scalar(fmt::format("s{}", i), scalars[i]);
  exec::RunOptions options;
  options.threads = 1;
  bench.run(grid, options);
  return bench.arrays[1];
}

/// A kernel, what is promised of it to the pass, and how it is launched.
struct Trial {
  std::string text, options;
  int grid = 1;
  std::vector<int32_t> scalars;
};

/// Runs `rounds` trials before and after the pass `name` of the library. `readable` makes of a kernel what the engine reads.
/// The pass must change at least so many, and leave at least so many: else the test would say nothing.
inline void compare(std::string_view library, std::string_view name, const std::function<Trial(Random&)>& make, int rounds, int leastChanged, int leastUnchanged,
                    const std::function<std::string(const std::string&)>& readable = [](const std::string& text) { return text; }) {
  const Catalog catalog = Catalog::load({fmt::format("{}/{}{}", TILESIGHT_PLUGINS, library, librarySuffix)});
  ASSERT_EQ(catalog.refusedOfGiven(), nullptr);
  passes::Registry registry;
  catalog.addTo(registry);
  Random random{std::mt19937(11)};
  int changed = 0, unchanged = 0;
  for (int round = 0; round < rounds; ++round) {
    const Trial trial = make(random);
    const auto steps = passes::parsePipeline(fmt::format("{}{{{}}}", name, trial.options), registry);
    ASSERT_TRUE(steps) << steps.error().message;
    const auto outcome = passes::runPasses(trial.text, "k.ttir", *steps);
    ASSERT_TRUE(outcome) << outcome.error().str() << "\n" << trial.text;
    ASSERT_TRUE(outcome->status) << outcome->status.error().str() << "\n" << trial.text;
    (outcome->text == trial.text ? unchanged : changed)++;
    ASSERT_EQ(outputOf(readable(outcome->text), trial.grid, trial.scalars), outputOf(readable(trial.text), trial.grid, trial.scalars))
        << trial.options << "\n" << trial.text << "\nbecame\n" << outcome->text;
    const auto again = passes::runPasses(outcome->text, "k.ttir", *steps);
    ASSERT_TRUE(again && again->status) << outcome->text;
    ASSERT_EQ(again->text, outcome->text) << "a second run changes nothing";
  }
  EXPECT_GE(changed, leastChanged);
  EXPECT_GE(unchanged, leastUnchanged);
}

}  // namespace tilesight::plugins
