// The routes that step through programs, on a small kernel that the test saves as a bundle.
#include "server/api.h"

#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "launch/bundle.h"
#include "server/launch_json.h"
#include "server/npy.h"
#include "server/records.h"
#include "server/replay.h"

namespace tilesight::server {
namespace {

using Json = nlohmann::json;

// Program p: acc = 0; for i in 0, 1, 2: v = x[4 p + (0..3)] of row i; acc += v; y[4 p + (0..3)] = acc.
constexpr const char* kText = R"(
module {
  tt.func public @k(%x: !tt.ptr<f32> loc("x"("k.py":1:1)), %y: !tt.ptr<f32> loc("y"("k.py":1:1))) {
    %pid = tt.get_program_id x : i32 loc("pid"("k.py":2:1))
    %c4 = arith.constant 4 : i32 loc("k.py":2:1)
    %base = arith.muli %pid, %c4 : i32 loc("base"("k.py":2:1))
    %r = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32> loc("r"("k.py":3:1))
    %bs = tt.splat %base : i32 -> tensor<4xi32> loc("at"("k.py":4:1))
    %at = arith.addi %bs, %r : tensor<4xi32> loc("at"("k.py":4:1))
    %xs = tt.splat %x : !tt.ptr<f32> -> tensor<4x!tt.ptr<f32>> loc("xp"("k.py":5:1))
    %zero = arith.constant dense<0.000000e+00> : tensor<4xf32> loc("acc"("k.py":6:1))
    %c0 = arith.constant 0 : i32 loc("k.py":7:1)
    %c1 = arith.constant 1 : i32 loc("k.py":7:1)
    %c3 = arith.constant 3 : i32 loc("k.py":7:1)
    %c8 = arith.constant 8 : i32 loc("k.py":8:1)
    %acc = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %zero) -> (tensor<4xf32>)  : i32 {
      %row = arith.muli %i, %c8 : i32 loc("row"("k.py":8:1))
      %rows = tt.splat %row : i32 -> tensor<4xi32> loc("off"("k.py":9:1))
      %off = arith.addi %rows, %at : tensor<4xi32> loc("off"("k.py":9:1))
      %p = tt.addptr %xs, %off : tensor<4x!tt.ptr<f32>>, tensor<4xi32> loc("p"("k.py":10:1))
      %v = tt.load %p : tensor<4x!tt.ptr<f32>> loc("v"("k.py":11:1))
      %more = arith.addf %a, %v : tensor<4xf32> loc("acc"("k.py":12:1))
      scf.yield %more : tensor<4xf32> loc("k.py":7:1)
    } loc("k.py":7:1)
    %ys = tt.splat %y : !tt.ptr<f32> -> tensor<4x!tt.ptr<f32>> loc("k.py":13:1)
    %yp = tt.addptr %ys, %at : tensor<4x!tt.ptr<f32>>, tensor<4xi32> loc("k.py":13:1)
    tt.store %yp, %acc : tensor<4x!tt.ptr<f32>> loc("k.py":13:1)
    tt.return loc("k.py":1:1)
  } loc("k.py":1:1)
}
)";

launch::Argument tensor(const char* name, std::vector<int64_t> shape, uint32_t storage) {
  launch::Argument a;
  a.name = name;
  a.kind = launch::Argument::Kind::Tensor;
  a.view.element = ir::ElementKind::F32;
  a.view.dtype = "float32";
  a.view.strides = shape.size() == 2 ? std::vector<int64_t>{shape[1], 1} : std::vector<int64_t>{1};
  a.view.shape = std::move(shape);
  a.view.storage = storage;
  return a;
}

