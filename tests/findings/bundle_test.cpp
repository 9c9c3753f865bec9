// Bundles: what is written is read again, is stored once, and appears whole or not at all.
#include "launch/bundle.h"
#include "launch/memory.h"

#include <unistd.h>
#if !defined(TILESIGHT_NO_ZIP)
#include <zip.h>
#endif

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "samples.h"
#include "scratch.h"

namespace tilesight::launch {
namespace {

using test::makeStorage;
using test::sampleLaunch;
using test::Scratch;

#if defined(TILESIGHT_NO_ZIP)  // there are folders only
constexpr auto kUsual = BundleWriter::Layout::Directory;
#else
constexpr auto kUsual = BundleWriter::Layout::Zip;
#endif

void save(const std::string& path, const std::vector<Launch>& launches,
          BundleWriter::Layout layout = kUsual) {
  auto writer = BundleWriter::open(path, layout);
  ASSERT_TRUE(writer) << writer.error().str();
  for (const Launch& launch : launches) {
    const Status added = writer->add(launch);
    ASSERT_TRUE(added) << added.error().str();
  }
  const Status finished = writer->finish();
  ASSERT_TRUE(finished) << finished.error().str();
}

std::vector<Launch> load(const std::string& path) {
  auto launches = readBundle(path);
  EXPECT_TRUE(launches) << launches.error().str();
  return launches ? *launches : std::vector<Launch>{};
}

void expectSameView(const View& actual, const View& expected) {
  EXPECT_EQ(actual.element, expected.element);
  EXPECT_EQ(actual.dtype, expected.dtype);
  EXPECT_EQ(actual.shape, expected.shape);
  EXPECT_EQ(actual.strides, expected.strides);
  EXPECT_EQ(actual.offset, expected.offset);
  EXPECT_EQ(actual.storage, expected.storage);
  EXPECT_EQ(actual.uninitialized, expected.uninitialized);
  EXPECT_EQ(actual.readOnly, expected.readOnly);
}

void expectSame(const Launch& actual, const Launch& expected) {
  EXPECT_EQ(actual.index, expected.index);
  EXPECT_EQ(actual.kernel, expected.kernel);
  EXPECT_EQ(actual.irText, expected.irText);
  EXPECT_EQ(actual.irName, expected.irName);
  EXPECT_EQ(actual.grid, expected.grid);
  EXPECT_EQ(actual.config, expected.config);
  EXPECT_EQ(actual.tritonVersion, expected.tritonVersion);
  EXPECT_EQ(actual.target, expected.target);
  EXPECT_EQ(actual.seed, expected.seed);
  EXPECT_EQ(actual.numSms, expected.numSms);
  EXPECT_EQ(actual.test, expected.test);
  EXPECT_EQ(actual.sources, expected.sources);
  ASSERT_EQ(actual.arguments.size(), expected.arguments.size());
  for (size_t i = 0; i < actual.arguments.size(); ++i) {
    SCOPED_TRACE(expected.arguments[i].name);
    EXPECT_EQ(actual.arguments[i].name, expected.arguments[i].name);
    EXPECT_EQ(actual.arguments[i].kind, expected.arguments[i].kind);
    EXPECT_EQ(actual.arguments[i].element, expected.arguments[i].element);
    EXPECT_EQ(actual.arguments[i].bits, expected.arguments[i].bits);
    EXPECT_EQ(actual.arguments[i].blockShape, expected.arguments[i].blockShape);
    EXPECT_EQ(actual.arguments[i].paddingNan, expected.arguments[i].paddingNan);
    EXPECT_EQ(actual.arguments[i].text, expected.arguments[i].text);
    EXPECT_EQ(actual.arguments[i].hint, expected.arguments[i].hint);
    expectSameView(actual.arguments[i].view, expected.arguments[i].view);
  }
  ASSERT_EQ(actual.storages.size(), expected.storages.size());
  for (size_t i = 0; i < actual.storages.size(); ++i) {
    SCOPED_TRACE(expected.storages[i].name);
    EXPECT_EQ(actual.storages[i].name, expected.storages[i].name);
    EXPECT_EQ(actual.storages[i].recordedBase, expected.storages[i].recordedBase);
    EXPECT_EQ(actual.storages[i].allocationKnown, expected.storages[i].allocationKnown);
    EXPECT_EQ(actual.storages[i].readOnly, expected.storages[i].readOnly);
    ASSERT_EQ(actual.storages[i].bytes, expected.storages[i].bytes);
    const std::span bytes(actual.storages[i].data, actual.storages[i].bytes);
    EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), expected.storages[i].data));
  }
}

