// The tables of foreign code: no row hides another, and no text of assembly does harm.
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "foreign/function.h"
#include "foreign/ptx.h"

namespace tilesight::foreign {
namespace {

TEST(Functions, NoTwoRowsMeanTheSameCall) {
  std::set<std::string> seen;
  for (const Function& function : all()) {
    std::string key(function.symbol);
    for (int i = 0; i < function.arity; ++i) key += std::string(" ") + ir::elementName(function.arguments[i]);
    EXPECT_TRUE(seen.insert(key).second) << key;
    EXPECT_EQ(find(function.symbol, {function.arguments, static_cast<size_t>(function.arity)}), &function) << key;
  }
  EXPECT_GT(seen.size(), 400u);
  ir::ElementKind kinds[] = {ir::ElementKind::F32};
  EXPECT_EQ(find("__nv_sinf", kinds)->arity, 1);
  EXPECT_EQ(find("__nv_sin", kinds), nullptr);
  EXPECT_TRUE(known("__nv_sin"));
  EXPECT_FALSE(known("__nv_nothing"));
}

TEST(Functions, AnyBitsAreAnArgument) {
  std::mt19937_64 random(1);
  for (const Function& function : all()) {
    uint64_t in[kMaxArguments], out = 0;
    const void* pointers[kMaxArguments];
    int64_t step[kMaxArguments] = {};
    for (int i = 0; i < kMaxArguments; ++i) pointers[i] = &in[i];
    for (int trial = 0; trial < 20; ++trial) {
      for (uint64_t& x : in) x = trial % 4 ? random() : 0xfff0000000000000u >> (trial * 3);
      // The order of a Bessel function is a loop count.
      if (function.symbol.starts_with("__nv_jn") || function.symbol.starts_with("__nv_yn")) in[0] %= 50;
      function.evaluate(&out, pointers, step, 1);
    }
  }
}

TEST(Ptx, RunsOnAnyBits) {
  auto ptx = Ptx::compile("{ .reg .b32 t; bfe.s32 t, $1, $2, $1; bfi.b32 t, t, $1, $2, $1; shf.l.clamp.b32 t, t, $1, $2;"
                          " div.s32 $0, t, $2; rem.s32 t, $1, $2; shr.s32 t, t, $1; cvt.rzi.s8.f32 t, $1; xor.b32 $0, $0, t; }",
                          "=r,r,r");
  ASSERT_TRUE(ptx) << ptx.error().message;
  std::mt19937 random(2);
  for (int i = 0; i < 100000; ++i) {
    uint64_t registers[3] = {0, random(), random() % 3 ? random() : random() % 40};
    (*ptx)->run(registers, {});
    EXPECT_LE(registers[0], UINT32_MAX);
  }
}

// Texts made of the language's own words: each is refused or runs.
TEST(Ptx, AnyTextIsRefusedOrRuns) {
  const char* words[] = {"mov", "cvt", "add", "mad", "setp", "selp", ".b32", ".u32", ".f32", ".s16", ".f16x2", ".rn", ".lo", ".wide",
                         ".pred", ".e4m3x2", ".lt", " ", " $0", " $1", ",", ",", ";", "{", "}", "|", "!", "@p", ".reg", " p", " t<9>",
                         "t8", "0x1f", "1.5", "0f3f800000", "%laneid", "%clock", "//", "/*", "*/", "\n", "-", "_", "shl", ".cc"};
  std::mt19937 random(3);
  int ran = 0;
  for (int i = 0; i < 200000; ++i) {
    std::string text = i % 2 ? "mov.b32 $0, $1;" : "";
    for (unsigned n = random() % 12; n > 0; --n) text += words[random() % std::size(words)];
    auto ptx = Ptx::compile(text, "=r,r");
    if (!ptx) {
      EXPECT_FALSE(ptx.error().message.empty());
      continue;
    }
    uint64_t registers[2] = {0, random()};
    (*ptx)->run(registers, {});
    ++ran;
  }
  EXPECT_GT(ran, 1000);
}

TEST(Ptx, ConstraintsAreChecked) {
  EXPECT_FALSE(Ptx::compile("mov.b32 $0, $1;", "=r,"));
  EXPECT_FALSE(Ptx::compile("mov.b32 $0, $1;", "r,=r"));
  EXPECT_FALSE(Ptx::compile("mov.b32 $0, $1;", "=v,v"));
  EXPECT_FALSE(Ptx::compile("mov.b32 $0, $1;", "=r,7"));
  auto tied = Ptx::compile("add.u32 $0, $0, 1;", "=r,0");
  ASSERT_TRUE(tied);
  uint64_t registers[2] = {0, 41};
  (*tied)->run(registers, {});
  EXPECT_EQ(registers[0], 42u);
}

}  // namespace
}  // namespace tilesight::foreign
