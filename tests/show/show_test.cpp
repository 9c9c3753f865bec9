// Runs the command lines of goldens/*.test, in a folder with the launches below.
#include <sys/wait.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include <gtest/gtest.h>

#include "../findings/golden.h"
#include "../findings/scratch.h"
#include "launch/bundle.h"

namespace tilesight {
namespace {

using test::Scratch;

// A softmax of rows: y[r, :] = exp(x - m) / sum, in turns of 4 columns for the sum.
constexpr const char* kSource = R"(@triton.jit
def rows(x, y, n):
    row = tl.program_id(0)
    offs = tl.arange(0, 8)
    inside = offs < n
    at = x + row * 8 + offs
    v = tl.load(at, mask=inside, other=-float("inf"))
    m = tl.max(v, axis=0)
    total = 0.0
    for i in range(0, 3):
        e = tl.exp(v - m)
        total += tl.sum(e)
    q = e / total
    tl.store(y + row * 8 + offs, q, mask=inside)
)";
constexpr const char* kText = R"(
module {
  tt.func public @rows(%x: !tt.ptr<f32> loc("x"("rows.py":2:1)), %y: !tt.ptr<f32> loc("y"("rows.py":2:1)), %n: i32 loc("n"("rows.py":2:1))) {
    %row = tt.get_program_id x : i32 loc("row"("rows.py":3:5))
    %c8 = arith.constant 8 : i32 loc("rows.py":6:5)
    %c0 = arith.constant 0 : i32 loc("rows.py":10:5)
    %c1 = arith.constant 1 : i32 loc("rows.py":10:5)
    %c3 = arith.constant 3 : i32 loc("rows.py":10:5)
    %ninf = arith.constant dense<0xFF800000> : tensor<8xf32> loc("rows.py":7:5)
    %zero = arith.constant 0.0 : f32 loc("rows.py":9:5)
    %ezero = arith.constant dense<0.0> : tensor<8xf32> loc("rows.py":9:5)
    %offs = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32> loc("offs"("rows.py":4:5))
    %ns = tt.splat %n : i32 -> tensor<8xi32> loc("rows.py":5:5)
    %inside = arith.cmpi slt, %offs, %ns : tensor<8xi32> loc("inside"("rows.py":5:5))
    %r8 = arith.muli %row, %c8 : i32 loc("rows.py":6:5)
    %xr = tt.addptr %x, %r8 : !tt.ptr<f32>, i32 loc("rows.py":6:5)
    %xs = tt.splat %xr : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>> loc("rows.py":6:5)
    %at = tt.addptr %xs, %offs : tensor<8x!tt.ptr<f32>>, tensor<8xi32> loc("at"("rows.py":6:5))
    %v = tt.load %at, %inside, %ninf : tensor<8x!tt.ptr<f32>> loc("v"("rows.py":7:5))
    %m = "tt.reduce"(%v) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %max = arith.maxnumf %a, %b : f32 loc("rows.py":8:5)
      tt.reduce.return %max : f32 loc("rows.py":8:5)
    }) : (tensor<8xf32>) -> f32 loc("m"("rows.py":8:5))
    %ms = tt.splat %m : f32 -> tensor<8xf32> loc("rows.py":11:9)
    %r:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%total = %zero, %e = %ezero) -> (f32, tensor<8xf32>)  : i32 {
      %d = arith.subf %v, %ms : tensor<8xf32> loc("rows.py":11:9)
      %e_1 = math.exp %d : tensor<8xf32> loc("e"("rows.py":11:9))
      %s = "tt.reduce"(%e_1) <{axis = 0 : i32}> ({
      ^bb0(%a: f32, %b: f32):
        %sum = arith.addf %a, %b : f32 loc("rows.py":12:9)
        tt.reduce.return %sum : f32 loc("rows.py":12:9)
      }) : (tensor<8xf32>) -> f32 loc("rows.py":12:9)
      %total_1 = arith.addf %total, %s : f32 loc("total"("rows.py":12:9))
      scf.yield %total_1, %e_1 : f32, tensor<8xf32> loc("rows.py":10:5)
    } loc("rows.py":10:5)
    %ts = tt.splat %r#0 : f32 -> tensor<8xf32> loc("rows.py":13:5)
    %q = arith.divf %r#1, %ts : tensor<8xf32> loc("q"("rows.py":13:5))
    %yr = tt.addptr %y, %r8 : !tt.ptr<f32>, i32 loc("rows.py":14:5)
    %ys = tt.splat %yr : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>> loc("rows.py":14:5)
    %yp = tt.addptr %ys, %offs : tensor<8x!tt.ptr<f32>>, tensor<8xi32> loc("rows.py":14:5)
    tt.store %yp, %q, %inside : tensor<8x!tt.ptr<f32>> loc("rows.py":14:5)
    tt.return loc("rows.py":2:1)
  } loc("rows.py":2:1)
}
)";