TEST(Bundle, ZipAndDirectoryGiveBackTheLaunch) {
  const Scratch scratch;
  const Launch launch = sampleLaunch();
  save(scratch / "a.tsb", {launch});
  save(scratch / "a.dir", {launch}, BundleWriter::Layout::Directory);
  for (const char* name : {"a.tsb", "a.dir"}) {
    SCOPED_TRACE(name);
    const auto launches = load(scratch / name);
    ASSERT_EQ(launches.size(), 1u);
    expectSame(launches[0], launch);
  }
}

TEST(Bundle, EmptyAndOddLaunches) {
  const Scratch scratch;
  Launch bare;
  bare.kernel = "k";
  Launch odd = sampleLaunch(2);
  odd.storages.push_back(makeStorage(0, 0, ""));          // an empty tensor
  odd.config = "not json";
  odd.kernel = "na\"me\n";
  odd.grid = {-1, 0, INT64_MAX};                          // a finding's business, not the bundle's
  Argument empty{.name = "e", .kind = Argument::Kind::Tensor};
  empty.view = {.element = ir::ElementKind::I64, .dtype = "int64", .shape = {0, 3}, .strides = {3, 1},
                .storage = 2};
  odd.arguments.push_back(empty);
  save(scratch / "a.tsb", {bare, odd});
  const auto launches = load(scratch / "a.tsb");
  ASSERT_EQ(launches.size(), 2u);
  expectSame(launches[0], bare);
  expectSame(launches[1], odd);
  save(scratch / "none.tsb", {});
  EXPECT_TRUE(load(scratch / "none.tsb").empty());
}

TEST(Bundle, ScalarsAreExact) {
  const Scratch scratch;
  Launch launch = sampleLaunch();
  for (uint64_t bits : {uint64_t{0}, uint64_t{1}, UINT64_MAX, uint64_t{1} << 63, uint64_t{0x7ff0dead00000001}})
    for (auto element : {ir::ElementKind::I1, ir::ElementKind::I64, ir::ElementKind::BF16,
                         ir::ElementKind::F32, ir::ElementKind::F64})
      launch.arguments.push_back({.name = "s", .element = element, .bits = bits});
  save(scratch / "a.tsb", {launch});
  expectSame(load(scratch / "a.tsb").at(0), launch);
}

TEST(Bundle, RunningALaunchChangesNeitherTheBundleNorAnotherLaunch) {
  const Scratch scratch;
  const Launch launch = sampleLaunch(100000);
  save(scratch / "a.tsb", {launch, launch});
  auto launches = load(scratch / "a.tsb");
  std::memset(launches[0].storages[0].data, 0xff, launches[0].storages[0].bytes);
  expectSame(launches[1], launch);
  expectSame(load(scratch / "a.tsb").at(0), launch);
}

TEST(Bundle, LaunchesShareWhatDidNotChange) {
  const Scratch scratch;
  Launch launch = sampleLaunch(1 << 20);  // 4 MiB of data, 4 MiB of zeros
  auto writer = BundleWriter::open(scratch / "a.tsb", kUsual);
  ASSERT_TRUE(writer);
  ASSERT_TRUE(writer->add(launch));
  const uint64_t once = writer->bytes();
  EXPECT_GE(once, 4u << 20);
  EXPECT_LT(once, (4u << 20) + 10000) << "zeros are not stored";

  ASSERT_TRUE(writer->add(launch));
  EXPECT_LT(writer->bytes() - once, 4000u) << "nothing changed";

  launch.storages[0].data[3 << 20] ^= 0xff;  // one byte: one chunk
  const uint64_t before = writer->bytes();
  ASSERT_TRUE(writer->add(launch));
  EXPECT_LT(writer->bytes() - before, 70000u);
  const uint64_t patched = writer->bytes();
  ASSERT_TRUE(writer->add(launch));
  EXPECT_LT(writer->bytes() - patched, 4000u) << "the changed version is shared too";
  ASSERT_TRUE(writer->finish());

  const auto launches = load(scratch / "a.tsb");
  ASSERT_EQ(launches.size(), 4u);
  expectSame(launches[2], launch);
  expectSame(launches[3], launch);
  launch.storages[0].data[3 << 20] ^= 0xff;
  expectSame(launches[0], launch);
  expectSame(launches[1], launch);
}

