#include <algorithm>
#include <charconv>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "launch/archive.h"
#include "launch/manifest.h"
#include "launch/memory.h"
#include "launch/names.h"

namespace tilesight::launch {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t maxItems = 1 << 20;
constexpr size_t maxPerLaunch = 4096;  // arguments, storages, source files
constexpr int maxDepth = 64;

/// Thrown by Field, caught by parse() below: never leaves this file.
struct Malformed {
  std::string message;
};

/// A value in the JSON text with the path that leads to it, for messages.
class Field {
 public:
  Field(const Json& json, std::string path) : json_(json), path_(std::move(path)) {}

  [[noreturn]] void fail(const std::string& message) const {
    throw Malformed{path_.empty() ? message : path_ + ": " + message};
  }

  bool has(const char* key) const { return json_.is_object() && json_.contains(key); }
  Field operator[](const char* key) const {
    if (!json_.is_object()) fail("must be an object");
    const auto found = json_.find(key);
    if (found == json_.end()) fail(fmt::format("`{}` is missing", key));
    return {*found, path_.empty() ? key : fmt::format("{}.{}", path_, key)};
  }
  size_t size(size_t limit = maxItems) const {
    if (!json_.is_array()) fail("must be a list");
    if (json_.size() > limit) fail(fmt::format("has {} items, too many", json_.size()));
    return json_.size();
  }
  Field at(size_t i) const { return {json_.at(i), fmt::format("{}[{}]", path_, i)}; }

  std::string string() const {
    if (!json_.is_string()) fail("must be a string");
    return json_.get<std::string>();
  }
  bool boolean() const {
    if (!json_.is_boolean()) fail("must be true or false");
    return json_.get<bool>();
  }
  int64_t integer() const {
    if (!json_.is_number_integer()) fail("must be an integer");
    if (json_.is_number_unsigned() && json_.get<uint64_t>() > INT64_MAX) fail("is too large");
    return json_.get<int64_t>();
  }
  /// A number from 0 to `limit`.
  uint64_t count(uint64_t limit) const {
    const int64_t number = integer();
    if (number < 0) fail("is negative");
    if (static_cast<uint64_t>(number) > limit)
      fail(fmt::format("{} is more than the limit of {}", number, limit));
    return static_cast<uint64_t>(number);
  }
  /// The number of one of `size` things.
  uint32_t index(size_t size, const char* thing) const {
    const int64_t number = integer();
    if (number < 0 || static_cast<uint64_t>(number) >= size)
      fail(fmt::format("{} is not the number of a {}, there are {}", number, thing, size));
    return static_cast<uint32_t>(number);
  }
  /// "0x1f".
  uint64_t hex() const {
    const std::string text = string();
    uint64_t number = 0;
    const char* end = text.data() + text.size();
    if (!text.starts_with("0x") ||
        std::from_chars(text.data() + 2, end, number, 16).ptr != end || text.size() > 18 ||
        text.size() < 3)
      fail("must be a hexadecimal number of at most 16 digits");
    return number;
  }
  std::vector<int64_t> integers() const {
    std::vector<int64_t> list(size());
    for (size_t i = 0; i < list.size(); ++i) list[i] = at(i).integer();
    return list;
  }
  std::string fileName() const {
    std::string name = string();
    if (!isSafeName(name)) fail("names a file outside the bundle, or uses odd characters");
    return name;
  }
  const Json& json() const { return json_; }

 private:
  const Json& json_;
  std::string path_;
};

/// Nothing may be named twice where each naming costs memory.
void requireUnique(const Field& field, std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end()) field.fail(fmt::format("names {} twice", *twice));
}

