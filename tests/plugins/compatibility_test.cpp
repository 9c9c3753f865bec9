// Versions of the tables beside each other: a plugin of the first version, tables that are shorter and longer on both sides;
// and two plugins beside each other that have the same names inside.
#include <cstring>
#include <regex>

#include <fmt/format.h>

#include "../engine/engine_launch.h"
#include "passes/manager.h"
#include "plugins/catalog.h"
#include "plugins/dynamic.h"
#include "plugins/session.h"
#include "tools/client_names.h"

// The headers of 1.0, beside today's; names with C linkage are one for all namespaces.
#define ts_equal frozen_ts_equal
#define ts_failure frozen_ts_failure
#define ts_text frozen_ts_text
namespace frozen {
#undef TILESIGHT_PLUGIN_H
#undef TILESIGHT_CLIENT_H
#undef TS_PLUGIN_ABI_MAJOR
#undef TS_PLUGIN_ABI_MINOR
#undef TS_PLUGIN_EXPORT
#undef TS_HAS
#undef TS_PLUGIN_QUERY
#undef TS_CLIENT_ABI
#include "frozen/plugin-1.0.h"
}  // namespace frozen
#undef ts_equal
#undef ts_failure
#undef ts_text

namespace tilesight::plugins {
namespace {

std::string pathOf(const std::string& name) { return std::string(TILESIGHT_TEST_PLUGINS "/") + name + librarySuffix; }

const std::string kKernel = R"(tt.func public @k(%x: i32, %p: !tt.ptr<i32>) {
  %a = arith.addi %x, %x : i32
  tt.store %p, %a : !tt.ptr<i32>
  tt.return
}
)";

Result<passes::Outcome> runPass(const Catalog& catalog, const std::string& pass) {
  passes::Registry registry;
  catalog.addTo(registry);
  const auto steps = passes::parsePipeline(pass, registry);
  if (!steps) return failure(steps.error());
  return passes::runPasses(kKernel, "k.ttir", *steps);
}

TEST(Frozen, TheTablesOfTheFirstVersionAreABeginningOfTodays) {
#define SAME(table, field) EXPECT_EQ(offsetof(table, field), offsetof(frozen::table, field)) << #table "." #field
  SAME(ts_plugin_host, version); SAME(ts_plugin_host, module); SAME(ts_plugin_host, op_create); SAME(ts_plugin_host, max_trips);
  SAME(ts_option, least); SAME(ts_option, reserved); SAME(ts_pass, options); SAME(ts_pass, data);
  SAME(ts_plugin, passes); SAME(ts_plugin, client_count); SAME(ts_plugin, reserved);
  SAME(ts_op_description, location); SAME(ts_client, create); SAME(ts_client, on_reduce);
  SAME(ts_host, report); SAME(ts_host, arguments); SAME(ts_access, mask); SAME(ts_access, scope);
#undef SAME
  EXPECT_EQ(sizeof(ts_mask), sizeof(frozen::ts_mask)) << "it is inside of another table, so it can never grow";
  EXPECT_EQ(sizeof(ts_point), sizeof(frozen::ts_point));
  EXPECT_EQ(sizeof(ts_string), sizeof(frozen::ts_string));
  EXPECT_EQ(TS_TYPE_OTHER, static_cast<int>(frozen::TS_TYPE_OTHER));
  EXPECT_EQ(TS_ATTR_OTHER, static_cast<int>(frozen::TS_ATTR_OTHER));
  EXPECT_EQ(TS_OP_ELEMENTWISE, static_cast<int>(frozen::TS_OP_ELEMENTWISE));
}

TEST(Frozen, APluginOfTheFirstVersionRuns) {
  const Catalog catalog = Catalog::load({pathOf("frozen")});
  ASSERT_EQ(catalog.libraries()[0].refused, "");
  const auto outcome = runPass(catalog, "old");
  ASSERT_TRUE(outcome && outcome->status);
  EXPECT_NE(outcome->text.find("arith.addi %x, %x {by = \"1.0\"} : i32"), std::string::npos) << outcome->text;
}

