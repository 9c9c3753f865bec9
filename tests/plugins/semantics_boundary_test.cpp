// Random kernels before and after remove-boundary-checks, on the engine: the same bits, tiles outside of their shape
// included. A check that should have stayed shows, since there is other data around the tensor.
#include "semantics.h"

namespace tilesight::plugins {
namespace {

/// A sum of tiles that a block pointer walks over, stored through another one.
std::string blockPointerKernel(Random& random) {
  const int rows = random.between(4, 24), columns = random.between(4, 40);
  const int low = random.one({0, 0, 0, -8, 4}), step = random.one({4, 8}), high = low + random.between(0, 5) * step + random.one({0, 0, 1, 3});
  const int advance = random.one({0, 4, 8, 8, -8});
  std::string text = "tt.func public @k(%x: !tt.ptr<i32>, %y: !tt.ptr<i32>) {\n";
  text += constants({{"middle", fmt::format("{} : i32", kMiddle)}, {"c0", "0 : i32"}, {"low", fmt::format("{} : i32", low)}, {"high", fmt::format("{} : i32", high)},
                     {"step", fmt::format("{} : i32", step)}, {"advance", fmt::format("{} : i32", advance)}, {"rows", fmt::format("{} : i64", rows)},
                     {"columns", fmt::format("{} : i64", columns)}, {"one", "1 : i64"}, {"first", fmt::format("{} : i32", random.between(-9, 20))},
                     {"second", fmt::format("{} : i32", random.one({0, 0, 8, -4, 30}))}, {"outrow", fmt::format("{} : i32", random.one({0, 0, 3, -2, 20}))},
                     {"zero", "dense<0> : tensor<8x8xi32>"}});
  text += "  %xm = tt.addptr %x, %middle : !tt.ptr<i32>, i32\n  %ym = tt.addptr %y, %middle : !tt.ptr<i32>, i32\n";
  const auto pointer = [&](std::string_view name, std::string_view base, std::string_view row, std::string_view column) {
    return fmt::format("%{} = tt.make_tensor_ptr %{}, [%rows, %columns], [%columns, %one], [%{}, %{}] {{order = array<i32: {}>}} : <tensor<8x8xi32>>\n", name, base, row,
                       column, random.between(0, 1) ? "1, 0" : "0, 1");
  };
  const std::string load = "{boundaryCheck = array<i32: 0, 1>, padding = 1 : i32} : !tt.ptr<tensor<8x8xi32>>\n";
  std::string sum = "sum";
  switch (random.between(0, 3)) {
    case 0:  // by the loop's variable
      text += "  %sum = scf.for %i = %low to %high step %step iter_args(%a = %zero) -> (tensor<8x8xi32>)  : i32 {\n    " + pointer("p", "xm", "first", "i") +
              "    %v = tt.load %p " + load + "    %b = arith.addi %a, %v : tensor<8x8xi32>\n    scf.yield %b : tensor<8x8xi32>\n  }\n";
      break;
    case 1:  // carried by the loop
      text += "  " + pointer("p", "xm", "first", "second") +
              "  %sum, %last = scf.for %i = %low to %high step %step iter_args(%a = %zero, %q = %p) -> (tensor<8x8xi32>, !tt.ptr<tensor<8x8xi32>>)  : i32 {\n    %v = tt.load %q " +
              load + "    %b = arith.addi %a, %v : tensor<8x8xi32>\n    %n = tt.advance %q, [%c0, %advance] : <tensor<8x8xi32>>\n" +
              "    scf.yield %b, %n : tensor<8x8xi32>, !tt.ptr<tensor<8x8xi32>>\n  }\n";
      break;
    case 2:  // where the loop left it
      text += "  " + pointer("p", "xm", "first", "second") +
              "  %last = scf.for %i = %low to %high step %step iter_args(%q = %p) -> (!tt.ptr<tensor<8x8xi32>>)  : i32 {\n    %n = tt.advance %q, [%c0, %advance] : <tensor<8x8xi32>>\n" +
              "    scf.yield %n : !tt.ptr<tensor<8x8xi32>>\n  }\n  %sum = tt.load %last " + load;
      break;
    default:  // by the program's number, and advanced
      text += "  %id = tt.get_program_id x : i32\n  %at = arith.muli %id, %step : i32\n  " + pointer("p", "xm", "at", "second") +
              "  %q = tt.advance %p, [%advance, %c0] : <tensor<8x8xi32>>\n  %sum = tt.load %q " + load;
  }
  text += "  " + pointer("out", "ym", "outrow", "second") + "  tt.store %out, %sum {boundaryCheck = array<i32: 0, 1>} : !tt.ptr<tensor<8x8xi32>>\n";
  return text + "  tt.return\n}\n";
}

/// A sum of tiles at a loop's variable, masked in one of the ways that people write.
std::string maskedKernel(Random& random) {
  const int low = random.one({0, 0, -8, 4}), step = random.one({4, 8, 8}), high = low + random.between(0, 5) * step + random.one({0, 0, 0, 3});
  std::string text = "tt.func public @k(%x: !tt.ptr<i32>, %y: !tt.ptr<i32>) {\n";
  text += constants({{"middle", fmt::format("{} : i32", kMiddle)}, {"low", fmt::format("{} : i32", low)}, {"high", fmt::format("{} : i32", high)}, {"step", fmt::format("{} : i32", step)},
                     {"bound", fmt::format("{} : i32", random.one({8, 8, 7, 40, 0, 33}))}, {"zero", "dense<0> : tensor<8xi32>"}, {"other", "dense<77> : tensor<8xi32>"}});
  text += R"(  %r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %xm = tt.addptr %x, %middle : !tt.ptr<i32>, i32
  %ym = tt.addptr %y, %middle : !tt.ptr<i32>, i32
  %xs = tt.splat %xm : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
  %ys = tt.splat %ym : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
  %highs = tt.splat %high : i32 -> tensor<8xi32>
  %bounds = tt.splat %bound : i32 -> tensor<8xi32>
  %sum = scf.for %i = %low to %high step %step iter_args(%a = %zero) -> (tensor<8xi32>)  : i32 {
    %is = tt.splat %i : i32 -> tensor<8xi32>
    %at = arith.addi %is, %r : tensor<8xi32>
    %left = arith.subi %high, %i : i32
    %lefts = tt.splat %left : i32 -> tensor<8xi32>
    %m0 = arith.cmpi slt, %r, %lefts : tensor<8xi32>
    %m1 = arith.cmpi slt, %at, %highs : tensor<8xi32>
    %m2 = arith.cmpi sge, %at, %zero : tensor<8xi32>
    %m3 = arith.cmpi slt, %r, %bounds : tensor<8xi32>
    %m4 = arith.cmpi ult, %at, %highs : tensor<8xi32>
)";
  const int first = random.between(0, 4), second = random.between(0, 4);
  text += fmt::format("    %m = arith.{} %m{}, %m{} : tensor<8xi1>\n", random.one({0, 0, 0, 1}) ? "ori" : "andi", first, second);
  text += R"(    %p = tt.addptr %xs, %at : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
    %v = tt.load %p, %m, %other : tensor<8x!tt.ptr<i32>>
    %b = arith.addi %a, %v : tensor<8xi32>
    %o = tt.addptr %ys, %at : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
    tt.store %o, %b, %m : tensor<8x!tt.ptr<i32>>
    scf.yield %b : tensor<8xi32>
  }
  %q = tt.addptr %ys, %r : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
  %m5 = arith.cmpi slt, %r, %bounds : tensor<8xi32>
  tt.store %q, %sum, %m5 : tensor<8x!tt.ptr<i32>>
  tt.return
}
)";
  return text;
}

void compareGrids(std::string (*kernel)(Random&)) {
  compare("remove_boundary_checks", "remove-boundary-checks", [&](Random& random) {
    Trial trial;
    trial.text = kernel(random);
    trial.grid = random.between(1, 4);
    trial.options = fmt::format("assume=\"grid.x={}\"", trial.grid);
    return trial;
  }, 400, 100, 20);
}

TEST(RemoveBoundaryChecks, BlockPointersGiveTheSameBits) { compareGrids(blockPointerKernel); }

TEST(RemoveBoundaryChecks, MaskedLoadsAndStoresGiveTheSameBits) { compareGrids(maskedKernel); }

}  // namespace
}  // namespace tilesight::plugins