/// Nesting is bounded before anything recursive sees the text.
bool isTooDeep(const std::string& text) {
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      else if (c == '"') quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '[' || c == '{') {
      if (++depth > maxDepth) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

template <typename Read>
auto parse(const std::string& text, Read read) -> Result<decltype(read(std::declval<Field>()))> {
  if (isTooDeep(text)) return failure("is nested too deeply");
  try {
    const Json json = Json::parse(text);
    return read(Field(json, ""));
  } catch (const Malformed& malformed) {
    return failure(malformed.message);
  } catch (const Json::exception& error) {
    // "[json.exception.parse_error.101] parse error at line 3, column 7: ..."
    std::string message = error.what();
    if (const size_t end = message.find("] "); end != message.npos) message.erase(0, end + 2);
    std::replace_if(message.begin(), message.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
    return failure(message.substr(0, 300));
  }
}

std::vector<uint8_t> parseFill(const Field& field) {
  const std::string text = field.string();
  std::vector<uint8_t> bytes(text.size() / 2);
  for (size_t i = 0; i < bytes.size(); ++i) {
    const char* digits = text.data() + 2 * i;
    if (std::from_chars(digits, digits + 2, bytes[i], 16).ptr != digits + 2)
      field.fail("must be hexadecimal digits");
  }
  if (text.size() % 2 || bytes.empty() || bytes.size() > 16 || (bytes.size() & (bytes.size() - 1)))
    field.fail("must be 1, 2, 4, 8 or 16 bytes, two digits each");
  return bytes;
}

Content parseContent(const Field& field, const std::vector<Content>& earlier) {
  Content content;
  content.bytes = field["bytes"].count(maxStorageBytes);
  if (field.has("base")) {
    const Field base = field["base"];
    content.base = base.index(earlier.size(), "content before this one");
    const Content& other = earlier[static_cast<size_t>(content.base)];
    if (other.base >= 0) base.fail("names a content that has a base itself");
    if (other.bytes != content.bytes) base.fail("names a content of another size");
    content.fill = {0};
  } else {
    content.fill = parseFill(field["fill"]);
  }
  if (!field.has("pieces")) return content;
  content.file = field["file"].fileName();
  const Field pieces = field["pieces"];
  uint64_t past = 0;
  for (size_t i = 0; i < pieces.size(); ++i) {
    const Field item = pieces.at(i);
    if (item.size() != 2) item.fail("must be [offset, bytes]");
    const Piece piece{item.at(0).count(maxStorageBytes), item.at(1).count(maxStorageBytes)};
    if (piece.offset < past) item.fail("overlaps the piece before it");
    past = piece.offset + piece.bytes;
    if (past > content.bytes)
      item.fail(fmt::format("ends at byte {} of {}", past, content.bytes));
    content.pieces.push_back(piece);
  }
  return content;
}

View parseView(const Field& field) {
  View view;
  view.dtype = field["dtype"].string();
  const auto known = elementOfDtype(view.dtype);
  if (!known) field["dtype"].fail("is no dtype of a tensor");
  const Field element = field["element"];
  const auto kind = elementNamed(element.string());
  if (!kind) element.fail("is no element type");
  if (*kind != *known)
    element.fail(fmt::format("is {}, and tensors of dtype {} have {}", element.string(), view.dtype, ir::elementName(*known)));
  view.element = *kind;
  view.shape = field["shape"].integers();
  view.strides = field["strides"].integers();
  view.offset = field["offset"].integer();
  view.storage = static_cast<uint32_t>(field["storage"].count(maxItems));
  view.uninitialized = field.has("uninitialized") && field["uninitialized"].boolean();
  view.readOnly = field.has("read_only") && field["read_only"].boolean();
  return view;
}

Argument parseArgument(const Field& field) {
  Argument argument;
  argument.name = field["name"].string();
  const auto kind = argumentKindNamed(field["kind"].string());
  if (!kind) field["kind"].fail("must be tensor, scalar, descriptor or specialized");
  argument.kind = *kind;
  switch (*kind) {
    case Argument::Kind::Tensor: argument.view = parseView(field); break;
    case Argument::Kind::Descriptor: {
      argument.view = parseView(field);
      argument.blockShape = field["block_shape"].integers();
      const std::string padding = field["padding"].string();
      if (padding != "nan" && padding != "zero") field["padding"].fail("must be zero or nan");
      argument.paddingNan = padding == "nan";
      break;
    }
    case Argument::Kind::Scalar: {
      const auto element = elementNamed(field["element"].string());
      if (!element) field["element"].fail("is no element type");
      argument.element = *element;
      argument.bits = field["bits"].hex();
      break;
    }
    case Argument::Kind::Specialized: argument.text = field["text"].string(); break;
  }
  if (field.has("hint")) argument.hint = field["hint"].string();
  return argument;
}

/// Within a launch, storages do not share stored bytes: those that do are one storage.
void requireOwnBytes(const Field& field, const BundleManifest& bundle, const LaunchManifest& launch) {
  std::vector<std::string> files;
  for (const uint32_t number : launch.contents) {
    const Content& content = bundle.contents[number];
    if (!content.file.empty()) files.push_back(content.file);
    if (content.base < 0) continue;
    const std::string& base = bundle.contents[static_cast<size_t>(content.base)].file;
    if (!base.empty()) files.push_back(base);
  }
  requireUnique(field, std::move(files));
}

void parseStorage(const Field& field, const BundleManifest& bundle, LaunchManifest& out) {
  Storage storage;
  storage.name = field["name"].string();
  const uint32_t content = field["content"].index(bundle.contents.size(), "content");
  storage.bytes = bundle.contents[content].bytes;
  storage.recordedBase = field["base"].hex();
  storage.allocationKnown = field["allocation_known"].boolean();
  storage.readOnly = field.has("read_only") && field["read_only"].boolean();
  storage.withheld = field.has("withheld") && field["withheld"].boolean();
  out.launch.storages.push_back(std::move(storage));
  out.contents.push_back(content);
}

std::string configText(const Field& field) {
  if (field.json().is_object())
    return field.json().dump(-1, ' ', false, Json::error_handler_t::replace);
  return field.string();
}

}  // namespace

Result<BundleManifest> parseBundleManifest(const std::string& text) {
  return parse(text, [](const Field& root) {
    if (root["format"].string() != "tilesight-bundle") root["format"].fail("is no bundle's");
    const int64_t version = root["version"].integer();
    if (version != bundleVersion)
      root["version"].fail(fmt::format("this version of Tilesight reads version {}, the bundle has {}",
                                       bundleVersion, version));
    BundleManifest manifest;
    const Field launches = root["launches"];
    for (size_t i = 0; i < launches.size(); ++i)
      manifest.launches.push_back(launches.at(i).fileName());
    requireUnique(launches, manifest.launches);
    const Field contents = root["contents"];
    for (size_t i = 0; i < contents.size(); ++i)
      manifest.contents.push_back(parseContent(contents.at(i), manifest.contents));
    const Field sources = root["sources"];
    std::vector<std::string> files;
    for (size_t i = 0; i < sources.size(); ++i) {
      manifest.sources.push_back(
          {sources.at(i)["path"].string(), sources.at(i)["file"].fileName()});
      files.push_back(manifest.sources.back().file);
    }
    requireUnique(sources, std::move(files));
    return manifest;
  });
}

Result<LaunchManifest> parseLaunchManifest(const std::string& text, const BundleManifest& bundle) {
  Result<LaunchManifest> manifest = parse(text, [&](const Field& root) {
    LaunchManifest out;
    Launch& launch = out.launch;
    launch.kernel = root["kernel"].string();
    launch.index = static_cast<uint32_t>(root["launch"].count(UINT32_MAX));
    out.irFile = root["ir"]["file"].fileName();
    launch.irName = root["ir"]["name"].string();
    const std::vector<int64_t> grid = root["grid"].integers();
    if (grid.size() != 3) root["grid"].fail("must have three sizes");
    std::copy(grid.begin(), grid.end(), launch.grid.begin());
    launch.config = configText(root["config"]);
    launch.tritonVersion = root["triton"].string();
    launch.target = root["target"].string();
    launch.seed = root["seed"].hex();
    launch.numSms = static_cast<uint32_t>(root["num_sms"].count(UINT32_MAX));
    if (root.has("multiprocessors"))
      launch.multiprocessors = static_cast<uint32_t>(root["multiprocessors"].count(UINT32_MAX));
    launch.test = root["test"].string();
    const Field storages = root["storages"];
    for (size_t i = 0, n = storages.size(maxPerLaunch); i < n; ++i)
      parseStorage(storages.at(i), bundle, out);
    requireOwnBytes(storages, bundle, out);
    const Field arguments = root["arguments"];
    for (size_t i = 0, n = arguments.size(maxPerLaunch); i < n; ++i)
      launch.arguments.push_back(parseArgument(arguments.at(i)));
    const Field sources = root["sources"];
    for (size_t i = 0, n = sources.size(maxPerLaunch); i < n; ++i)
      out.sources.push_back(sources.at(i).index(bundle.sources.size(), "source file"));
    return out;
  });
  if (manifest) TS_CHECK(validate(manifest->launch));
  return manifest;
}

}  // namespace tilesight::launch