class ReplayTest : public testing::Test {
 protected:
  void SetUp() override {
    folder = std::filesystem::temp_directory_path() / ("tilesight-server-" + std::to_string(getpid()));
    std::filesystem::create_directories(folder);
    launch::Launch launch;
    launch.kernel = "k";
    launch.irText = kText;
    launch.irName = "k.ttir";
    launch.grid = {2, 1, 1};
    launch.sources = {{"k.py", "def k():\n    pass\n"}};
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
    x[8 + 5] = NAN;  // row 1, column 5: program 1, iteration 1
    launch.arguments = {tensor("x", {3, 8}, 0), tensor("y", {8}, 1)};
    launch.storages.resize(2);
    launch.storages[0].data = reinterpret_cast<uint8_t*>(x.data()), launch.storages[0].bytes = sizeof x, launch.storages[0].recordedBase = 1 << 20;
    launch.storages[1].data = reinterpret_cast<uint8_t*>(y.data()), launch.storages[1].bytes = sizeof y, launch.storages[1].recordedBase = 1 << 21;
    const std::string path = (folder / "k.tsb").string();
    auto writer = launch::BundleWriter::open(path);
    ASSERT_TRUE(writer) << writer.error().str();
    ASSERT_TRUE(writer->add(launch));
    ASSERT_TRUE(writer->finish());
    workspace = std::make_unique<Workspace>(std::vector<std::string>{path});
    ASSERT_TRUE(workspace->wait(0)) << workspace->entries()[0].error;
  }
  void TearDown() override {
    workspace.reset();
    std::filesystem::remove_all(folder);
  }
  Answer get(const std::string& path, std::map<std::string, std::string> query = {}) {
    return answer(*workspace, Request{"GET", path, std::move(query), {}});
  }
  /// The header of a packed answer: {"arrays", "meta"}.
  Json header(const Answer& answer) {
    EXPECT_EQ(answer.status, 200) << answer.body;
    uint32_t length = 0;
    std::memcpy(&length, answer.body.data() + 4, 4);
    return Json::parse(answer.body.substr(8, length));
  }
  template <typename T>
  std::vector<T> array(const Answer& answer, const std::string& name) {
    uint32_t length = 0;
    std::memcpy(&length, answer.body.data() + 4, 4);
    const Json arrays = header(answer)["arrays"];
    for (const Json& entry : arrays) {
      if (entry["name"] != name) continue;
      size_t count = 1;
      for (const Json& extent : entry["shape"]) count *= extent.get<size_t>();
      std::vector<T> out(count);
      std::memcpy(out.data(), answer.body.data() + 8 + length + entry["at"].get<size_t>(), count * sizeof(T));
      return out;
    }
    ADD_FAILURE() << "no array " << name;
    return {};
  }
  /// The step of program 1 where `name` gets its value for the `nth` time.
  int64_t stepOf(const std::string& name, int64_t nth) {
    const Answer watched = get("/api/launch/0/program/1/watch", {{"names", name}});
    return array<uint32_t>(watched, "step").at(static_cast<size_t>(nth));
  }

  std::filesystem::path folder;
  std::array<float, 24> x{};
  std::array<float, 8> y{};
  std::unique_ptr<Workspace> workspace;
};

TEST_F(ReplayTest, EveryStepHasItsSiteAndItsIteration) {
  const Json sites = Json::parse(get("/api/launch/0/sites").body).at("sites");
  const Answer steps = get("/api/launch/0/program/1/steps");
  const auto site = array<uint32_t>(steps, "site");
  const auto trips = array<int32_t>(steps, "trips");
  ASSERT_EQ(header(steps)["meta"]["total"], site.size());
  std::vector<int32_t> loads;
  for (size_t i = 0; i < site.size(); ++i)
    if (sites[site[i]]["operation"] == "tt.load") loads.push_back(trips[i]);
  EXPECT_EQ(loads, (std::vector<int32_t>{0, 1, 2}));
}

TEST_F(ReplayTest, AStepKnowsWhatAllVariablesAreByThen) {
  const int64_t load = stepOf("v", 1);
  const Json meta = header(get("/api/launch/0/program/1/step/" + std::to_string(load)))["meta"];
  EXPECT_EQ(meta["iterations"][0]["value"], 1);
  std::map<std::string, Json> variables;
  for (const Json& variable : meta["variables"]) variables[variable["name"]] = variable;
  EXPECT_EQ(variables["v"]["nan"], 1);
  EXPECT_EQ(variables["v"]["max"], 15);
  EXPECT_EQ(variables["acc"]["min"], 4);  // of the iteration before
  EXPECT_EQ(variables["row"]["text"], "8");
}

