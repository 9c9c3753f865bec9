// Kernels with atomic operations give the same memory, the same text and the same findings for any number of
// threads, bit for bit.
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "clients/registry.h"
#include "engine_launch.h"
#include "findings/json_values.h"

namespace tilesight::exec {
namespace {

constexpr int kTile = 8;
constexpr int kCells = 16;

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size()) text.replace(at, what.size(), by);
  return text;
}

// Each program reads a tile of indices x and of values w; then comes the case. E is the element type, TE a tile of
// them, TP a tile of pointers. %ap and %bp are where the indices point in a and b, %yp this program's tile of y.
std::string kernel(const std::string& element, const std::string& body) {
  std::string text = R"(
module {
  tt.func public @k(%x: !tt.ptr<i32>, %w: !tt.ptr<E>, %a: !tt.ptr<E>, %b: !tt.ptr<E>, %y: !tt.ptr<E>) {
    %pid = tt.get_program_id x : i32
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c8 = arith.constant 8 : i32
    %true = arith.constant true
    %all = arith.constant dense<true> : tensor<8xi1>
    %zeros = arith.constant dense<0> : tensor<8xi32>
    %start = arith.muli %pid, %c8 : i32
    %r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
    %s = tt.splat %start : i32 -> tensor<8xi32>
    %offs = arith.addi %s, %r : tensor<8xi32>
    %xs = tt.splat %x : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
    %xp = tt.addptr %xs, %offs : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
    %index = tt.load %xp : tensor<8x!tt.ptr<i32>>
    %some = arith.cmpi ne, %index, %zeros : tensor<8xi32>
    %ws = tt.splat %w : !tt.ptr<E> -> TP
    %wp = tt.addptr %ws, %offs : TP, tensor<8xi32>
    %v = tt.load %wp : TP
    %as = tt.splat %a : !tt.ptr<E> -> TP
    %ap = tt.addptr %as, %index : TP, tensor<8xi32>
    %bs = tt.splat %b : !tt.ptr<E> -> TP
    %bp = tt.addptr %bs, %index : TP, tensor<8xi32>
    %ys = tt.splat %y : !tt.ptr<E> -> TP
    %yp = tt.addptr %ys, %offs : TP, tensor<8xi32>
BODY    tt.return
  }
}
)";
  text = replaced(std::move(text), "BODY", body);
  text = replaced(std::move(text), "TP", "tensor<8x!tt.ptr<E>>");
  text = replaced(std::move(text), "TE", "tensor<8xE>");
  return replaced(replaced(std::move(text), "<E>", "<" + element + ">"), "8xE>", "8x" + element + ">");
}

/// `%result = atomic_rmw kind` of %v at `pointer`.
std::string rmw(const std::string& result, const std::string& kind, const std::string& pointer, const std::string& mask = "%all") {
  return "    " + result + " = tt.atomic_rmw " + kind + ", acq_rel, gpu, " + pointer + ", %v, " + mask +
         " : (TP, TE, tensor<8xi1>) -> TE\n";
}

struct Case {
  const char* name;
  const char* element;
  std::string body;
  int bFrom = kCells;  // the cell of a at which b begins; kCells: b is another storage
  int indices = kCells;  // indices are below this: beyond kCells they are out of bounds
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

const std::string kStoreV = "    tt.store %yp, %v : TP\n";
const std::string kStoreOld = "    tt.store %yp, %old : TP\n";
const std::string kLoadAndStore = "    %now = tt.load %ap : TP\n    tt.store %yp, %now : TP\n";

// The same cell for all programs.
const std::string kCas = R"(
    %old = tt.atomic_cas acq_rel, gpu, %a, %pid, %next : (!tt.ptr<i32>, i32, i32) -> i32
)";
const std::string kNext = "    %next = arith.addi %pid, %c1 : i32\n";