TEST(Frozen, AClientOfTheFirstVersionSeesALaunch) {
  exec::RunOptions options;
  options.clients = *tools::clientsNamed({pathOf("frozen") + ":old"});
  exec::Bench bench(kKernel);
  bench.scalar("x", 3).array("p", {0});
  const auto report = bench.run(1, options);
  EXPECT_EQ(bench.arrays[0][0], 6);
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].message, "seen by 1.0");
}

/// A table of this plugin with another size than it has.
struct Longer {
  ts_plugin plugin{};
  uint64_t later[8];
  ts_client client{};
  uint64_t laterOfClient[8];
  const ts_client* clients[1] = {&client};
  Longer() {
    std::memset(later, 0xff, sizeof later);
    std::memset(laterOfClient, 0xff, sizeof laterOfClient);
    plugin.size = sizeof plugin;
    plugin.abi_major = TS_PLUGIN_ABI_MAJOR;
    plugin.id = "test.sizes";
    plugin.clients = clients;
    plugin.client_count = 1;
    client.size = sizeof client;
    client.abi = TS_CLIENT_ABI;
    client.name = "sized";
  }
  std::string refusal() {
    Library library;
    readPlugin(&plugin, library);
    return library.refused;
  }
};

TEST(Sizes, TablesOfPluginsMayBeLongerAndNotShorterThanTheFirstVersion) {
  Longer table;
  EXPECT_EQ(table.refusal(), "");
  table.plugin.size = offsetof(Longer, client);
  table.client.size = sizeof(ts_client) + sizeof table.laterOfClient;
  EXPECT_EQ(table.refusal(), "");
  table.client.size = sizeof(frozen::ts_client);
  EXPECT_EQ(table.refusal(), "");
  table.client.size = 16;
  EXPECT_EQ(table.refusal(), fmt::format("has a table of a client of 16 bytes; the first version has {}", sizeof(frozen::ts_client)));
  table.plugin.size = 20;
  EXPECT_EQ(table.refusal(), fmt::format("gave a table of 20 bytes; the first version has {}", sizeof(frozen::ts_plugin)));
}

TEST(Sizes, APluginAsksWhatTheHostsTableHas) {
  // The plugin TAKES_SHORT_HOST of bad.c asks with TS_HAS; here it is asked with tables of every length.
  const auto library = loadLibrary(TILESIGHT_BAD_PLUGINS "/bad_TAKES_SHORT_HOST" + std::string(librarySuffix));
  ASSERT_TRUE(library) << library.error().message;
  const auto query = reinterpret_cast<ts_plugin_query_function>(findFunction(*library, "tilesight_plugin_query"));
  ASSERT_TRUE(query);
  struct {
    ts_plugin_host host;
    uint64_t later[8];
  } longer{hostTable(), {~0ull, ~0ull}};
  const ts_plugin* plugin = nullptr;
  char text[80] = "";
  ts_error error{sizeof error, sizeof text, text};
  longer.host.size = sizeof longer;
  EXPECT_EQ(query(&longer.host, &plugin, &error), 0);
  longer.host.size = sizeof(frozen::ts_plugin_host);
  EXPECT_EQ(query(&longer.host, &plugin, &error), 0);
  longer.host.size = sizeof(frozen::ts_plugin_host) - sizeof(void*);
  EXPECT_NE(query(&longer.host, &plugin, &error), 0);
  EXPECT_STREQ(text, "the host's table is too short");
}

TEST(SameNames, TwoPluginsDoNotDisturbEachOther) {
  const Catalog catalog = Catalog::load({pathOf("same_one"), pathOf("same_two")});
  ASSERT_EQ(catalog.libraries()[0].refused, "");
  ASSERT_EQ(catalog.libraries()[1].refused, "");
  const auto said = [&](const std::string& pass) {
    const auto outcome = runPass(catalog, pass);
    if (!outcome) return outcome.error().message;
    if (!outcome->status) return outcome->status.error().message;
    return outcome->remarks.empty() ? std::string("nothing") : outcome->remarks[0].message;
  };
  EXPECT_EQ(said("same-one"), "one: 1 1 1");
  EXPECT_EQ(said("same-two"), "two: 1 1 1");
  EXPECT_EQ(said("same-two"), "two: 2 2 2");
  EXPECT_EQ(said("same-one"), "one: 2 2 2");
}

}  // namespace
}  // namespace tilesight::plugins