TEST_F(ReplayTest, AValueIsWholeAndExact) {
  const std::string path = "/api/launch/0/program/1/step/" + std::to_string(stepOf("v", 2)) + "/value";
  const Answer value = get(path);
  EXPECT_EQ(array<double>(value, "number"), (std::vector<double>{20, 21, 22, 23}));
  EXPECT_EQ(header(value)["meta"]["dtype"], "f32");
  const Answer pointers = get(path, {{"operand", "1"}});
  EXPECT_EQ(array<double>(pointers, "number"), (std::vector<double>{20, 21, 22, 23}));
  EXPECT_EQ(array<int32_t>(pointers, "argument"), (std::vector<int32_t>{0, 0, 0, 0}));
  const Answer file = get(path + ".npy");
  EXPECT_TRUE(file.body.starts_with("\x93NUMPY"));
  EXPECT_NE(file.body.find("'descr': '<f4', 'fortran_order': False, 'shape': (4,)"), file.body.npos);
  float last = 0;
  std::memcpy(&last, file.body.data() + file.body.size() - 4, 4);
  EXPECT_EQ(last, 23);
  EXPECT_EQ((file.body.size() - 16) % 64, 0u);
}

TEST_F(ReplayTest, AWatchHasARowATimeThatTheVariableChanges) {
  const Answer watched = get("/api/launch/0/program/0/watch", {{"names", "acc,i"}});
  const auto name = array<uint32_t>(watched, "name");
  const auto first = array<double>(watched, "first");
  std::vector<double> acc;
  for (size_t i = 0; i < name.size(); ++i)
    if (name[i] == 0) acc.push_back(first[i]);
  EXPECT_EQ(acc, (std::vector<double>{0, 0, 8, 24}));
  EXPECT_EQ(get("/api/launch/0/program/0/watch", {{"names", "ac"}}).status, 400);
}

TEST_F(ReplayTest, AConditionFindsItsFirstStepInThisProgramOrInAll) {
  EXPECT_EQ(get("/api/launch/0/program/0/find", {{"condition", "isnan(v)"}}).body, R"({"done":true})");
  const Json found = Json::parse(get("/api/launch/0/program/0/find", {{"condition", "isnan(v)"}, {"everywhere", "1"}}).body);
  EXPECT_EQ(found["program"], 1);
  EXPECT_EQ(found["step"], stepOf("v", 1));
  // The values of other variables are those of that moment.
  const Json later = Json::parse(get("/api/launch/0/program/1/find", {{"condition", "i == 2 and max(v) == 23"}}).body);
  EXPECT_EQ(later["step"], stepOf("v", 2));
  const Answer wrong = get("/api/launch/0/program/0/find", {{"condition", "isnan(w)"}});
  EXPECT_EQ(wrong.status, 400);
  EXPECT_NE(wrong.body.find("there is no variable"), wrong.body.npos);
}

TEST_F(ReplayTest, AnElementLeadsToItsWriter) {
  const Json story = Json::parse(get("/api/launch/0/element", {{"argument", "1"}, {"index", "6"}}).body);
  EXPECT_EQ(story["writes"], 1);
  EXPECT_EQ(story["writer"]["program"], 1);
  EXPECT_EQ(story["writer"]["line"], 13);
  EXPECT_EQ(story["value"]["before"], "0");
  EXPECT_EQ(story["value"]["after"], "42");
  const Json step = header(get("/api/launch/0/program/1/step/" + story["writer"]["step"].dump()))["meta"];
  EXPECT_EQ(step["values"][1]["min"], 36);
  EXPECT_EQ(get("/api/launch/0/element", {{"argument", "1"}, {"index", "8"}}).status, 400);
  const Json read = Json::parse(get("/api/launch/0/element", {{"argument", "0"}, {"index", "2,5"}}).body);
  EXPECT_EQ(read["reads"], 1);
  EXPECT_EQ(read["first"], 1);
  EXPECT_TRUE(read["writer"].is_null());
}