TEST(Bundle, EveryWayAStorageMayChange) {
  // Each step changes one storage in another way; all versions must come back.
  const Scratch scratch;
  Launch launch = sampleLaunch(1 << 16);  // 256 KiB
  Storage& storage = launch.storages[0];
  auto writer = BundleWriter::open(scratch / "a.tsb", kUsual);
  ASSERT_TRUE(writer);
  std::vector<std::vector<uint8_t>> versions;
  const auto add = [&] {
    versions.emplace_back(storage.data, storage.data + storage.bytes);
    ASSERT_TRUE(writer->add(launch));
  };
  add();
  storage.data[0] ^= 1;                                   // a patch at the start
  add();
  storage.data[storage.bytes - 1] ^= 1;                   // and at the end
  add();
  std::memset(storage.data, 0, 1 << 16);                  // a chunk becomes zero
  add();
  std::memset(storage.data, 0, storage.bytes);            // all of it
  add();
  std::memset(storage.data, 0x5a, storage.bytes);         // another fill
  add();
  for (uint64_t i = 0; i < storage.bytes; ++i) storage.data[i] = static_cast<uint8_t>(i * i >> 8);
  add();                                                  // all new
  ASSERT_TRUE(writer->finish());
  const auto launches = load(scratch / "a.tsb");
  ASSERT_EQ(launches.size(), versions.size());
  for (size_t i = 0; i < versions.size(); ++i)
    EXPECT_EQ(std::memcmp(launches[i].storages[0].data, versions[i].data(), versions[i].size()), 0) << i;
}

/// Of a file, or of all files of a folder.
uint64_t bytesOf(const std::string& path) {
  if (!std::filesystem::is_directory(path)) return std::filesystem::file_size(path);
  uint64_t sum = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path))
    if (entry.is_regular_file()) sum += entry.file_size();
  return sum;
}

TEST(Bundle, AHugeStorageOfWhichLittleIsUsedIsSmall) {
  const Scratch scratch;
  Launch launch = sampleLaunch();
  auto memory = allocate(uint64_t{2} << 30);
  ASSERT_TRUE(memory);
  (*memory).get()[uint64_t{1} << 30] = 42;
  launch.storages.push_back({.data = memory->get(), .bytes = uint64_t{2} << 30, .name = "big",
                             .owner = *memory});
  save(scratch / "a.tsb", {launch});
  EXPECT_LT(bytesOf(scratch / "a.tsb"), 100000u);
  const auto launches = load(scratch / "a.tsb");
  EXPECT_EQ(launches.at(0).storages[2].data[uint64_t{1} << 30], 42);
  EXPECT_EQ(launches.at(0).storages[2].data[(uint64_t{1} << 30) + 1], 0);
}

