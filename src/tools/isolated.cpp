#include "tools/isolated.h"

#include <cstdlib>

#include <nlohmann/json.hpp>

#include "passes/wire.h"
#include "tools/output.h"

namespace tilesight::tools {

namespace {

using Json = nlohmann::json;

struct Programs {
  std::vector<std::string> python, other;
};

Programs& programs() {
  static Programs all;
  return all;
}

/// The answer to a request, as bytes.
std::string answerTo(const Json& request, const support::Begins& begins) {
  const std::string what = request.at("do");
  const std::vector<std::string> plugins = request.at("plugins");
  if (what == "list") return passes::toWire(listOfPasses(plugins, begins));
  if (what == "names") return passes::toWire(passesOf(plugins.at(0), begins));
  if (what == "case") return passes::toWire(runCaseOf(plugins.at(0), request.at("file"), begins));
  Transform how;
  how.plugins = plugins;
  request.at("pipelines").get_to(how.pipelines);
  request.at("verify each").get_to(how.verifyEach);
  request.at("print before").get_to(how.printBefore);
  request.at("print after").get_to(how.printAfter);
  return passes::toWire(transformHere(request.at("text"), request.at("file"), how, begins));
}

bool needsPython(const std::vector<std::string>& plugins) {
  for (const std::string& path : plugins)
    if (path.ends_with(".py")) return true;
  const char* paths = std::getenv("TILESIGHT_PLUGIN_PATHS");
  return paths && std::string(paths).find(".py") != std::string::npos;
}

/// The bytes that `answerTo` gives in another process. A copy of this one where that can be, which takes no time; Python cannot run
/// in the copy of a process that has threads.
Result<std::string> apart(const Json& request, double seconds) {
  std::vector<std::string> command = programs().other;
  if (!programs().python.empty() && needsPython(request.at("plugins"))) command = programs().python;
  else if (command.empty() && support::canCopyProcess) return support::runInCopy([&](const support::Begins& begins) { return answerTo(request, begins); }, seconds);
  if (command.empty()) command = {support::ownProgram(), "isolated"};
  // CBOR: its strings may hold any bytes, as texts that are read do.
  const std::vector<uint8_t> bytes = Json::to_cbor(request);
  return support::runProgram(command, std::string(bytes.begin(), bytes.end()), seconds);
}

}  // namespace

Result<passes::Outcome> transformApart(const std::string& text, const std::string& fileName, const Transform& how) {
  const auto bytes = apart({{"do", "transform"}, {"text", text}, {"file", fileName}, {"plugins", how.plugins}, {"pipelines", how.pipelines},
                            {"verify each", how.verifyEach}, {"print before", how.printBefore}, {"print after", how.printAfter}}, how.seconds);
  if (!bytes) return failure(Diagnostic{fileName, 0, 0, bytes.error().message, {}});
  return passes::outcomeFromWire(*bytes);
}

Result<std::string> listOfPassesApart(const std::vector<std::string>& plugins, double seconds) {
  const auto bytes = apart({{"do", "list"}, {"plugins", plugins}}, seconds);
  return bytes ? passes::bytesFromWire(*bytes) : bytes;
}

Result<std::string> passesOfApart(const std::string& library, double seconds) {
  const auto bytes = apart({{"do", "names"}, {"plugins", {library}}}, seconds);
  return bytes ? passes::bytesFromWire(*bytes) : bytes;
}

Result<passes::CaseOutcome> runCaseApart(const std::string& library, const std::string& file, double seconds) {
  const auto bytes = apart({{"do", "case"}, {"plugins", {library}}, {"file", file}}, seconds);
  if (!bytes) return failure(bytes.error());
  return passes::caseFromWire(*bytes);
}

void isolatePythonWith(std::vector<std::string> command) { programs().python = std::move(command); }
void isolateWith(std::vector<std::string> command) { programs().other = std::move(command); }

int isolated() {
  return support::answerParent([](const std::string& request, const support::Begins& begins) {
    const Json read = Json::from_cbor(request, true, false);
    if (!read.is_object()) {
      printErr("tilesight: error: `isolated` is what --isolate starts, no command of its own\n");
      std::exit(2);
    }
    return answerTo(read, begins);
  });
}

}  // namespace tilesight::tools