launch::Storage storageOf(std::vector<float>& values, const std::string& name) {
  launch::Storage storage;
  storage.data = reinterpret_cast<uint8_t*>(values.data());
  storage.bytes = values.size() * sizeof(float);
  storage.name = name;
  return storage;
}

launch::Argument tensorOf(const std::string& name, std::vector<int64_t> shape, uint32_t storage) {
  launch::Argument argument;
  argument.name = name;
  argument.kind = launch::Argument::Kind::Tensor;
  argument.view = {.element = ir::ElementKind::F32, .dtype = "float32", .shape = shape, .strides = {shape[1], 1}, .storage = storage};
  return argument;
}

void writeRows(const std::string& path, std::vector<float> x) {
  std::vector<float> y(x.size());
  launch::Launch launch;
  launch.kernel = "rows";
  launch.irText = kText;
  launch.irName = "rows.ttir";
  launch.grid = {4, 1, 1};
  launch.storages = {storageOf(x, "x"), storageOf(y, "y")};
  launch.arguments = {tensorOf("x", {4, 8}, 0), tensorOf("y", {4, 8}, 1)};
  launch::Argument n;
  n.name = "n";
  n.element = ir::ElementKind::I32;
  n.bits = 6;
  launch.arguments.push_back(n);
  launch.sources["rows.py"] = kSource;
  auto writer = launch::BundleWriter::open(path);
  ASSERT_TRUE(writer);
  ASSERT_TRUE(writer->add(launch));
  ASSERT_TRUE(writer->finish());
}

void writeNpyOf(const std::string& path, const std::string& dtype, const std::string& shape, const std::vector<float>& values,
                const std::string& order = "False") {
  std::string header = "{'descr': " + dtype + ", 'fortran_order': " + order + ", 'shape': " + shape + ", }";
  while ((10 + header.size() + 1) % 64) header += ' ';
  header += '\n';
  std::ofstream file(path, std::ios::binary);
  file.write("\x93NUMPY\x01\x00", 8);
  const char length[] = {static_cast<char>(header.size()), static_cast<char>(header.size() >> 8)};
  file.write(length, 2);
  file << header;
  file.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(float)));
}

void writeNpy(const std::string& path, const std::vector<float>& values, const std::string& shape) {
  writeNpyOf(path, "'<f4'", "(" + shape + ")", values);
}

