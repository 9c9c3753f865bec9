// Bundles that are damaged or made with bad intent: each gives one clear error, none a crash, and
// none touches anything outside itself.
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zip.h>

#include <filesystem>
#include <functional>

#include <gtest/gtest.h>

#include "launch/archive.h"
#include "launch/bundle.h"
#include "launch/manifest.h"
#include "launch/zip_offsets.h"
#include "samples.h"
#include "scratch.h"

namespace tilesight::launch {
namespace {

using test::Scratch;

/// The first error met when everything in the bundle is read; "" if there is none.
std::string errorOf(const std::string& bytes) {
  const std::span data(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  const auto reader = BundleReader::openBytes(data, "x.tsb");
  if (!reader) return reader.error().str();
  for (size_t i = 0; i < reader->launches(); ++i) {
    const auto launch = reader->launch(i);
    if (!launch) return launch.error().str();
    uint64_t sum = 0;  // storages must be readable and writable over their whole length
    for (const Storage& storage : launch->storages)
      for (uint64_t at = 0; at < storage.bytes; at += 4096) sum += ++storage.data[at];
    EXPECT_TRUE(validate(*launch)) << sum;
  }
  return "";
}

std::string goodBundle() {
  const Scratch scratch;
  auto writer = BundleWriter::open(scratch / "a.tsb");
  EXPECT_TRUE(writer && writer->add(test::sampleLaunch(50)) && writer->finish());
  return scratch.read("a.tsb");
}

void expectOneLine(const std::string& error) {
  EXPECT_TRUE(error.starts_with("x.tsb: error: ")) << error;
  EXPECT_EQ(error.find('\n'), std::string::npos) << error;
}

TEST(Hostile, EveryTruncation) {
  const std::string good = goodBundle();
  ASSERT_EQ(errorOf(good), "");
  for (size_t length = 0; length < good.size(); ++length) {
    const std::string error = errorOf(good.substr(0, length));
    ASSERT_NE(error, "") << length;
    expectOneLine(error);
  }
}

TEST(Hostile, EveryByteFlipped) {
  std::string bytes = goodBundle();
  size_t errors = 0;
  for (size_t at = 0; at < bytes.size(); ++at)
    for (const char flip : {'\x01', '\x80', '\xff'}) {
      bytes[at] ^= flip;
      if (const std::string error = errorOf(bytes); !error.empty()) {
        ++errors;
        expectOneLine(error);
      }
      bytes[at] ^= flip;
    }
  // Times, versions and the like may change freely; all contents are under checksums.
  EXPECT_GT(errors, bytes.size() * 3 * 6 / 10);
}

/// A directory bundle whose files a test may change before it is read.
class HostileDirectory : public testing::Test {
 protected:
  HostileDirectory() {
    auto writer = BundleWriter::open(scratch_ / "b", BundleWriter::Layout::Directory);
    EXPECT_TRUE(writer && writer->add(test::sampleLaunch(50000)) && writer->finish());
  }

  std::string error() {
    const auto launches = readBundle(scratch_ / "b");
    return launches ? "" : launches.error().message;
  }

  /// The error after `from` is replaced by `to` in a file of the bundle.
  std::string errorWith(const std::string& file, const std::string& from, const std::string& to) {
    const std::string name = "b/" + file, good = scratch_.read(name);
    std::string bad = good;
    const size_t at = bad.find(from);
    EXPECT_NE(at, std::string::npos) << from << " is not in " << good;
    bad.replace(at, from.size(), to);
    scratch_.write(name, bad);
    const std::string message = error();
    scratch_.write(name, good);
    return message;
  }

  const Scratch scratch_;
};

TEST_F(HostileDirectory, NamesThatLeadOutside) {
  ASSERT_EQ(error(), "");
  for (const char* name : {"../secret", "/etc/passwd", "storages/../../x", "a\\\\b", ".hidden", "a/.b",
                           "a//b", "", "a/", "C:x"})
    EXPECT_EQ(errorWith("bundle.json", "storages/0.bin", name),
              "bundle.json: contents[0].file: names a file outside the bundle, or uses odd characters")
        << name;
  EXPECT_NE(errorWith("launches/0/launch.json", "ir/0.ttir", "../../etc/passwd"), "");
}

TEST_F(HostileDirectory, LinksAreNotFollowed) {
  scratch_.write("secret", "x");
  for (const std::string name : {"b/ir/0.ttir", "b/storages/0.bin", "b/sources/0.py", "b/launches/0/launch.json"}) {
    std::filesystem::rename(scratch_ / name, scratch_ / "kept");
    std::filesystem::create_symlink(scratch_ / "secret", scratch_ / name);
    EXPECT_NE(error().find("missing or a link"), std::string::npos) << name << ": " << error();
    std::filesystem::remove(scratch_ / name);
    std::filesystem::rename(scratch_ / "kept", scratch_ / name);
  }
  std::filesystem::rename(scratch_ / "b/ir", scratch_ / "ir");
  std::filesystem::create_directory_symlink(scratch_ / "ir", scratch_ / "b/ir");
  EXPECT_NE(error().find("missing or a link"), std::string::npos) << error();
}

TEST_F(HostileDirectory, PipesDoNotHang) {
  std::filesystem::remove(scratch_ / "b/ir/0.ttir");
  ASSERT_EQ(mkfifo((scratch_ / "b/ir/0.ttir").c_str(), 0600), 0);
  EXPECT_EQ(error(), "ir/0.ttir is not a file");
}

TEST_F(HostileDirectory, SizesThatAreNotThere) {
  const std::string launch = "launches/0/launch.json", bundle = "bundle.json";
  EXPECT_EQ(errorWith(bundle, "\"bytes\": 200000", "\"bytes\": 2000000000000"),
            "bundle.json: contents[0].bytes: 2000000000000 is more than the limit of 1099511627776");
  EXPECT_EQ(errorWith(bundle, "\"bytes\": 200000", "\"bytes\": 199999"),
            "bundle.json: contents[0].pieces[0]: ends at byte 200000 of 199999");
  EXPECT_EQ(errorWith(bundle, "\"bytes\": 200000", "\"bytes\": -1"),
            "bundle.json: contents[0].bytes: is negative");
  EXPECT_EQ(errorWith(launch, "25000", "50000"),
            "launches/0/launch.json: argument x: its elements span bytes -199996 to 200000 of a storage "
            "that has 200000");
  EXPECT_EQ(errorWith(launch, "\"content\": 0", "\"content\": 7"),
            "launches/0/launch.json: storages[0].content: 7 is not the number of a content, there are 2");
  EXPECT_EQ(errorWith(launch, "\"storage\": 0", "\"storage\": 4000000000"),
            "launches/0/launch.json: arguments[0].storage: 4000000000 is more than the limit of 1048576");
  EXPECT_EQ(errorWith(launch, "\"bits\": \"0x7ff8000000000001\"", "\"bits\": \"0x17ff8000000000001\""),
            "launches/0/launch.json: arguments[2].bits: must be a hexadecimal number of at most 16 digits");
  scratch_.write("b/storages/0.bin", "short");
  EXPECT_EQ(error(), "storages/0.bin has 5 bytes, its pieces 200000");
}

TEST_F(HostileDirectory, ATerabyteFillCostsNothing) {
  EXPECT_EQ(errorWith("bundle.json", "\"bytes\": 200000,\n   \"fill\": \"00\"\n",
                      "\"bytes\": 1099511627776,\n   \"fill\": \"0102\"\n"), "");
}

TEST_F(HostileDirectory, WrongTypesAndMissingFields) {
  const std::string launch = "launches/0/launch.json", bundle = "bundle.json";
  EXPECT_EQ(errorWith(bundle, "\"format\"", "\"froamt\""), "bundle.json: `format` is missing");
  EXPECT_EQ(errorWith(bundle, "\"version\": 1", "\"version\": 2"),
            "bundle.json: version: this version of Tilesight reads version 1, the bundle has 2");
  EXPECT_EQ(errorWith(launch, "\"float32\"", "32"),
            "launches/0/launch.json: arguments[0].dtype: must be a string");
  EXPECT_EQ(errorWith(launch, "\"f32\"", "\"f33\""),
            "launches/0/launch.json: arguments[0].element: is no element type");
  EXPECT_EQ(errorWith(launch, "\"float32\"", "\"float31\""),
            "launches/0/launch.json: arguments[0].dtype: is no dtype of a tensor");
  EXPECT_EQ(errorWith(launch, "\"float32\"", "\"float16\""),
            "launches/0/launch.json: arguments[0].element: is f32, and tensors of dtype float16 have f16");
  EXPECT_EQ(errorWith(launch, "\"kind\": \"tensor\"", "\"kind\": \"tensr\""),
            "launches/0/launch.json: arguments[0].kind: must be tensor, scalar, descriptor or specialized");
  EXPECT_NE(errorWith(launch, "\"kernel\"", "kernel").find("parse error at line 2"), std::string::npos);
  EXPECT_NE(errorWith(launch, "\"grid\": [", "\"grid\": [1.5, "), "");
}

TEST_F(HostileDirectory, WhatIsNoBundle) {
  EXPECT_NE(readBundle(scratch_ / "missing").error().str().find("there is no such file"), std::string::npos);
  scratch_.write("text", "hello");
  EXPECT_NE(readBundle(scratch_ / "text").error().str().find("is not a whole zip file"), std::string::npos);
  std::filesystem::create_directory(scratch_ / "empty");
  EXPECT_NE(readBundle(scratch_ / "empty").error().str().find("it has no bundle.json"), std::string::npos);
  EXPECT_NE(readBundle("/dev/null").error().str().find("neither a file nor a folder"), std::string::npos);
}

/// A zip made entry by entry, as an attacker would.
std::string zipOf(const std::vector<std::pair<std::string, std::string>>& entries,
                  zip_int32_t method = ZIP_CM_STORE) {
  const Scratch scratch;
  int code = 0;
  zip_t* zip = zip_open((scratch / "z").c_str(), ZIP_CREATE, &code);
  for (const auto& [name, text] : entries) {
    const auto index = zip_file_add(zip, name.c_str(), zip_source_buffer(zip, text.data(), text.size(), 0),
                                    ZIP_FL_ENC_UTF_8);
    zip_set_file_compression(zip, static_cast<zip_uint64_t>(index), method, 0);
  }
  EXPECT_EQ(zip_close(zip), 0);
  return scratch.read("z");
}

constexpr const char* emptyManifest =
    R"({"format": "tilesight-bundle", "version": 1, "launches": [], "contents": [], "sources": []})";

TEST(HostileZip, NamesThatLeadOutsideAreRefusedEvenIfUnused) {
  ASSERT_EQ(errorOf(zipOf({{"bundle.json", emptyManifest}})), "");
  for (const char* name : {"../evil", "/etc/cron.d/evil", "a/../../evil", "..\\evil"}) {
    const std::string error = errorOf(zipOf({{"bundle.json", emptyManifest}, {name, "x"}}));
    EXPECT_NE(error.find("is not a name a bundle may use"), std::string::npos) << name << ": " << error;
  }
}

TEST(HostileZip, CompressedEntriesAreRefused) {
  const std::string error =
      errorOf(zipOf({{"bundle.json", emptyManifest + std::string(10000, ' ')}}, ZIP_CM_DEFLATE));
  EXPECT_EQ(error, "x.tsb: error: bundle.json is compressed or encrypted, entries must be stored "
                   "(zip it again with zip -0)");
}

TEST(HostileZip, DeepNestingAndRepetitions) {
  const std::string deep(100000, '[');
  EXPECT_NE(errorOf(zipOf({{"bundle.json", deep}})).find("nested too deeply"), std::string::npos);
  std::string repeated = emptyManifest;
  repeated.replace(repeated.find("[]"), 2, R"(["a/l.json", "a/l.json"])");
  EXPECT_NE(errorOf(zipOf({{"bundle.json", repeated}})).find("names a/l.json twice"), std::string::npos);
}

/// Where the entries of a zip lie, of one in a file.
std::unordered_map<std::string, uint64_t> offsetsOf(const std::string& bytes) {
  const File file(memfd_create("zip", MFD_CLOEXEC));
  EXPECT_EQ(write(file.number(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  return zipOffsets(file.number());
}

TEST(ZipOffsets, AreWhereTheEntriesAre) {
  const std::string bytes = zipOf({{"a", "one"}, {"b/c", "second"}, {"d", ""}});
  const auto offsets = offsetsOf(bytes);
  ASSERT_EQ(offsets.size(), 3u);
  EXPECT_EQ(bytes.substr(offsets.at("a"), 3), "one");
  EXPECT_EQ(bytes.substr(offsets.at("b/c"), 6), "second");
}

TEST(ZipOffsets, OfCompressedEntriesAreLeftOut) {
  EXPECT_TRUE(offsetsOf(zipOf({{"a", std::string(1000, 'a')}}, ZIP_CM_DEFLATE)).empty());
}

TEST(ZipOffsets, OfDamagedFiles) {
  std::string bytes = zipOf({{"a", "one"}, {"b", "second"}});
  for (size_t length = 0; length < bytes.size(); ++length) EXPECT_TRUE(offsetsOf(bytes.substr(0, length)).empty()) << length;
  for (size_t at = 0; at < bytes.size(); ++at)
    for (const char flip : {'\x01', '\x80', '\xff'}) {
      bytes[at] ^= flip;
      EXPECT_LE(offsetsOf(bytes).size(), 2u);
      bytes[at] ^= flip;
    }
}

TEST(SafeNames, Table) {
  for (const char* good : {"a", "bundle.json", "storages/0.bin", "A-b_c/1.2.3"}) EXPECT_TRUE(isSafeName(good)) << good;
  for (const char* bad : {"", "/a", "a/", "a//b", ".", "..", "a/..", "a/../b", ".a", "a/.b", "a\\b", "a:b", "a b", "\xc3\xa9"})
    EXPECT_FALSE(isSafeName(bad)) << bad;
  EXPECT_FALSE(isSafeName(std::string(256, 'a')));
}

}  // namespace
}  // namespace tilesight::launch
