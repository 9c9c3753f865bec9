#include "launch/memory.h"

#if !defined(_WIN32)
#include <sys/mman.h>
#include <unistd.h>
#endif

#include <cstring>

#include <gtest/gtest.h>

#include "launch/file.h"

namespace tilesight::launch {

TEST(Memory, IsZeroOrThePattern) {
  const uint8_t pattern[] = {0x00, 0x00, 0x80, 0x3f};  // 1.0f
  for (uint64_t bytes : {0ull, 1ull, 3ull, 4ull, 1000ull, 262143ull, 262144ull, (5ull << 20) + 12}) {
    SCOPED_TRACE(bytes);
    const auto zeros = allocate(bytes);
    const auto ones = allocate(bytes, pattern);
    ASSERT_TRUE(zeros && ones);
    uint64_t wrong = 0;
    for (uint64_t i = 0; i < bytes; ++i) {
      wrong += (*zeros).get()[i] != 0;
      wrong += (*ones).get()[i] != pattern[i % 4];
    }
    EXPECT_EQ(wrong, 0u);
  }
}

TEST(Memory, IsPrivate) {
  const uint8_t pattern[] = {7};
  const auto a = allocate(8 << 20, pattern), b = allocate(8 << 20, pattern);
  ASSERT_TRUE(a && b);
  (*a).get()[0] = 1;
  EXPECT_EQ((*a).get()[2 << 20], 7) << "blocks of a fill do not share what is written";
  EXPECT_EQ((*b).get()[0], 7);
}

TEST(Memory, ATerabyteOfAPatternIsAddressSpaceOnly) {
  const uint8_t pattern[] = {1, 2};
  const auto memory = allocate(maxStorageBytes, pattern);
  if (!memory) GTEST_SKIP() << memory.error().str();  // limited address space
  EXPECT_EQ((*memory).get()[maxStorageBytes - 1], 2);
  EXPECT_FALSE(allocate(maxStorageBytes + 1));
}

#if !defined(_WIN32)  // there, files are read
TEST(Memory, MapsAFile) {
  const File file(memfd_create("bytes", MFD_CLOEXEC));
  std::vector<uint8_t> bytes(3 * 4096 + 100);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i * 7 >> 3);
  ASSERT_EQ(write(file.number(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  for (const uint64_t offset : {0, 4096, 5}) {  // the last one is read
    SCOPED_TRACE(offset);
    const auto memory = allocate(1 << 20);
    ASSERT_TRUE(memory && mapFile(memory->get(), file.number(), offset, bytes.size() - offset));
    EXPECT_EQ(std::memcmp(memory->get(), bytes.data() + offset, bytes.size() - offset), 0);
    EXPECT_EQ(memory->get()[bytes.size() - offset], 0) << "what is behind stays as it is";
    memory->get()[1] ^= 1;
    uint8_t unchanged = 0;
    EXPECT_EQ(pread(file.number(), &unchanged, 1, static_cast<off_t>(offset + 1)), 1);
    EXPECT_EQ(unchanged, bytes[offset + 1]);
    EXPECT_FALSE(mapFile(memory->get(), file.number(), offset, bytes.size() - offset + 1));
  }
}
#endif

TEST(Memory, PatternLength) {
  std::vector<uint8_t> data(100, 5);
  EXPECT_EQ(patternLength(data.data(), data.size()), 1u);
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<uint8_t>(i % 8);
  EXPECT_EQ(patternLength(data.data(), data.size()), 8u);
  data.back() ^= 1;
  EXPECT_EQ(patternLength(data.data(), data.size()), 0u);
  EXPECT_EQ(patternLength(data.data(), 1), 1u);
}

}  // namespace tilesight::launch
