// Failing passes are undone and named; pipelines and options are read strictly.
#include <gtest/gtest.h>

#include "passes/manager.h"

namespace tilesight::passes {
namespace {

const std::string kKernel = R"(tt.func public @f(%x: i32, %p: !tt.ptr<i32>) {
  %dead = arith.addi %x, %x : i32
  tt.store %p, %x : !tt.ptr<i32>
  tt.return
}
)";

Pass passThat(std::string name, std::function<Status(PassContext&)> run) {
  Pass pass;
  pass.name = std::move(name);
  pass.run = std::move(run);
  return pass;
}

Result<Outcome> runWith(Registry& registry, const std::string& pipeline, const std::string& text = kKernel) {
  const auto steps = parsePipeline(pipeline, registry);
  if (!steps) return tl::unexpected<Diagnostic>(steps.error());
  return runPasses(text, "k.ttir", *steps);
}

ir::Operation& first(PassContext& context, std::string_view name) {
  ir::Operation* found = nullptr;
  ir::walk(*context.module().top, [&](ir::Operation& op) {
    if (!found && op.name == name) found = &op;
    return true;
  });
  return *found;
}

TEST(Manager, APassThatFailsIsUndoneAndNamed) {
  Registry registry;
  ASSERT_TRUE(registry.add(passThat("gives-up", [](PassContext& context) -> Status {
    context.rewriter.erase(&first(context, "tt.store"));
    return failure("no more");
  })));
  const auto outcome = runWith(registry, "dce,gives-up,cse");
  ASSERT_TRUE(outcome);
  ASSERT_FALSE(outcome->status);
  EXPECT_EQ(outcome->status.error().str(), "k.ttir: error: pass 'gives-up' failed and was undone: no more");
  EXPECT_EQ(outcome->text.find("%dead"), std::string::npos);
  EXPECT_NE(outcome->text.find("tt.store"), std::string::npos);
  EXPECT_EQ(outcome->reports.size(), 2u) << "later passes do not run";
}

TEST(Manager, APassThatLeavesInvalidIrIsUndoneAndNamedWithTheLine) {
  Registry registry;
  ASSERT_TRUE(registry.add(passThat("breaks", [](PassContext& context) -> Status {
    first(context, "arith.addi").result()->type = context.rewriter.context().integer(64);
    return {};
  })));
  const auto outcome = runWith(registry, "breaks");
  ASSERT_TRUE(outcome);
  ASSERT_FALSE(outcome->status);
  const std::string message = outcome->status.error().str();
  EXPECT_NE(message.find("k.ttir:2:"), std::string::npos) << message;
  EXPECT_NE(message.find("pass 'breaks' left IR that is not valid and was undone"), std::string::npos) << message;
  EXPECT_EQ(outcome->text, kKernel);
}

TEST(Manager, InputThatIsNotValidRunsNothing) {
  Registry registry;
  const auto outcome = runWith(registry, "dce", "tt.func @f(%x: i32) {\n  %y = arith.addi %x, %z : i32\n  tt.return\n}\n");
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().str(), "k.ttir:2:23: error: undefined value '%z'");
}

TEST(Pipeline, UnknownNamesComeWithTheNearest) {
  const Registry registry;
  const auto message = [&](const std::string& text) {
    const auto steps = parsePipeline(text, registry);
    return steps ? std::string("read") : steps.error().message;
  };
  EXPECT_EQ(message("canonicalise"), "there is no pass 'canonicalise'; did you mean canonicalize?");
  EXPECT_EQ(message("cse{fast}"), "pass 'cse' has no option 'fast'; it has none");
  EXPECT_EQ(message("cse dce"), "cannot read the pipeline 'cse dce': expected ',' or the end before 'dce'");
  EXPECT_EQ(message("cse{"), "cannot read the pipeline 'cse{': expected an option, or '}' at its end");
  EXPECT_EQ(message(" inline , cse{ } ,dce"), "read");
}

TEST(Options, AreCheckedAgainstTheirKind) {
  Registry registry;
  Pass pass = passThat("sized", [](PassContext&) -> Status { return {}; });
  pass.options = {{"size", "", OptionInfo::Kind::Integer, int64_t{2}, 1, 8, {}},
                  {"deep", "", OptionInfo::Kind::Boolean, false, 0, 0, {}},
                  {"mode", "", OptionInfo::Kind::Choice, std::string("safe"), 0, 0, {"safe", "fast"}}};
  ASSERT_TRUE(registry.add(pass));
  const auto message = [&](const std::string& text) {
    const auto steps = parsePipeline(text, registry);
    return steps ? std::string("read") : steps.error().message;
  };
  EXPECT_EQ(message("sized{size=9}"), "option 'size' of pass 'sized' cannot be '9': it must be a whole number from 1 to 8");
  EXPECT_EQ(message("sized{size=2x}"), "option 'size' of pass 'sized' cannot be '2x': it must be a whole number from 1 to 8");
  EXPECT_EQ(message("sized{deep=maybe}"), "option 'deep' of pass 'sized' cannot be 'maybe': it must be true or false");
  EXPECT_EQ(message("sized{mode=safer}"), "option 'mode' of pass 'sized' cannot be 'safer': it must be one of safe, fast; did you mean safe?");
  EXPECT_EQ(message("sized{siez=1}"), "pass 'sized' has no option 'siez'; did you mean size?");
  EXPECT_EQ(message("sized{size=1 size=2}"), "option 'size' of pass 'sized' is given twice");
  EXPECT_EQ(message("sized{size=3 deep mode=\"fast\"}"), "read");
}

}  // namespace
}  // namespace tilesight::passes