#if defined(__linux__)
uint64_t residentBytes() {
  uint64_t all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

TEST(Bundle, ALargeStorageIsReadWhenItIsUsed) {
  const Scratch scratch;
  constexpr uint64_t bytes = (64 << 20) + 12;
  Launch launch = sampleLaunch();
  launch.storages.push_back(makeStorage(bytes, 0x7f1000000000, "large"));
  uint8_t* data = launch.storages.back().data;
  for (uint64_t at = 0; at < bytes; ++at) data[at] = static_cast<uint8_t>(at >> 12 ^ at);
  std::fill_n(data + (20 << 20), 1 << 20, uint8_t{0});  // two pieces
  Launch later = launch;  // whose storage is mostly that of the first
  later.storages.back() = makeStorage(bytes, 0x7f1000000000, "large");
  std::copy_n(data, bytes, later.storages.back().data);
  std::fill_n(later.storages.back().data + (40 << 20), 8 << 20, uint8_t{9});
  save(scratch / "a.tsb", {launch, later});
  save(scratch / "a.dir", {launch, later}, BundleWriter::Layout::Directory);
  for (const char* name : {"a.tsb", "a.dir"}) {
    SCOPED_TRACE(name);
    const uint64_t before = residentBytes();
    const auto launches = load(scratch / name);
    EXPECT_LT(residentBytes(), before + (4 << 20));
    ASSERT_EQ(launches.size(), 2u);
    launches[0].storages.back().data[5] ^= 1;  // neither the other launch's nor the bundle's
    expectSame(launches[1], later);
    launches[0].storages.back().data[5] ^= 1;
    expectSame(launches[0], launch);
    expectSame(load(scratch / name)[0], launch);
  }
}

#endif

#if !defined(TILESIGHT_NO_ZIP)
TEST(Bundle, ALargeStorageOfAnotherToolsZipIsRead) {
  const Scratch scratch;  // its bytes begin anywhere, here at an odd place
  Launch launch = sampleLaunch();
  launch.storages.push_back(makeStorage(5 << 20, 0x7f1000000000, "large"));
  for (uint64_t at = 0; at < 5 << 20; ++at) launch.storages.back().data[at] = static_cast<uint8_t>(at >> 12 ^ at);
  save(scratch / "a.dir", {launch}, BundleWriter::Layout::Directory);
  zip_t* zip = zip_open((scratch / "z.tsb").c_str(), ZIP_CREATE, nullptr);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(scratch / "a.dir")) {
    if (!entry.is_regular_file()) continue;
    const std::string name = std::filesystem::relative(entry, scratch / "a.dir");
    const auto index = zip_file_add(zip, name.c_str(), zip_source_file(zip, entry.path().c_str(), 0, -1), ZIP_FL_ENC_UTF_8);
    zip_set_file_compression(zip, static_cast<zip_uint64_t>(index), ZIP_CM_STORE, 0);
  }
  ASSERT_EQ(zip_close(zip), 0);
  const auto launches = load(scratch / "z.tsb");
  ASSERT_EQ(launches.size(), 1u);
  expectSame(launches[0], launch);
}

#endif

#if !defined(TILESIGHT_NO_ZIP)
TEST(Bundle, EqualLaunchesMakeEqualFiles) {
  const Scratch scratch;
  save(scratch / "a.tsb", {sampleLaunch()});
  save(scratch / "b.tsb", {sampleLaunch()});
  EXPECT_EQ(scratch.read("a.tsb"), scratch.read("b.tsb"));
}
#endif

#if !defined(TILESIGHT_NO_ZIP)
TEST(Bundle, NothingIsLeftUntilItIsFinished) {
  const Scratch scratch;
  scratch.write("a.tsb", "the old one");
  {
    auto writer = BundleWriter::open(scratch / "a.tsb", kUsual);
    ASSERT_TRUE(writer);
    ASSERT_TRUE(writer->add(sampleLaunch()));
  }
  EXPECT_EQ(scratch.read("a.tsb"), "the old one");
  EXPECT_EQ(scratch.names(), std::vector<std::string>{"a.tsb"}) << "the parts are gone";
  save(scratch / "a.tsb", {sampleLaunch()});
  EXPECT_EQ(scratch.names(), std::vector<std::string>{"a.tsb"});
  EXPECT_EQ(load(scratch / "a.tsb").size(), 1u);
}
#endif

TEST(Bundle, PlacesThatCannotBeWritten) {
  const Scratch scratch;
  EXPECT_FALSE(BundleWriter::open(scratch / "missing/a.tsb", kUsual));
  std::filesystem::create_directory(scratch / "d");
  const auto writer = BundleWriter::open(scratch / "d", kUsual);
  ASSERT_FALSE(writer);
  EXPECT_EQ(writer.error().file, scratch / "d");
}

