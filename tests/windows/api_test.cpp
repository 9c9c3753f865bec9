// The public C API, through the shared library where there is one: kernels run, clients are called back, errors
// are texts.
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tilesight/tilesight.h"

namespace {

/// Adds 1 to each of n floats in blocks of 64; the load has a mask or not.
std::string addOne(bool masked) {
  return std::string(
             "module {\n"
             "  tt.func public @add_one(%x: !tt.ptr<f32>, %out: !tt.ptr<f32>, %n: i32) {\n"
             "    %c64 = arith.constant 64 : i32\n"
             "    %one = arith.constant dense<1.000000e+00> : tensor<64xf32>\n"
             "    %pid = tt.get_program_id x : i32\n"
             "    %start = arith.muli %pid, %c64 : i32\n"
             "    %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>\n"
             "    %starts = tt.splat %start : i32 -> tensor<64xi32>\n"
             "    %offs = arith.addi %starts, %range : tensor<64xi32>\n"
             "    %ns = tt.splat %n : i32 -> tensor<64xi32>\n"
             "    %mask = arith.cmpi slt, %offs, %ns : tensor<64xi32>\n"
             "    %xs = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>\n"
             "    %px = tt.addptr %xs, %offs : tensor<64x!tt.ptr<f32>>, tensor<64xi32>\n"
             "    %v = tt.load %px") +
         (masked ? ", %mask" : "") +
         " : tensor<64x!tt.ptr<f32>>\n"
         "    %sum = arith.addf %v, %one : tensor<64xf32>\n"
         "    %os = tt.splat %out : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>\n"
         "    %po = tt.addptr %os, %offs : tensor<64x!tt.ptr<f32>>, tensor<64xi32>\n"
         "    tt.store %po, %sum, %mask : tensor<64x!tt.ptr<f32>>\n"
         "    tt.return\n"
         "  }\n"
         "}\n";
}

/// A text of the library's, freed with it.
struct Text {
  tilesight_text* text = nullptr;
  ~Text() { tilesight_text_free(text); }
  std::string str() const { return text ? tilesight_text_bytes(text) : ""; }
};

struct AddOne {
  static constexpr int64_t n = 100;
  std::vector<float> x = std::vector<float>(n, 2.5f), out = std::vector<float>(n);
  tilesight_kernel* kernel = nullptr;
  tilesight_launch* launch = tilesight_launch_new("add_one", 2, 1, 1);

  explicit AddOne(bool masked) {
    const std::string ir = addOne(masked);
    Text error;
    EXPECT_EQ(tilesight_compile(ir.data(), ir.size(), "add_one.ttir", &kernel, &error.text), 0) << error.str();
    const int64_t shape[] = {n}, strides[] = {1};
    EXPECT_EQ(tilesight_launch_tensor(launch, "x", "f32", x.data(), n * 4, 1, shape, strides), 0);
    EXPECT_EQ(tilesight_launch_tensor(launch, "out", "f32", out.data(), n * 4, 1, shape, strides), 0);
    EXPECT_EQ(tilesight_launch_scalar(launch, "n", "i32", n), 0);
  }
  ~AddOne() {
    tilesight_kernel_free(kernel);
    tilesight_launch_free(launch);
  }
};

TEST(Library, RunsAKernel) {
  AddOne add(true);
  Text report;
  EXPECT_EQ(tilesight_run(add.kernel, add.launch, nullptr, 0, &report.text), 0) << report.str();
  EXPECT_EQ(add.out, std::vector<float>(AddOne::n, 3.5f));
  EXPECT_NE(report.str().find("\"verdict\": \"ok\""), std::string::npos) << report.str();
}

TEST(Library, ReportsWhatTheSanitizerFinds) {
  AddOne add(false);
  Text report;
  EXPECT_EQ(tilesight_run(add.kernel, add.launch, nullptr, 1, &report.text), 1) << report.str();
  EXPECT_NE(report.str().find("\"kind\": \"out-of-bounds\""), std::string::npos) << report.str();
}

/// A client that knows the C header only.
struct Seen {
  int64_t loads = 0, stores = 0, active = 0;
} seen;

TEST(Library, CallsAClientBack) {
  seen = {};
  ts_client client{};
  client.size = sizeof client;
  client.abi = TS_CLIENT_ABI;
  client.name = "counter";
  client.needs = TS_NEED_ADDRESSES;
  client.create = [](const ts_host*, const char*) -> void* { return &seen; };
  client.destroy = [](void*) {};
  client.on_load = [](void* state, const ts_access* access) {
    ++static_cast<Seen*>(state)->loads;
    static_cast<Seen*>(state)->active += access->active;
  };
  client.on_store = [](void* state, const ts_access*) { ++static_cast<Seen*>(state)->stores; };
  AddOne add(true);
  Text report;
  EXPECT_EQ(tilesight_run(add.kernel, add.launch, &client, 0, &report.text), 0) << report.str();
  EXPECT_EQ(seen.loads, 2);
  EXPECT_EQ(seen.stores, 2);
  EXPECT_EQ(seen.active, AddOne::n);
}

TEST(Library, ErrorsAreTexts) {
  tilesight_kernel* kernel = nullptr;
  Text error;
  EXPECT_EQ(tilesight_compile("module {", 8, "cut.ttir", &kernel, &error.text), 2);
  EXPECT_EQ(kernel, nullptr);
  EXPECT_TRUE(error.str().starts_with("cut.ttir:1:")) << error.str();

  AddOne add(true);
  EXPECT_EQ(tilesight_launch_scalar(add.launch, "y", "f33", 0), 2);
  EXPECT_EQ(tilesight_launch_scalar(add.launch, "y", "i32", 0), 0);
  Text report;
  EXPECT_EQ(tilesight_run(add.kernel, add.launch, nullptr, 0, &report.text), 2);
  EXPECT_FALSE(report.str().empty());
}

TEST(Library, PrintsBothForms) {
  const std::string ir = addOne(true);
  Text custom, generic, again;
  ASSERT_EQ(tilesight_print(ir.data(), ir.size(), "a.ttir", 0, &custom.text), 0);
  ASSERT_EQ(tilesight_print(ir.data(), ir.size(), "a.ttir", TILESIGHT_GENERIC, &generic.text), 0);
  EXPECT_NE(generic.str().find("\"tt.load\"("), std::string::npos);
  ASSERT_EQ(tilesight_print(generic.str().data(), generic.str().size(), "b.ttir", 0, &again.text), 0);
  EXPECT_EQ(again.str(), custom.str());
}

TEST(Library, IsTheTool) {
  char name[] = "tilesight", option[] = "explain", wrong[] = "out-of-bnds";
  char* arguments[] = {name, option, wrong, nullptr};
  EXPECT_EQ(tilesight_main(3, arguments), 2);
}

}  // namespace