TEST_F(ReplayTest, FootprintsOfOneProgramAndOfAPartOfTheGrid) {
  const std::map<std::string, std::string> plane{{"rows", "0"}, {"columns", "1"}};
  auto with = [&](std::map<std::string, std::string> more) { more.insert(plane.begin(), plane.end()); return array<float>(get("/api/launch/0/tensor/0", more), "value"); };
  const auto own = with({{"layer", "program"}, {"program", "1"}});
  const auto part = with({{"layer", "accesses"}, {"brush", "0-0,0-0"}});
  for (size_t i = 0; i < 24; ++i) {
    EXPECT_EQ(own[i], i % 8 >= 4) << i;
    EXPECT_EQ(part[i], i % 8 < 4) << i;
  }
  EXPECT_EQ(get("/api/launch/0/tensor/0", {{"layer", "accesses"}, {"columns", "1"}, {"brush", "0-9,0-0"}}).status, 400);
}

TEST_F(ReplayTest, AnElementIsFollowedBackToTheInputsThatItCameFrom) {
  const Json story = Json::parse(get("/api/launch/0/inputs", {{"argument", "1"}, {"index", "6"}}).body);
  EXPECT_EQ(story["program"], 1);
  EXPECT_EQ(story["line"], 13);
  EXPECT_EQ(story["value"], "42");  // 6 + 14 + 22
  ASSERT_EQ(story["sources"].size(), 1u);
  const Json& source = story["sources"][0];
  EXPECT_EQ(source["argument"], 0);
  EXPECT_EQ(source["text"], "x[0:3, 6]");
  EXPECT_EQ(source["count"], 3);
  EXPECT_EQ(source["first"], Json({0, 6}));
  EXPECT_EQ(source["outside"], 0);
  // The variables on the way: of the last iteration, and how often they mattered.
  std::map<std::string, Json> links;
  for (const Json& link : story["chain"]) links[link["name"]] = link;
  ASSERT_TRUE(links.count("acc") && links.count("v")) << story.dump();
  EXPECT_EQ(links["v"]["elements"], "v[2]");
  EXPECT_EQ(links["v"]["value"], "22");
  EXPECT_EQ(links["v"]["times"], 3);
  EXPECT_EQ(links["v"]["line"], 11);
  EXPECT_EQ(links["v"]["iterations"], Json::parse(R"([{"name":"i", "value":2, "trip":2}])"));
  // On a picture of the input: these three and no others.
  const Answer picture = get("/api/launch/0/tensor/0", {{"layer", "inputs"}, {"of", "1"}, {"element", "6"}, {"rows", "0"}, {"columns", "1"}});
  const auto cells = array<float>(picture, "value");
  ASSERT_EQ(cells.size(), 24u);
  for (size_t i = 0; i < cells.size(); ++i) EXPECT_EQ(cells[i], i % 8 == 6 ? 1 : 0) << i;
  // Nobody writes x; y has eight elements; an index has numbers.
  EXPECT_NE(get("/api/launch/0/inputs", {{"argument", "0"}, {"index", "0,0"}}).body.find("no program writes x[0, 0]"), std::string::npos);
  for (const char* index : {"8", "-1", "1,1", "x", ""}) EXPECT_EQ(get("/api/launch/0/inputs", {{"argument", "1"}, {"index", index}}).status, 400) << index;
  EXPECT_EQ(get("/api/launch/0/inputs", {{"argument", "2"}, {"index", "0"}}).status, 400);
  EXPECT_EQ(get("/api/launch/0/tensor/0", {{"layer", "inputs"}, {"columns", "1"}}).status, 400);
}

