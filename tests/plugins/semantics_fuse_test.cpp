// Random kernels before and after fuse-reshape, on the engine: the same bits, tiles that are partly or wholly outside
// included. A bound that is not kept shows, since there is other data before, between and behind the slices.
#include <numeric>

#include "semantics.h"

namespace tilesight::plugins {
namespace {

std::string joined(const std::vector<std::string>& all, std::string_view by) {
  std::string text;
  for (const std::string& one : all) text += (text.empty() ? "" : std::string(by)) + one;
  return text;
}

struct Axis {
  int block = 1, shape = 1, stride = 1;
  std::string index;
};

/// A sum of tiles of a descriptor of three or four axes, one or two of which the tile does not have. Shapes and strides are
/// constants or arguments; indices are constants, arguments, the program's number and loops' variables.
class Kernel {
 public:
  explicit Kernel(Random& random) : random_(random) {}

  Trial trial() {
    Trial trial;
    trial.grid = random_.between(1, 3);
    std::vector<Axis> axes = random_.between(0, 3) ? threeAxes() : fourAxes();
    std::string block, tile, shapes, strides;
    int elements = 1;
    for (size_t i = 0; i < axes.size(); ++i) {
      Axis& axis = axes[i];
      elements *= axis.block;
      block += fmt::format("{}x", axis.block);
      if (axis.block > 1 || i + 1 == axes.size()) tile += fmt::format("{}x", axis.block);
      shapes += (i ? ", " : "") + integer(axis.shape, "i32");
      strides += (i ? ", " : "") + integer(axis.stride, "i64");
      axis.index = indexOf(axis);
    }
    std::vector<std::string> indices;
    for (const Axis& axis : axes) indices.push_back(axis.index);
    const std::string from = fmt::format("tensor<{}i32>", block), to = fmt::format("tensor<{}i32>", tile), desc = fmt::format("!tt.tensordesc<{}>", from);
    const bool reduces = random_.between(0, 3) == 0, inLoop = random_.between(0, 5) == 0, two = random_.between(0, 3) == 0;
    const std::string make = fmt::format("    %d = tt.make_tensor_descriptor %xm, [{}], [{}]{} : <i32>, <{}>\n", shapes, strides, "", from);
    const auto load = [&](std::string_view name, const std::string& at) {
      if (reduces) return fmt::format("    %{} = tt.descriptor_load %d[{}] : {} -> {}\n", name, at, desc, to);
      return fmt::format("    %{0}l = tt.descriptor_load %d[{1}] : {2} -> {3}\n    %{0} = tt.reshape %{0}l : {3} -> {4}\n", name, at, desc, from, to);
    };
    std::string body = inLoop ? make : "";
    body += load("v", joined(indices, ", "));
    body += fmt::format("    %three = arith.constant dense<3> : {0}\n    %a3 = arith.muli %a, %three : {0}\n    %b = arith.addi %a3, %v : {0}\n", to);
    std::string sum = "%b";
    if (two) {
      indices[0] = integer(random_.between(0, 2), "i32");
      body += load("w", joined(indices, ", ")) + fmt::format("    %e = arith.addi %b, %w : {}\n", to);
      sum = "%e";
    }
    const int low = random_.one({0, 0, 0, -1, 1}), step = random_.one({1, 1, 2, 4});
    std::string text = "tt.func public @k(%x: !tt.ptr<i32>, %y: !tt.ptr<i32>" + arguments_ + ") {\n" + constants_ +
                       constants({{"middle", fmt::format("{} : i32", kMiddle)}, {"low", fmt::format("{} : i32", low)}, {"step", fmt::format("{} : i32", step)},
                                  {"high", fmt::format("{} : i32", low + step * random_.between(0, 3) + random_.one({0, 0, 1}))},
                                  {"zero", fmt::format("dense<0> : {}", to)}, {"size", fmt::format("{} : i32", elements)}});
    text += "  %id = tt.get_program_id x : i32\n  %xm = tt.addptr %x, %middle : !tt.ptr<i32>, i32\n";
    if (!inLoop) text += make;
    text += fmt::format("  %sum = scf.for %i = %low to %high step %step iter_args(%a = %zero) -> ({0})  : i32 {{\n{1}    scf.yield {2} : {0}\n  }}\n", to, body, sum);
    // Every program has a part of y.
    const std::string flat = fmt::format("tensor<{}xi32>", elements), pointers = fmt::format("tensor<{}x!tt.ptr<i32>>", elements);
    text += fmt::format("  %flat = tt.reshape %sum : {} -> {}\n  %at = arith.muli %id, %size : i32\n  %ym = tt.addptr %y, %at : !tt.ptr<i32>, i32\n", to, flat);
    text += fmt::format("  %ys = tt.splat %ym : !tt.ptr<i32> -> {0}\n  %r = tt.make_range {{end = {1} : i32, start = 0 : i32}} : {2}\n  %o = tt.addptr %ys, %r : {0}, {2}\n",
                        pointers, elements, flat);
    trial.text = text + fmt::format("  tt.store %o, %flat : {}\n  tt.return\n}}\n", pointers);
    std::string assumed = random_.between(0, 1) ? fmt::format("grid.x={} ", trial.grid) : "";
    for (const std::string& promise : promises_) assumed += promise + " ";
    trial.options = fmt::format("assume=\"{}\",device-descriptors={}", assumed, random_.between(0, 2) ? "true" : "false");
    trial.scalars = scalars_;
    return trial;
  }

