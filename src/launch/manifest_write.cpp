#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <bit>

#include "launch/manifest.h"
#include "launch/names.h"

namespace tilesight::launch {
namespace {

using Json = nlohmann::ordered_json;

std::string dumped(const Json& json) {
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string hexNumber(uint64_t number) { return fmt::format("{:#x}", number); }

std::string hexBytes(const std::vector<uint8_t>& bytes) {
  return fmt::format("{:02x}", fmt::join(bytes, ""));
}

/// For people: `bits` is what counts.
std::string scalarText(const Argument& argument) {
  switch (argument.element) {
    case ir::ElementKind::F32:
      return fmt::format("{}", std::bit_cast<float>(static_cast<uint32_t>(argument.bits)));
    case ir::ElementKind::F64: return fmt::format("{}", std::bit_cast<double>(argument.bits));
    default: break;
  }
  if (ir::isIntegerKind(argument.element))
    return fmt::format("{}", static_cast<int64_t>(argument.bits));
  return hexNumber(argument.bits);
}

/// Configurations are JSON text already; other text stays a string.
Json configJson(const std::string& config) {
  Json json = Json::parse(config, nullptr, false);
  return json.is_object() ? json : Json(config);
}

void putView(Json& json, const View& view) {
  json["dtype"] = view.dtype;
  json["element"] = ir::elementName(view.element);
  json["shape"] = view.shape;
  json["strides"] = view.strides;
  json["offset"] = view.offset;
  json["storage"] = view.storage;
  if (view.uninitialized) json["uninitialized"] = true;
  if (view.readOnly) json["read_only"] = true;
}

Json argumentJson(const Argument& argument) {
  Json json;
  json["name"] = argument.name;
  json["kind"] = argumentKindName(argument.kind);
  switch (argument.kind) {
    case Argument::Kind::Tensor: putView(json, argument.view); break;
    case Argument::Kind::Descriptor:
      putView(json, argument.view);
      json["block_shape"] = argument.blockShape;
      json["padding"] = argument.paddingNan ? "nan" : "zero";
      break;
    case Argument::Kind::Scalar:
      json["element"] = ir::elementName(argument.element);
      json["bits"] = hexNumber(argument.bits);
      json["value"] = scalarText(argument);
      break;
    case Argument::Kind::Specialized: json["text"] = argument.text; break;
  }
  if (!argument.hint.empty()) json["hint"] = argument.hint;
  return json;
}

}  // namespace

std::string writeManifest(const BundleManifest& manifest) {
  Json json;
  json["format"] = "tilesight-bundle";
  json["version"] = bundleVersion;
  json["launches"] = manifest.launches;
  json["contents"] = Json::array();
  for (const Content& content : manifest.contents) {
    Json item;
    item["bytes"] = content.bytes;
    if (content.base >= 0) item["base"] = content.base;
    else item["fill"] = hexBytes(content.fill);
    if (!content.pieces.empty()) {
      item["file"] = content.file;
      item["pieces"] = Json::array();
      for (const Piece& piece : content.pieces)
        item["pieces"].push_back(Json::array({piece.offset, piece.bytes}));
    }
    json["contents"].push_back(std::move(item));
  }
  json["sources"] = Json::array();
  for (const SourceFile& source : manifest.sources)
    json["sources"].push_back({{"path", source.path}, {"file", source.file}});
  return dumped(json);
}

std::string writeManifest(const LaunchManifest& manifest) {
  const Launch& launch = manifest.launch;
  Json json;
  json["kernel"] = launch.kernel;
  json["launch"] = launch.index;
  json["ir"] = {{"file", manifest.irFile}, {"name", launch.irName}};
  json["grid"] = launch.grid;
  json["config"] = configJson(launch.config);
  json["triton"] = launch.tritonVersion;
  json["target"] = launch.target;
  json["seed"] = hexNumber(launch.seed);
  json["num_sms"] = launch.numSms;
  if (launch.multiprocessors) json["multiprocessors"] = launch.multiprocessors;
  json["test"] = launch.test;
  json["arguments"] = Json::array();
  for (const Argument& argument : launch.arguments)
    json["arguments"].push_back(argumentJson(argument));
  json["storages"] = Json::array();
  for (size_t i = 0; i < launch.storages.size(); ++i) {
    const Storage& storage = launch.storages[i];
    json["storages"].push_back({{"name", storage.name},
                                {"content", manifest.contents[i]},
                                {"base", hexNumber(storage.recordedBase)},
                                {"allocation_known", storage.allocationKnown}});
    if (storage.readOnly) json["storages"].back()["read_only"] = true;
    if (storage.withheld) json["storages"].back()["withheld"] = true;
  }
  json["sources"] = manifest.sources;
  return dumped(json);
}

}  // namespace tilesight::launch