const Case kCases[] = {
    {"IntegerAdd", "i32", rmw("%old", "add", "%ap")},
    {"FloatAdd", "f32", rmw("%old", "fadd", "%ap")},
    {"AddUsed", "i32", rmw("%old", "add", "%ap") + kStoreOld},
    {"FloatAddUsed", "f32", rmw("%old", "fadd", "%ap") + kStoreOld},
    {"MaxAndMin", "i32", rmw("%o1", "max", "%ap") + rmw("%o2", "min", "%bp") + rmw("%o3", "umax", "%bp")},
    {"AndOrXor", "i32", rmw("%o1", "and", "%ap") + rmw("%o2", "or", "%ap") + rmw("%o3", "xor", "%ap")},
    {"Exchange", "i32", rmw("%old", "exch", "%ap")},
    {"ExchangeUsed", "f32", rmw("%old", "exch", "%ap") + kStoreOld},
    {"AddThenExchange", "f32", rmw("%o1", "fadd", "%ap") + rmw("%o2", "exch", "%ap")},
    {"CompareAndSwapUsed", "i32", kNext + kCas + "    %old8 = tt.splat %old : i32 -> tensor<8xi32>\n    tt.store %yp, %old8 : TP\n"},
    {"CompareAndSwapUnused", "i32", kNext + kCas},
    {"AddThenLoadOfTheSameCell", "i32", rmw("%old", "add", "%ap") + kLoadAndStore},
    {"LoadThenAddToTheSameCell", "f32", kLoadAndStore + rmw("%old", "fadd", "%ap")},
    {"AddThenLoadOfAnother", "i32", rmw("%old", "add", "%bp") + kLoadAndStore},
    {"AddThenStoreToTheSameCell", "i32", rmw("%old", "add", "%ap") + "    tt.store %ap, %v : TP\n"},
    {"StoreThenAddToItsOwnCells", "f32", kStoreV + rmw("%old", "fadd", "%yp")},
    {"Masked", "f32", rmw("%old", "fadd", "%ap", "%some") + kStoreV},
    {"MaskedUsed", "i32", rmw("%old", "add", "%ap", "%some") + kStoreOld},
    {"DuplicatesInATile", "f32", rmw("%old", "fadd", "%ap"), kCells, 2},
    {"TwoStorages", "f32", rmw("%o1", "fadd", "%ap") + rmw("%o2", "fadd", "%bp") + kStoreV},
    {"OverlappingViews", "f32", rmw("%o1", "fadd", "%ap") + rmw("%o2", "exch", "%bp"), 3, kCells - 3},
    {"OverlappingViewsAndALoad", "i32", rmw("%o1", "add", "%bp") + kLoadAndStore, 3, kCells - 3},
    {"OutOfBounds", "f32", rmw("%old", "fadd", "%ap") + kStoreV, kCells, 2 * kCells},
    {"OutOfBoundsUsed", "i32", rmw("%old", "add", "%ap") + kStoreOld, kCells, 2 * kCells},
    {"OutOfViewInAnother", "f32", rmw("%old", "fadd", "%ap"), kCells - 4, kCells + 8},
    {"Prints", "i32", rmw("%old", "add", "%ap") + "    tt.print \" v: \" {hex = false, isSigned = array<i32: 1>} : %v : TE\n"},
    {"PrintsUsed", "i32", rmw("%old", "add", "%ap") + "    tt.print \" old: \" {hex = false, isSigned = array<i32: 1>} : %old : TE\n"},
};

/// Everything that a launch leaves behind.
struct Outcome {
  std::vector<std::vector<int32_t>> arrays;
  std::string printed;
  std::vector<std::string> findings, unknowns;
};

class Atomics : public testing::TestWithParam<Case> {
 protected:
  uint32_t draw() { return (state_ = state_ * 1664525 + 1013904223) >> 8; }

  Bench bench(int programs, uint32_t number) {
    const Case& c = GetParam();
    state_ = number;
    const auto value = [&] {
      if (std::string(c.element) == "i32") return static_cast<int32_t>(draw() << 8 ^ draw());
      const float f = static_cast<float>(draw()) * 1e-3f - 8000.0f;
      int32_t bits;
      std::memcpy(&bits, &f, 4);
      return bits;
    };
    std::vector<int32_t> x, w, a, b;
    for (int i = 0; i < kTile * programs; ++i) {
      x.push_back(static_cast<int32_t>(draw() % static_cast<uint32_t>(c.indices)));
      w.push_back(value());
    }
    for (int i = 0; i < kCells; ++i) a.push_back(value());
    if (std::string(c.name).starts_with("CompareAndSwap")) a[0] = 3;  // program 3 is the first that swaps
    for (int i = 0; i < kCells; ++i) b.push_back(value());
    Bench bench(kernel(c.element, c.body));
    bench.array("x", x).array("w", w).array("a", a).array("b", b).array("y", std::vector<int32_t>(kTile * programs, -1));
    for (size_t i = 1; i < 5; ++i)
      if (std::string(c.element) == "f32") {
        bench.launch.arguments[i].view.element = ir::ElementKind::F32;
        bench.launch.arguments[i].view.dtype = "float32";
      }
    if (c.bFrom < kCells) {
      launch::View& view = bench.launch.arguments[3].view;
      view.storage = bench.launch.arguments[2].view.storage;
      view.offset = 4 * c.bFrom;
      view.shape = {kCells - c.bFrom};
    }
    return bench;
  }

  Outcome run(int programs, uint32_t number, unsigned threads, bool addressOnly = false) {
    Bench launched = bench(programs, number);
    RunOptions options;
    options.clients.push_back({clients::find("sanitizer")});
    options.threads = threads;
    options.alwaysDivide = true;
    options.addressOnly = addressOnly;
    testing::internal::CaptureStdout();
    const findings::LaunchReport report = launched.run(programs, options);
    Outcome outcome{launched.arrays, testing::internal::GetCapturedStdout(), {}, {}};
    for (const auto& finding : report.findings) outcome.findings.push_back(findings::dumped(findings::toJson(finding), 1));
    for (const auto& unknown : report.unknowns) outcome.unknowns.push_back(unknown.reason);
    return outcome;
  }