TEST_F(ReplayTest, ActualAgainstExpected) {
  const std::string path = "/api/launch/0/tensor/1/expected";
  const auto put = [&](const std::string& bytes) {
    return answer(*workspace, Request{"PUT", path, {{"file", "ref.npy"}}, {}, [&]() -> Result<std::string> { return bytes; }});
  };
  const auto fileOf = [](const std::vector<float>& numbers, const std::vector<int64_t>& shape) {
    std::vector<uint8_t> bytes(numbers.size() * sizeof(float));
    std::memcpy(bytes.data(), numbers.data(), bytes.size());
    return *npy(ir::ElementKind::F32, shape, bytes);
  };
  const std::map<std::string, std::string> difference{{"layer", "difference"}, {"columns", "0"}}, beyond{{"layer", "wrong"}, {"columns", "0"}};
  EXPECT_EQ(get(path).body, R"({"file":null})");
  EXPECT_EQ(get("/api/launch/0/tensor/1", difference).status, 400);
  // y[i] is 24 + 3 i, but y[5] is NaN.
  std::vector<float> right{24, 27, 30, 33, 36, 39, 42, 45};
  right[2] += 1;
  right[3] += 0.001f;  // rounding may do that
  const Json found = Json::parse(put(fileOf(right, {8})).body);
  EXPECT_EQ(found["file"], "ref.npy");
  EXPECT_EQ(found["elements"], 8);
  EXPECT_EQ(found["wrong"], 2) << found.dump();
  EXPECT_EQ(found["first"], Json::parse(R"({"index": [2], "actual": "30", "expected": "31"})"));
  EXPECT_EQ(found["largest"], Json::parse(R"({"index": [2], "error": 1.0})"));
  EXPECT_EQ(found["text"], "y[2], y[5]");
  EXPECT_EQ(Json::parse(get(path).body), found);
  const Answer map = get("/api/launch/0/tensor/1", difference);
  EXPECT_EQ(array<uint8_t>(map, "kind"), (std::vector<uint8_t>{0, 0, 0, 0, 0, 1, 0, 0}));
  const auto apart = array<float>(map, "value");
  EXPECT_EQ(apart[2], 1);
  EXPECT_NEAR(apart[3], 0.001, 1e-5);
  EXPECT_EQ(apart[4], 0);
  EXPECT_EQ(array<float>(get("/api/launch/0/tensor/1", beyond), "value"), (std::vector<float>{0, 0, 1, 0, 0, 1, 0, 0}));
  // What is no such array is refused, and what was expected stays.
  EXPECT_NE(put(fileOf(right, {2, 4})).body.find("y has the shape (8), ref.npy holds an array of (2, 4)"), std::string::npos);
  EXPECT_NE(put("no array").body.find("ref.npy is no .npy file"), std::string::npos);
  EXPECT_EQ(put(fileOf(right, {8}).substr(0, 140)).status, 400);
  EXPECT_EQ(Json::parse(get(path).body), found);
  // It stays when the file changes, too; and NaN may be expected.
  std::filesystem::last_write_time(folder / "k.tsb", std::filesystem::file_time_type::clock::now() + std::chrono::seconds(5));
  EXPECT_EQ(Json::parse(get("/api/launches").body)["version"], 1);
  ASSERT_TRUE(workspace->wait(0));
  EXPECT_EQ(Json::parse(get(path).body), found);
  right[2] = 30, right[5] = NAN;
  const Json good = Json::parse(put(fileOf(right, {8})).body);
  EXPECT_EQ(good["wrong"], 0);
  EXPECT_EQ(good["first"], nullptr);
  EXPECT_EQ(get("/api/launch/0/tensor/0/expected").body, R"({"file":null})");
  EXPECT_EQ(get("/api/launch/0/tensor/7/expected").status, 404);
  EXPECT_EQ(answer(*workspace, Request{"PUT", "/api/launch/0", {}, {}}).status, 404);
}

TEST_F(ReplayTest, AFileThatIsReplacedIsNeverMixedWithWhatIsShown) {
  const auto loaded = workspace->wait(0);
  std::filesystem::remove(folder / "k.tsb");
  std::ofstream(folder / "k.tsb") << "no bundle any more";
  EXPECT_EQ(std::memcmp(loaded->before->storages[0].data, x.data(), sizeof x), 0);
  EXPECT_EQ(get("/api/launch/0/program/1/steps").status, 200);
  // The page is told before it is answered with something else.
  const auto asked = [&](const char* version) { return answer(*workspace, Request{"GET", "/api/launch/0/sites", {}, {{"x-tilesight-version", version}}}); };
  EXPECT_EQ(asked("0").status, 200);
  EXPECT_EQ(Json::parse(get("/api/launches").body)["version"], 0);  // it looks at the files: one may be half written
  EXPECT_EQ(asked("0").status, 200);
  EXPECT_EQ(Json::parse(get("/api/launches").body)["version"], 1);  // but it stays so
  EXPECT_EQ(asked("0").body, R"({"state":"changed"})");
  EXPECT_EQ(asked("0").status, 202);
  EXPECT_EQ(asked("1").status, 422);
}

