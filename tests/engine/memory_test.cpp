// What a launch may write, known before it runs; pages of memory that lies elsewhere.
#include <cstring>
#include <numeric>
#include <thread>

#include <gtest/gtest.h>

#include "exec/parameters.h"
#include "launch/pager.h"

namespace tilesight {
namespace {

launch::Launch launchOn(std::vector<uint32_t> storages) {
  launch::Launch launch;
  launch.kernel = "k";
  launch.storages.resize(*std::max_element(storages.begin(), storages.end()) + 1);
  for (uint32_t storage : storages) {
    launch::Argument argument;
    argument.kind = launch::Argument::Kind::Tensor;
    argument.view.storage = storage;
    launch.arguments.push_back(argument);
  }
  return launch;
}

std::vector<bool> written(const char* body, const launch::Launch& launch) {
  const std::string text = std::string("module {\n tt.func public @k(%x: !tt.ptr<i64>, %y: !tt.ptr<i64>) {\n") + body +
                           " tt.return\n }\n}\n";
  auto kernel = exec::compile(text, "test.ttir");
  EXPECT_TRUE(kernel) << kernel.error().str();
  return kernel ? exec::mayWrite(**kernel, launch) : std::vector<bool>();
}

constexpr const char* kCopy = R"(
    %v = tt.load %x : !tt.ptr<i64>
    tt.store %y, %v : !tt.ptr<i64>
)";

TEST(MayWrite, OnlyStoragesThatAreStoredTo) {
  EXPECT_EQ(written(kCopy, launchOn({0, 1})), (std::vector<bool>{false, true}));
  EXPECT_EQ(written(kCopy, launchOn({1, 0})), (std::vector<bool>{true, false}));
}

TEST(MayWrite, AViewThatIsReadSharesItsStorageWithOneThatIsWritten) {
  EXPECT_EQ(written(kCopy, launchOn({0, 0})), (std::vector<bool>{true}));
}

TEST(MayWrite, EveryStorageIfAnAddressCameFromMemory) {
  const char* through = R"(
    %v = tt.load %x : !tt.ptr<i64>
    %p = tt.int_to_ptr %v : i64 -> !tt.ptr<i64>
    tt.store %p, %v : !tt.ptr<i64>
)";
  EXPECT_EQ(written(through, launchOn({0, 1})), (std::vector<bool>{true, true}));
}

TEST(MayWrite, EveryStorageIfThePointerWasGivenAsAnAddress) {
  launch::Launch launch = launchOn({0, 1});
  launch.arguments[1].kind = launch::Argument::Kind::Scalar;
  launch.arguments[1].element = ir::ElementKind::Pointer;
  EXPECT_EQ(written(kCopy, launch), (std::vector<bool>{true, true}));
}

TEST(MayWrite, NoStorageIfAnAddressIsMadeWithANumber) {
  const char* indexed = R"(
    %v = tt.load %x : !tt.ptr<i64>
    %i = tt.ptr_to_int %y : !tt.ptr<i64> -> i64
    %p = tt.addptr %x, %i : !tt.ptr<i64>, i64
    tt.store %p, %v : !tt.ptr<i64>
)";
  launch::Launch launch = launchOn({0, 1});
  launch.arguments[1].kind = launch::Argument::Kind::Scalar;
  launch.arguments[1].element = ir::ElementKind::I64;
  EXPECT_EQ(written(indexed, launch), (std::vector<bool>{true, false}));
}

// A device whose byte b is b / 1000.
struct Device {
  static constexpr uint64_t kPage = launch::Pager::kPageBytes;
  std::vector<uint8_t> host;
  launch::Pager pager;

  explicit Device(uint64_t bytes)
      : host(bytes, 0xee), pager(host.data(), bytes, [](uint64_t from, uint64_t count, uint8_t* to) -> Status {
          for (uint64_t i = 0; i < count; ++i) to[i] = static_cast<uint8_t>((from + i) / 1000);
          return {};
        }) {}
};

using Spans = std::vector<launch::Pager::Span>;

TEST(Pager, FetchesWhatIsMissingOnceAndNeighboursTogether) {
  Device device(10 * Device::kPage + 5);
  device.pager.need(3 * Device::kPage + 7, 3 * Device::kPage + 8, false);
  device.pager.need(Device::kPage, 6 * Device::kPage, false);
  device.pager.need(10 * Device::kPage, 10 * Device::kPage + 5, false);
  device.pager.need(0, 0, false);
  const auto page = [](uint64_t first, uint64_t past) { return launch::Pager::Span{first * Device::kPage, past * Device::kPage}; };
  EXPECT_EQ(device.pager.fetched(), (Spans{page(3, 4), page(1, 3), page(4, 6), {10 * Device::kPage, 10 * Device::kPage + 5}}));
  EXPECT_EQ(device.host[4 * Device::kPage], static_cast<uint8_t>(4 * Device::kPage / 1000));
  EXPECT_EQ(device.host[6 * Device::kPage], 0xee);
  EXPECT_TRUE(device.pager.changed().empty());
}

TEST(Pager, OnlyPagesWithOtherBytesCountAsChanged) {
  Device device(4 * Device::kPage);
  device.pager.need(0, 4 * Device::kPage, true);
  device.host[Device::kPage + 1] ^= 1;
  device.host[2 * Device::kPage] ^= 1;
  device.host[0] = device.host[0];
  EXPECT_EQ(device.pager.changed(), (Spans{{Device::kPage, 3 * Device::kPage}}));
}

TEST(Pager, WritersOnManyThreadsLoseNothing) {
  constexpr uint64_t pages = 64;
  Device device(pages * Device::kPage);
  std::vector<std::jthread> threads;
  for (uint64_t t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      // Every thread has bytes of its own in every page.
      for (uint64_t p = 0; p < pages; ++p) {
        const uint64_t at = (p * 37 + t * 11) % pages * Device::kPage + t;
        device.pager.need(at, at + 1, true);
        device.host[at] = static_cast<uint8_t>(200 + t);
      }
    });
  threads.clear();
  uint64_t fetched = 0;
  for (const auto& span : device.pager.fetched()) fetched += span.to - span.from;
  EXPECT_EQ(fetched, pages * Device::kPage);
  for (uint64_t p = 0; p < pages; ++p)
    for (uint64_t t = 0; t < 8; ++t) EXPECT_EQ(device.host[p * Device::kPage + t], 200 + t);
  EXPECT_EQ(device.pager.changed(), (Spans{{0, pages * Device::kPage}}));
}

TEST(Pager, AFailedFetchLeavesZerosAndIsTold) {
  std::vector<uint8_t> host(3 * Device::kPage, 0);
  int calls = 0;
  launch::Pager pager(host.data(), host.size(), [&](uint64_t, uint64_t, uint8_t*) -> Status {
    ++calls;
    return failure("no device");
  });
  pager.need(0, 1, false);
  pager.need(2 * Device::kPage, 2 * Device::kPage + 1, true);
  EXPECT_EQ(calls, 1);
  ASSERT_TRUE(pager.error());
  EXPECT_EQ(pager.error()->message, "no device");
  EXPECT_TRUE(pager.fetched().empty());
}

}  // namespace
}  // namespace tilesight