 private:
  uint32_t state_ = 1;
};

TEST_P(Atomics, GiveTheSameForAnyNumberOfThreads) {
  for (int programs : {1, 2, 7, 100})
    for (uint32_t number : {1u, 2u, 3u}) {
      const Outcome one = run(programs, number, 1);
      EXPECT_EQ(one.unknowns, std::vector<std::string>{});
      EXPECT_EQ(!one.findings.empty(), GetParam().indices > kCells);
      EXPECT_EQ(!one.printed.empty(), std::string(GetParam().name).starts_with("Prints"));
      if (programs > 4) {
        EXPECT_NE(one.arrays, bench(programs, number).arrays) << "nothing was updated";
      }
      for (unsigned threads : {2u, 3u, 16u}) {
        SCOPED_TRACE(std::to_string(programs) + " programs, data " + std::to_string(number) + ", " + std::to_string(threads) + " threads");
        const Outcome many = run(programs, number, threads);
        EXPECT_EQ(many.arrays, one.arrays);
        EXPECT_EQ(many.printed, one.printed);
        EXPECT_EQ(many.findings, one.findings);
        EXPECT_EQ(many.unknowns, one.unknowns);
      }
    }
}

TEST_P(Atomics, GiveTheSameFindingsWhereOutputsAreNotComputed) {
  const Outcome one = run(50, 1, 1, true);
  const Outcome three = run(50, 1, 3, true);
  EXPECT_EQ(one.unknowns, std::vector<std::string>{});
  EXPECT_EQ(three.arrays, one.arrays);
  EXPECT_EQ(three.printed, one.printed);
  EXPECT_EQ(three.findings, one.findings);
}

INSTANTIATE_TEST_SUITE_P(Engine, Atomics, testing::ValuesIn(kCases), [](const auto& info) { return std::string(info.param.name); });

// c[(i * i + pid) % 1024] += i * i + pid for a tile of 4096 elements, whose addresses and values have to be written out.
constexpr const char* kManyUpdates = R"(
module {
  tt.func public @k(%c: !tt.ptr<i32>) {
    %pid = tt.get_program_id x : i32
    %p = tt.splat %pid : i32 -> tensor<4096xi32>
    %r = tt.make_range {end = 4096 : i32, start = 0 : i32} : tensor<4096xi32>
    %low = arith.constant dense<1023> : tensor<4096xi32>
    %h = arith.muli %r, %r : tensor<4096xi32>
    %g = arith.addi %h, %p : tensor<4096xi32>
    %index = arith.andi %g, %low : tensor<4096xi32>
    %all = arith.constant dense<true> : tensor<4096xi1>
    %cs = tt.splat %c : !tt.ptr<i32> -> tensor<4096x!tt.ptr<i32>>
    %cp = tt.addptr %cs, %index : tensor<4096x!tt.ptr<i32>>, tensor<4096xi32>
    %old = tt.atomic_rmw add, relaxed, gpu, %cp, %g, %all : (tensor<4096x!tt.ptr<i32>>, tensor<4096xi32>, tensor<4096xi1>) -> tensor<4096xi32>
    tt.return
  }
}
)";

// Sanitizers keep memory of their own, and freed memory for a while.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#elif defined(__has_feature)
constexpr bool kSanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
constexpr bool kSanitized = false;
#endif

/// The most memory that this process has had at once, in MiB; 0 where that is not told.
int64_t peak() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return std::stoll(line.substr(6)) / 1024;
  return 0;
}

TEST(AtomicsMemory, WhatIsPutOffIsBounded) {
  constexpr int programs = 12000;  // 48 KiB each
  std::vector<int32_t> expected(1024, 0);
  for (int pid = 0; pid < programs; ++pid)
    for (uint32_t i = 0; i < 4096; ++i) {
      const uint32_t value = i * i + static_cast<uint32_t>(pid);
      expected[value & 1023] = static_cast<int32_t>(static_cast<uint32_t>(expected[value & 1023]) + value);
    }
  const int64_t before = peak();
  Bench bench(kManyUpdates);
  bench.array("c", std::vector<int32_t>(1024, 0));
  RunOptions options;
  options.threads = 16;
  options.alwaysDivide = true;
  const findings::LaunchReport report = bench.run(programs, options);
  EXPECT_EQ(report.verdict(), findings::Verdict::Ok);
  EXPECT_EQ(bench.arrays[0], expected);
  if (!kSanitized) {
    EXPECT_LT(peak() - before, 400) << "MiB";
  }
}

}  // namespace
}  // namespace tilesight::exec