TEST(Bundle, LaunchesThatMakeNoSenseAreRefused) {
  const Scratch scratch;
  auto writer = BundleWriter::open(scratch / "a.tsb", kUsual);
  ASSERT_TRUE(writer);
  Launch launch = sampleLaunch();
  launch.arguments[0].view.shape = {1001};
  launch.arguments[0].view.strides = {1};
  launch.arguments[0].view.offset = 0;
  const Status status = writer->add(launch);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message,
            "argument x: its elements span bytes 0 to 4004 of a storage that has 4000");
  EXPECT_FALSE(writer->finish()) << "a bundle that misses a launch is not written";
  EXPECT_TRUE(scratch.names().size() <= 1);
}

TEST(Bundle, DataThatIsNotToBeSaved) {
  const auto saved = [](BundleWriter::Data data) {
    const Scratch scratch;
    Launch launch = sampleLaunch();
    launch.storages[1].data[5] = 42;
    launch.arguments[1].view.element = ir::ElementKind::I32;
    launch.arguments[1].view.dtype = "int32";
    auto writer = BundleWriter::open(scratch / "x.tsb", kUsual);
    EXPECT_TRUE(writer && writer->add(launch, data) && writer->finish());
    EXPECT_EQ(launch.storages[1].data[5], 42) << "the launch itself stays as it is";
    auto launches = readBundle(scratch / "x.tsb");
    EXPECT_TRUE(launches) << launches.error().str();
    return std::move(launches->front().storages);
  };
  using Data = BundleWriter::Data;
  const auto all = saved(Data::All), indices = saved(Data::Indices), none = saved(Data::None);
  EXPECT_FALSE(all[0].withheld || all[1].withheld);
  EXPECT_TRUE(indices[0].withheld) << "floats";
  EXPECT_FALSE(indices[1].withheld) << "integers";
  EXPECT_TRUE(none[0].withheld && none[1].withheld);
  EXPECT_EQ(all[0].data[4 * 1 + 3], 0x3f);
  EXPECT_EQ(indices[0].data[4 * 1 + 3], 0);
  EXPECT_EQ(indices[1].data[5], 42);
  EXPECT_EQ(none[1].data[5], 0);
  EXPECT_EQ(none[1].bytes, all[1].bytes);
  EXPECT_EQ(none[1].recordedBase, all[1].recordedBase);
}

TEST(Validate, Views) {
  const auto refused = [](auto change) {
    Launch launch = sampleLaunch();
    change(launch.arguments[0].view);
    const Status status = validate(launch);
    return status ? std::string() : status.error().message;
  };
  EXPECT_EQ(refused([](View&) {}), "");
  EXPECT_NE(refused([](View& v) { v.storage = 9; }), "");
  EXPECT_NE(refused([](View& v) { v.shape = {501}; }), "") << "reaches before the storage";
  EXPECT_NE(refused([](View& v) { v.strides = {}; }), "");
  EXPECT_NE(refused([](View& v) { v.shape = {-1}; }), "");
  EXPECT_NE(refused([](View& v) { v.element = ir::ElementKind::I4; }), "");
  EXPECT_NE(refused([](View& v) { v.offset = -8, v.shape = {0}; }), "");
  EXPECT_NE(refused([](View& v) { v.shape = {INT64_MAX, INT64_MAX}; v.strides = {0, 0}; }), "");
  EXPECT_NE(refused([](View& v) { v.shape = {3, 3}; v.strides = {INT64_MAX, INT64_MIN}; }), "");
  EXPECT_EQ(refused([](View& v) { v.shape = {1000, 5}; v.strides = {0, -1}; }), "");
}

TEST(Validate, Extents) {
  View view{.element = ir::ElementKind::F16, .shape = {2, 3}, .strides = {-10, 2}, .offset = 100};
  EXPECT_EQ(extent(view)->first, 80);
  EXPECT_EQ(extent(view)->past, 110);
  view.shape = {0, 3};
  EXPECT_EQ(extent(view)->first, 100);
  EXPECT_EQ(extent(view)->past, 100);
}

}  // namespace
}  // namespace tilesight::launch
