// Plugins that do something wrong are refused by name, or what they did is undone; the host goes on.
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "../findings/scratch.h"
#include "passes/manager.h"
#include "plugins/catalog.h"
#include "plugins/dynamic.h"
#include "plugins/sha256.h"

namespace tilesight::plugins {
namespace {

const std::string kKernel = R"(tt.func public @f(%x: i32, %p: !tt.ptr<i32>) {
  %a = arith.addi %x, %x : i32
  tt.store %p, %a : !tt.ptr<i32>
  tt.return
}
)";

std::string pathOf(const std::string& name) { return fmt::format("{}/bad_{}{}", TILESIGHT_BAD_PLUGINS, name, librarySuffix); }

std::string refusalOf(const std::string& path) {
  const Catalog catalog = Catalog::load({path});
  return catalog.libraries()[0].refused;
}

/// What running its pass gives: the text, or the error.
std::string run(const std::string& name) {
  const Catalog catalog = Catalog::load({pathOf(name)});
  passes::Registry registry;
  catalog.addTo(registry);
  const auto steps = passes::parsePipeline("bad", registry);
  if (!steps) return steps.error().message;
  const auto outcome = passes::runPasses(kKernel, "k.ttir", *steps);
  if (!outcome) return outcome.error().message;
  if (outcome->status) return outcome->text;
  EXPECT_EQ(outcome->text, kKernel) << "what it did is undone";
  std::string message = outcome->status.error().message;
  if (const size_t at = message.find(" (of "); at != std::string::npos) message.resize(at);
  return message;
}

#if defined(_WIN32)
TEST(Loader, RefusesWhatIsNoPluginAndSaysWhy) {
  const test::Scratch scratch;
  const std::string folder = scratch / ".";
  std::ofstream(folder + "/text.dll") << "not a library";
  std::ofstream(folder + "/empty.dll");
  EXPECT_EQ(refusalOf(folder + "/missing.dll"), "there is no such file");
  EXPECT_EQ(refusalOf(folder + "/text.dll"), "is not a DLL");
  EXPECT_EQ(refusalOf(folder + "/empty.dll"), "is not a DLL");
  std::string other(128, '\0');
  other.replace(0, 2, "MZ");
  other[60] = 64;
  other.replace(64, 2, "PE");
  other[68] = 0x64;
  other[69] = static_cast<char>(0xaa);  // aarch64
  std::ofstream(folder + "/arm.dll", std::ios::binary) << other;
  EXPECT_EQ(refusalOf(folder + "/arm.dll"), "is for machine 0xaa64, this is x86-64");
}
#else
TEST(Loader, RefusesWhatIsNoPluginAndSaysWhy) {
  const test::Scratch scratch;
  const std::string folder = scratch / ".";
  std::ofstream(folder + "/text.so") << "not a library";
  std::ofstream(folder + "/empty.so");
  EXPECT_EQ(refusalOf(folder + "/missing.so"), "there is no such file");
  EXPECT_EQ(refusalOf(folder), "is not a file");
  EXPECT_EQ(refusalOf(folder + "/text.so"), "is not a shared library");
  EXPECT_EQ(refusalOf(folder + "/empty.so"), "is not a shared library");
  std::string other(64, '\0');
  other.replace(0, 4, "\x7f" "ELF");
  other[4] = 2;
  other[16] = 3;
  other[18] = static_cast<char>(243);  // RISC-V
  std::ofstream(folder + "/riscv.so", std::ios::binary) << other;
  EXPECT_TRUE(refusalOf(folder + "/riscv.so").starts_with("is for RISC-V, this is ")) << refusalOf(folder + "/riscv.so");
  std::string broken = other;
#if defined(__x86_64__)
  broken[18] = 62;
#else
  broken[18] = static_cast<char>(183);
#endif
  broken[4] = 1;
  std::ofstream(folder + "/bits32.so", std::ios::binary) << broken;
  EXPECT_EQ(refusalOf(folder + "/bits32.so"), "is for 32 bits, this is for 64");
  broken[4] = 2;
  broken[54] = 56;  // the size of a program header, of which there are none
  std::ofstream(folder + "/broken.so", std::ios::binary) << broken;
  EXPECT_TRUE(refusalOf(folder + "/broken.so").starts_with("cannot be loaded: ")) << refusalOf(folder + "/broken.so");
}

TEST(Loader, RefusesALibraryOfWhichAPartIsMissing) {
  std::ostringstream read;
  read << std::ifstream(pathOf("EXTENDED"), std::ios::binary).rdbuf();
  const std::string whole = read.str();
  ASSERT_GT(whole.size(), 4096u);
  const test::Scratch scratch;
  size_t refused = 0, cut = 0;
  for (size_t size = 0; size < whole.size(); size += 256) {
    const std::string path = scratch / fmt::format("cut_{}.so", size);
    std::ofstream(path, std::ios::binary) << whole.substr(0, size);
    const std::string why = refusalOf(path);
    refused += !why.empty();
    cut += why == "is cut off: it ends before what it says is in it";
    // At the end there is what nobody needs to run it: names for debuggers.
    EXPECT_EQ(why.empty(), size / 256 >= refused) << why << " at " << size;
    std::filesystem::remove(path);
  }
  EXPECT_GT(cut, whole.size() / 256 / 2);
}