 private:
  /// A constant, or an argument of which something may be promised.
  std::string integer(int value, const std::string& type) {
    const size_t number = count_++;
    if (random_.between(0, 5)) {
      constants_ += fmt::format("  %c{} = arith.constant {} : {}\n", number, value, type);
      return fmt::format("%c{}", number);
    }
    const std::string name = fmt::format("n{}", number);
    arguments_ += fmt::format(", %{}: i32", name);
    scalars_.push_back(value);
    switch (random_.between(0, 2)) {
      case 0: promises_.push_back(fmt::format("{}={}", name, value)); break;
      case 1: promises_.push_back(fmt::format("{}={}..{}", name, value - random_.between(0, 2), value + random_.between(0, 2))); break;
      default: break;
    }
    if (type == "i32") return "%" + name;
    constants_ += fmt::format("  %{0}w = arith.extsi %{0} : i32 to i64\n", name);
    return fmt::format("%{}w", name);
  }

  std::string indexOf(const Axis& axis) {
    switch (random_.between(0, 5)) {
      case 0: return "%i";
      case 1: return "%id";
      case 2: return integer(random_.between(-3, axis.shape + 2), "i32");
      case 3: return integer(random_.one({axis.shape - axis.block + 1, axis.shape}), "i32");
      default: return integer(random_.between(0, std::max(axis.shape - axis.block, 0)), "i32");
    }
  }

  /// [1, rows, columns] or [rows, 1, columns]; strides nested, padded, overlapping or backwards. At most 1500 elements apart.
  std::vector<Axis> threeAxes() {
    const int columns = random_.one({8, 8, 12, 16, 5}), rows = random_.one({1, 3, 4, 5, 6, 8, 9, 10}), slices = random_.between(1, 4);
    Axis slice{1, slices, 0, {}}, row{4, rows, 0, {}}, column{8, columns, 1, {}};
    const bool middle = random_.between(0, 2) == 0;
    row.stride = columns + random_.one({0, 0, 4});
    slice.stride = rows * row.stride + random_.one({0, 0, 0, 4, row.stride});
    if (middle) {
      slice.stride = columns;
      row.stride = slices * columns + random_.one({0, 0, 4});
    }
    if (random_.between(0, 9) == 0) slice.stride = random_.one({-slice.stride, 0, row.stride});
    return middle ? std::vector<Axis>{row, slice, column} : std::vector<Axis>{slice, row, column};
  }

  /// [1, rows, 1, columns], or [1, 1, rows, columns].
  std::vector<Axis> fourAxes() {
    std::vector<Axis> axes = threeAxes();
    int extent = 1;
    for (const Axis& axis : axes) extent = std::max(extent, axis.shape * std::abs(axis.stride));
    axes.insert(axes.begin(), Axis{1, random_.between(1, 2), extent + random_.one({0, 0, 4}), {}});
    return axes;
  }

  Random& random_;
  std::string constants_, arguments_;
  std::vector<int32_t> scalars_;
  std::vector<std::string> promises_;
  size_t count_ = 0;
};

TEST(FuseReshape, GivesTheSameBits) {
  compare("fuse_reshape", "fuse-reshape", [](Random& random) { return Kernel(random).trial(); }, 1500, 600, 100);
}

}  // namespace
}  // namespace tilesight::plugins
