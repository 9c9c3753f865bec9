#include "server/comparison.h"

#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "findings/json_values.h"

namespace tilesight::server {
namespace {

Result<const launch::Argument*> tensorAt(const Loaded& loaded, size_t argument) {
  if (argument >= loaded.launch().arguments.size() || loaded.launch().arguments[argument].kind != launch::Argument::Kind::Tensor)
    return failure("there is no such tensor");
  const launch::Argument& tensor = loaded.launch().arguments[argument];
  if (loaded.launch().storages[tensor.view.storage].withheld) return failure("the data of this tensor was not saved with the bundle");
  return &tensor;
}

}  // namespace

Result<Expectation> expectationOf(const Loaded& loaded, size_t argument, const std::string& bytes, const std::string& file) {
  auto tensor = tensorAt(loaded, argument);
  if (!tensor) return failure(tensor.error());
  std::istringstream stream(bytes);
  auto array = trace::readNpy(stream, file, [&](const std::vector<int64_t>& shape) -> Status {
    if (shape == (*tensor)->view.shape) return {};
    return failure(fmt::format("{} has the shape ({}), {} holds an array of ({})", (*tensor)->name, fmt::join((*tensor)->view.shape, ", "), file, fmt::join(shape, ", ")));
  });
  if (!array) return failure(array.error().file.empty() ? array.error().message : fmt::format("{} {}", file, array.error().message), array.error().remedy);
  return Expectation{(*tensor)->name, file, std::move(*array)};
}

Result<std::string> comparisonJson(const Loaded& loaded, size_t argument, const Expectation* expectation) {
  using findings::Json;
  if (auto tensor = tensorAt(loaded, argument); !tensor) return failure(tensor.error());
  if (!expectation) return std::string(R"({"file":null})");
  auto found = trace::differences(*loaded.surveyed()->after, static_cast<uint32_t>(argument), expectation->array, {});
  if (!found) return failure(found.error());
  Json json{{"file", expectation->file},       {"elements", found->elements}, {"wrong", found->wrong}, {"relative", found->tolerance.relative},
            {"absolute", found->tolerance.absolute}, {"first", nullptr},      {"largest", nullptr},    {"text", ""}};
  if (found->wrong) {
    json["first"] = {{"index", found->index}, {"actual", found->actual}, {"expected", found->expected}};
    json["text"] = found->wrongElements.text(found->name);
    if (found->largestError > 0) json["largest"] = {{"index", found->largestAt}, {"error", found->largestError}};
  }
  return findings::dumped(json, -1);
}

}  // namespace tilesight::server