TEST(Loader, NamesASymbolThatIsMissing) {
  EXPECT_TRUE(refusalOf(pathOf("MISSING_SYMBOL")).ends_with(": undefined symbol: nowhere_to_be_found")) << refusalOf(pathOf("MISSING_SYMBOL"));
}
#endif

TEST(Loader, RefusesPluginsWhoseAnswerIsWrong) {
  EXPECT_EQ(refusalOf(pathOf("REFUSES")), "does not want to run here: no licence for this machine");
  EXPECT_EQ(refusalOf(pathOf("OTHER_MAJOR")), "needs plugin ABI 2.0, this Tilesight has 1.1");
  EXPECT_EQ(refusalOf(pathOf("LATER_MINOR")), "needs plugin ABI 1.99, this Tilesight has 1.1");
  EXPECT_EQ(refusalOf(pathOf("TRUNCATED")), fmt::format("gave a table of 24 bytes; the first version has {}", offsetof(ts_plugin, dialects)));
  EXPECT_EQ(refusalOf(pathOf("TRUNCATED_PASS")), fmt::format("has a table of a pass of 16 bytes; the first version has {}", sizeof(ts_pass)));
  EXPECT_EQ(refusalOf(pathOf("NO_TABLE")), "gave no table");
  EXPECT_EQ(refusalOf(pathOf("NO_EXPORT")), "does not export tilesight_plugin_query");
  EXPECT_EQ(refusalOf(pathOf("BAD_DEFAULT")), "has an option 'size' whose default '9' is not a value that it takes (pass 'bad')");
  EXPECT_EQ(refusalOf(pathOf("NAME_TAKEN")), "has a pass 'cse', as Tilesight itself");
  EXPECT_EQ(refusalOf(pathOf("NO_FUNCTION")), "has a pass 'bad' without a function");
  EXPECT_EQ(refusalOf(pathOf("TOO_MANY")), "has a list of passes that cannot be read");
}

TEST(Loader, TakesLongerTablesAndGivesLongerOnes) {
  EXPECT_EQ(refusalOf(pathOf("EXTENDED")), "");
  EXPECT_EQ(run("EXTENDED"), kKernel);
  EXPECT_EQ(refusalOf(pathOf("TAKES_SHORT_HOST")), "");
}

TEST(Loader, OnePluginIsLoadedOnceAndAnIdOnlyOnce) {
  const Catalog catalog = Catalog::load({pathOf("RUN_FAILS"), pathOf("RUN_FAILS"), pathOf("BREAKS_TYPES")});
  ASSERT_GE(catalog.libraries().size(), 2u);
  EXPECT_EQ(catalog.libraries()[0].refused, "");
  EXPECT_EQ(catalog.libraries()[1].refused, "has the id 'test.bad', as " + pathOf("RUN_FAILS"));
}

TEST(Runs, ThatFailAreUndoneAndNamed) {
  EXPECT_EQ(run("RUN_FAILS"), "pass 'bad' failed and was undone: it does not like this kernel");
  EXPECT_EQ(run("RUN_FAILS_SILENTLY"), "pass 'bad' failed and was undone: it returned 7 without a reason");
}

TEST(Runs, ThatUseHandlesWronglyFailAndAreUndone) {
  EXPECT_EQ(run("USES_ERASED"), "pass 'bad' failed and was undone: op_name: was given an operation that is gone, or of another run");
  EXPECT_EQ(run("WRONG_KIND"), "pass 'bad' failed and was undone: op_name: needs an operation, was given a value");
  EXPECT_EQ(run("ERASES_USED"), "pass 'bad' failed and was undone: op_erase: results of arith.addi are still used");
  EXPECT_EQ(run("KEEPS_CONTEXT"), kKernel);
  EXPECT_EQ(run("KEEPS_CONTEXT"), kKernel) << "the context of the first run means nothing in the second";
}

TEST(Runs, ThatBreakTheIrAreUndoneAndNamed) {
  EXPECT_TRUE(run("BREAKS_TYPES").starts_with("pass 'bad' left IR that is not valid and was undone: ")) << run("BREAKS_TYPES");
  EXPECT_TRUE(run("BREAKS_ORDER").starts_with("pass 'bad' left IR that is not valid and was undone: ")) << run("BREAKS_ORDER");
  EXPECT_TRUE(run("BAD_ATTRIBUTE").starts_with("pass 'bad' failed and was undone: attr_parse: cannot read '} nonsense {'")) << run("BAD_ATTRIBUTE");
}

TEST(Listing, SaysWhatThereIsAndWhyOthersAreRefused) {
  const Catalog catalog = Catalog::load({pathOf("RUN_FAILS"), pathOf("REFUSES")});
  const std::string json = listAsJson(catalog);
  EXPECT_NE(json.find("\"state\": \"refused\""), std::string::npos) << json;
  EXPECT_NE(json.find("no licence for this machine"), std::string::npos) << json;
  EXPECT_NE(json.find("\"least\": 1"), std::string::npos) << json;
  EXPECT_NE(listOf(catalog).find("size:  (a whole number from 1 to 8, default 1)"), std::string::npos) << listOf(catalog);
}

TEST(Sha256, IsThatOfTheStandard) {
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"), "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256(std::string(1000000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

}  // namespace
}  // namespace tilesight::plugins