TEST_F(ReplayTest, APartOfTheGridHasCountsOfItsOwn) {
  const auto survey = [&](const char* brush) { return Json::parse(get("/api/launch/0/survey", {{"brush", brush}}).body); };
  EXPECT_EQ(survey("")["accesses"], 8);
  EXPECT_EQ(survey("1-1,0-0")["accesses"], 4);
  // All programs, each run alone: as the launch.
  EXPECT_EQ(survey("0-1,0-0"), survey(""));
  for (const char* layer : {"accesses", "reads", "writes", "untouched", "writer", "first", "rewritten"}) {
    std::map<std::string, std::string> query{{"layer", layer}, {"columns", "1"}, {"rows", "0"}};
    const Answer whole = get("/api/launch/0/tensor/0", query);
    query["brush"] = "0-1,0-0";
    EXPECT_EQ(get("/api/launch/0/tensor/0", query).body, whole.body) << layer;
  }
  const auto of = [&](const char* layer) {
    return array<float>(get("/api/launch/0/tensor/1", {{"layer", layer}, {"columns", "0"}, {"brush", "1-1,0-0"}}), "value");
  };
  EXPECT_EQ(of("writes"), (std::vector<float>{0, 0, 0, 0, 1, 1, 1, 1}));
  EXPECT_EQ(of("writer"), (std::vector<float>{-1, -1, -1, -1, 1, 1, 1, 1}));
  EXPECT_EQ(of("untouched"), (std::vector<float>{1, 1, 1, 1, 0, 0, 0, 0}));
  EXPECT_EQ(get("/api/launch/0/survey", {{"brush", "0-2,0-0"}}).status, 400);
}

TEST_F(ReplayTest, WhatNeedsNoRunIsAnsweredBeforeIt) {
  auto opened = Loaded::open((folder / "k.tsb").string(), 0);
  ASSERT_TRUE(opened) << opened.error().str();
  const Loaded& loaded = **opened;
  EXPECT_EQ(loaded.surveyed(), nullptr);
  EXPECT_EQ(Json::parse(launchJson(loaded))["kernel"], "k");
  EXPECT_EQ(Json::parse(pendingJson(&loaded)), Json::parse(R"({"state": "running", "done": 0, "of": 2})"));
  // A program alone, by its values and by its records: the same before and after.
  auto alone = records(loaded, 1), values = steps(loaded, 1, 0, 100);
  ASSERT_TRUE(alone) << alone.error().str();
  ASSERT_TRUE(values) << values.error().str();
  EXPECT_EQ((*loaded.before).storages[1].data[0], 0);
  auto stopped = (*opened)->survey([] { return true; });
  ASSERT_TRUE(stopped);
  EXPECT_FALSE(*stopped);
  EXPECT_EQ(loaded.surveyed(), nullptr);
  auto again = Loaded::open((folder / "k.tsb").string(), 0);
  auto ran = (*again)->survey({});
  ASSERT_TRUE(ran && *ran);
  EXPECT_EQ((*again)->programsDone(), 2);
  EXPECT_EQ(*alone, *records(**again, 1));
  EXPECT_EQ(*alone, get("/api/launch/0/program/1/records").body);
  EXPECT_EQ((*again)->surveyed()->survey->accesses(), 8u);  // 3 loads and a store each
  // What the launch was given is as it was.
  EXPECT_EQ(std::memcmp((*again)->before->storages[1].data, y.data(), sizeof y), 0);
}

TEST_F(ReplayTest, WhatIsNotThereIsSaid) {
  for (const char* path : {"/api/launch/0/program/2/steps", "/api/launch/0/program/0/step/99999", "/api/launch/0/program/0/step/-1", "/api/launch/0/program/0/step/x",
                           "/api/launch/0/program/0/step/3/value/4", "/api/launch/0/program/0/nothing", "/api/launch/0/tensor/7/data.npy"})
    EXPECT_GE(get(path).status, 400) << path;
  EXPECT_EQ(get("/api/launch/0/program/0/step/3/value", {{"number", "77"}}).status, 400);
}

}  // namespace
}  // namespace tilesight::server