// The same array in columns, and files that are broken or mean harm.
void writeOtherNpys(const Scratch& scratch, const std::vector<float>& values) {
  std::vector<float> columns;
  for (size_t c = 0; c < 8; ++c)
    for (size_t r = 0; r < 4; ++r) columns.push_back(values[8 * r + c]);
  writeNpyOf(scratch / "columns.npy", "'<f4'", "(4, 8)", columns, "True");
  writeNpyOf(scratch / "order.npy", "'<f4'", "(4, 8)", values, "Maybe");
  writeNpyOf(scratch / "cut.npy", "'<f4'", "(4, 8)", std::vector<float>(31));
  writeNpyOf(scratch / "objects.npy", "'|O'", "(4, 8)", values);
  writeNpyOf(scratch / "records.npy", "[('a', '<f4')]", "(4, 8)", values);
  writeNpyOf(scratch / "complex.npy", "'<c8'", "(4, 8)", values);
  writeNpyOf(scratch / "big-endian.npy", "'>f4'", "(4, 8)", values);
  writeNpyOf(scratch / "negative.npy", "'<f4'", "(4, -8)", values);
  writeNpyOf(scratch / "open.npy", "'<f4'", "(4, 8", values);
  writeNpyOf(scratch / "dtype.npy", "'", "(4, 8)", values);
  writeNpyOf(scratch / "endless.npy", "'<f4'", "(99999999999999999999, 8)", values);
  // It has the size that its shape needs, and no block on the disk.
  writeNpyOf(scratch / "sparse.npy", "'<f4'", "(4294967296, 8)", {});
  std::filesystem::resize_file(scratch / "sparse.npy", 128 + (int64_t{1} << 37));
  std::ofstream(scratch / "version.npy", std::ios::binary).write("\x93NUMPY\x09\x00\x01\x00 ", 11);
  std::ofstream(scratch / "header.npy", std::ios::binary).write("\x93NUMPY\x01\x00\x76\x00{", 11);
  std::ofstream(scratch / "long.npy", std::ios::binary).write("\x93NUMPY\x02\x00\xff\xff\xff\xff{", 13);
  std::ofstream(scratch / "empty.npy", std::ios::binary);
}

std::vector<float> rows() {
  std::vector<float> x(32);
  for (int i = 0; i < 32; ++i) x[i] = static_cast<float>(i % 5) / 2;
  return x;
}

// What the kernel should give, but for the three turns that it adds up: each element is a third of this.
std::vector<float> softmax(const std::vector<float>& x) {
  std::vector<float> y(32);
  for (int r = 0; r < 4; ++r) {
    float m = -std::numeric_limits<float>::infinity(), total = 0;
    for (int c = 0; c < 6; ++c) m = std::max(m, x[r * 8 + c]);
    for (int c = 0; c < 6; ++c) total += std::exp(x[r * 8 + c] - m);
    for (int c = 0; c < 6; ++c) y[r * 8 + c] = std::exp(x[r * 8 + c] - m) / total;
  }
  return y;
}

std::string outputOf(const Scratch& scratch, const std::string& command) {
  const std::string line = "cd '" + (scratch / "") + "' && '" TILESIGHT_BINARY "' " + command.substr(command.find(' ') + 1) + " >out 2>err </dev/null";
  const int status = std::system(line.c_str());
  return scratch.read("out") + scratch.read("err") + "[status " + std::to_string(WIFEXITED(status) ? WEXITSTATUS(status) : -1) + "]\n";
}

class Show : public testing::TestWithParam<std::string> {};

TEST_P(Show, Prints) {
  const Scratch scratch;
  std::vector<float> x = rows();
  writeRows(scratch / "rows.tsb", x);
  writeNpy(scratch / "softmax.npy", softmax(x), "4, 8");
  writeNpy(scratch / "short.npy", {1, 2}, "2,");
  writeOtherNpys(scratch, softmax(x));
  for (int c = 0; c < 8; ++c) x[16 + c] = -std::numeric_limits<float>::infinity();
  writeRows(scratch / "masked.tsb", x);
  x[16] = std::numeric_limits<float>::quiet_NaN();
  writeRows(scratch / "nan.tsb", x);
  std::ifstream file(GetParam());
  std::string expected, actual, line;
  bool skipping = false;
  while (std::getline(file, line)) {
    expected += line + "\n";
    if (line.starts_with("$ ")) {
      actual += line + "\n" + outputOf(scratch, line.substr(2));
      skipping = true;
    } else if (!skipping || line.starts_with("# ")) {
      actual += line + "\n";
      skipping = false;
    }
  }
  if (test::rebase) std::ofstream(GetParam()) << actual;
  else EXPECT_EQ(expected, actual) << GetParam();
}

std::vector<std::string> cases() {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(SHOW_GOLDENS)) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

INSTANTIATE_TEST_SUITE_P(Goldens, Show, testing::ValuesIn(cases()), [](const auto& info) { return std::filesystem::path(info.param).stem().string(); });

}  // namespace
}  // namespace tilesight
