#include "plugins/library.h"

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include <fmt/format.h>

#include "passes/options.h"
#include "plugins/dynamic.h"
#include "plugins/session.h"
#include "plugins/sha256.h"

namespace tilesight::plugins {

namespace {

constexpr const char* kQuery = "tilesight_plugin_query";
constexpr uint32_t kMost = 1000;  // passes, options, clients: a wrong number is not followed

// The tables as the first version has them. Later ones may only be longer.
constexpr uint32_t kLeastPlugin = offsetof(ts_plugin, reserved) + sizeof(uint32_t);
constexpr uint32_t kLeastPass = offsetof(ts_pass, data) + sizeof(void*);
constexpr uint32_t kLeastOption = offsetof(ts_option, reserved) + sizeof(uint32_t);
constexpr uint32_t kLeastClient = offsetof(ts_client, on_reduce) + sizeof(void*);
// And as 1.1 has them.
constexpr uint32_t kLeastOpRow = offsetof(ts_op_row, traits) + sizeof(void*);
constexpr uint32_t kLeastEnumRow = offsetof(ts_enum_row, cases) + sizeof(void*);
constexpr uint32_t kLeastDialect = offsetof(ts_dialect, data) + sizeof(void*);

bool isName(const char* text) {
  if (!text || !*text || std::strlen(text) > 100) return false;
  for (const char* c = text; *c; ++c)
    if (!((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') || *c == '-' || *c == '_' || *c == '.')) return false;
  return true;
}

std::string orEmpty(const char* text) { return text ? text : ""; }

/// Why the option is wrong, or "".
std::string readOption(const ts_option* option, passes::OptionInfo& out) {
  if (!option) return "has an option without a table";
  if (option->size < kLeastOption) return fmt::format("has a table of an option of {} bytes; the first version has {}", option->size, kLeastOption);
  if (!isName(option->name)) return "has an option without a proper name";
  out.name = option->name;
  out.help = orEmpty(option->help);
  out.least = option->least;
  out.most = option->most;
  switch (option->kind) {
    case TS_OPTION_INTEGER: out.kind = passes::OptionInfo::Kind::Integer; break;
    case TS_OPTION_BOOLEAN: out.kind = passes::OptionInfo::Kind::Boolean; break;
    case TS_OPTION_STRING: out.kind = passes::OptionInfo::Kind::String; break;
    case TS_OPTION_CHOICE:
      out.kind = passes::OptionInfo::Kind::Choice;
      if (!option->choices || !option->choice_count || option->choice_count > kMost) return fmt::format("has an option '{}' without choices", out.name);
      for (uint32_t i = 0; i < option->choice_count; ++i) {
        if (!option->choices[i]) return fmt::format("has an option '{}' with a choice that is NULL", out.name);
        out.choices.emplace_back(option->choices[i]);
      }
      break;
    default: return fmt::format("has an option '{}' of kind {}, which this Tilesight does not know", out.name, option->kind);
  }
  passes::Pass check;
  check.name = "it";
  out.fallback = out.kind == passes::OptionInfo::Kind::Integer ? passes::OptionValue(int64_t{0}) : out.kind == passes::OptionInfo::Kind::Boolean ? passes::OptionValue(false) : passes::OptionValue(std::string());
  check.options = {out};
  const auto value = passes::optionValues(check, {{out.name, orEmpty(option->fallback)}});
  if (!value) return fmt::format("has an option '{}' whose default '{}' is not a value that it takes", out.name, orEmpty(option->fallback));
  out.fallback = (*value)[0];
  return {};
}

/// What the manager calls: a session around the plugin's function.
Status runPlugin(const ts_pass* pass, const std::shared_ptr<passes::Pass>& described, passes::PassContext& context) {
  Session session(context, *described);
  std::array<char, 1024> text{};
  ts_error error{sizeof(ts_error), static_cast<uint32_t>(text.size()), text.data()};
  int32_t code = 0;
  try {
    code = pass->run(pass->data, &hostTable(), session.handle(), &error);
  } catch (...) {
    // A plugin in C++ that breaks the rule; its exception is recognised by no type of ours.
    return failure("an exception left it");
  }
  text.back() = 0;
  if (session.hasFailed()) return failure(session.failure());
  if (code != 0) return failure(text[0] ? std::string(text.data()) : fmt::format("it returned {} without a reason", code));
  return {};
}

std::string readPass(const ts_pass* pass, Library& library) {
  if (!pass) return "has a pass without a table";
  if (pass->size < kLeastPass) return fmt::format("has a table of a pass of {} bytes; the first version has {}", pass->size, kLeastPass);
  if (!isName(pass->name)) return "has a pass without a proper name";
  if (!pass->run) return fmt::format("has a pass '{}' without a function", pass->name);
  if (pass->option_count > kMost || (pass->option_count && !pass->options)) return fmt::format("has a pass '{}' whose options cannot be read", pass->name);
  const std::string stage = orEmpty(pass->stage);
  if (!stage.empty() && stage != "ttir" && stage != "ttgir" && stage != "tile") return fmt::format("has a pass '{}' for the stage '{}', which there is not", pass->name, stage);
  auto described = std::make_shared<passes::Pass>();
  described->name = pass->name;
  described->summary = orEmpty(pass->summary);
  described->origin = library.path;
  for (uint32_t i = 0; i < pass->option_count; ++i) {
    passes::OptionInfo option;
    if (std::string wrong = readOption(pass->options[i], option); !wrong.empty()) return fmt::format("{} (pass '{}')", wrong, pass->name);
    described->options.push_back(std::move(option));
  }
  passes::Pass made = *described;
  made.run = [pass, described](passes::PassContext& context) { return runPlugin(pass, described, context); };
  library.passes.push_back(std::move(made));
  library.stages.push_back(stage);
  return {};
}

std::string readClient(const ts_client* client, Library& library) {
  if (!client) return "has a client without a table";
  if (client->size < kLeastClient) return fmt::format("has a table of a client of {} bytes; the first version has {}", client->size, kLeastClient);
  if (client->abi != TS_CLIENT_ABI) return fmt::format("has a client of ABI {}, this is {}", client->abi, TS_CLIENT_ABI);
  if (!isName(client->name)) return "has a client without a proper name";
  library.clients.push_back(client);
  return {};
}

/// A word of small letters, digits and _: what stands before the dot.
bool isDialectName(const char* text) {
  if (!text || !(*text >= 'a' && *text <= 'z') || std::strlen(text) > 100) return false;
  for (const char* c = text; *c; ++c)
    if (!((*c >= 'a' && *c <= 'z') || (*c >= '0' && *c <= '9') || *c == '_')) return false;
  return true;
}

std::string readDialect(const ts_dialect* dialect, Library& library) {
  if (!dialect) return "has a dialect without a table";
  if (dialect->size < kLeastDialect) return fmt::format("has a table of a dialect of {} bytes; the first version has {}", dialect->size, kLeastDialect);
  if (!isDialectName(dialect->name)) return "has a dialect without a proper name";
  for (const auto& other : library.dialects)
    if (other->name == dialect->name) return fmt::format("has two dialects '{}'", dialect->name);
  const auto wrong = [&](const std::string& what) { return fmt::format("has a dialect '{}' {}", dialect->name, what); };
  if (!dialect->op_count || dialect->op_count > kMost || !dialect->ops) return wrong("whose operations cannot be read");
  if (dialect->enum_count > kMost || (dialect->enum_count && !dialect->enums)) return wrong("whose enumerations cannot be read");
  auto made = std::make_shared<dialects::Dialect>();
  made->name = dialect->name;
  made->summary = orEmpty(dialect->summary);
  made->origin = library.path;
  made->table = dialect;
  const auto text = [](const char* column) { return column ? column : ""; };
  for (uint32_t i = 0; i < dialect->enum_count; ++i) {
    const ts_enum_row* row = dialect->enums[i];
    if (!row || row->size < kLeastEnumRow) return wrong("with a table of an enumeration that is missing or too short");
    if (const std::string mistake = dialects::addEnum(*made, {text(row->name), row->width, text(row->cases)}); !mistake.empty()) return wrong("with a wrong row: " + mistake);
  }
  for (uint32_t i = 0; i < dialect->op_count; ++i) {
    const ts_op_row* row = dialect->ops[i];
    if (!row || row->size < kLeastOpRow) return wrong("with a table of an operation that is missing or too short");
    const std::string mistake = dialects::addRow(*made, {text(row->name), text(row->operands), text(row->attributes), text(row->results), text(row->format), text(row->rules), text(row->traits), ""});
    if (!mistake.empty()) return wrong("with a wrong row: " + mistake);
  }
  library.dialects.push_back(std::move(made));
  return {};
}

}  // namespace

void readPlugin(const ts_plugin* plugin, Library& library) {
  const auto refuse = [&](std::string why) {
    library.refused = std::move(why);
    library.passes.clear();
    library.stages.clear();
    library.clients.clear();
    library.dialects.clear();
  };
  if (!plugin) return refuse("gave no table");
  if (plugin->size < kLeastPlugin) return refuse(fmt::format("gave a table of {} bytes; the first version has {}", plugin->size, kLeastPlugin));
  library.abiMajor = plugin->abi_major;
  library.abiMinor = plugin->abi_minor;
  if (plugin->abi_major != TS_PLUGIN_ABI_MAJOR || plugin->abi_minor > TS_PLUGIN_ABI_MINOR)
    return refuse(fmt::format("needs plugin ABI {}.{}, this Tilesight has {}.{}", plugin->abi_major, plugin->abi_minor, TS_PLUGIN_ABI_MAJOR, TS_PLUGIN_ABI_MINOR));
  if (!isName(plugin->id)) return refuse("has no proper id");
  library.id = plugin->id;
  library.version = orEmpty(plugin->version);
  library.summary = orEmpty(plugin->summary);
  if (plugin->pass_count > kMost || (plugin->pass_count && !plugin->passes)) return refuse("has a list of passes that cannot be read");
  if (plugin->client_count > kMost || (plugin->client_count && !plugin->clients)) return refuse("has a list of clients that cannot be read");
  for (uint32_t i = 0; i < plugin->pass_count; ++i)
    if (std::string wrong = readPass(plugin->passes[i], library); !wrong.empty()) return refuse(std::move(wrong));
  for (uint32_t i = 0; i < plugin->client_count; ++i)
    if (std::string wrong = readClient(plugin->clients[i], library); !wrong.empty()) return refuse(std::move(wrong));
  if (!TS_HAS(plugin, ts_plugin, dialect_count)) return;
  if (plugin->dialect_count > kMost || (plugin->dialect_count && !plugin->dialects)) return refuse("has a list of dialects that cannot be read");
  for (uint32_t i = 0; i < plugin->dialect_count; ++i)
    if (std::string wrong = readDialect(plugin->dialects[i], library); !wrong.empty()) return refuse(std::move(wrong));
}

namespace {
PythonOpener& pythonOpener() {
  static PythonOpener opener;
  return opener;
}
}  // namespace

void setPythonOpener(PythonOpener opener) { pythonOpener() = std::move(opener); }

Library openLibrary(const std::string& path) {
  Library library;
  library.path = path;
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return library.refused = "there is no such file", library;
  if (!std::filesystem::is_regular_file(path, error)) return library.refused = "is not a file", library;
  std::ostringstream bytes;
  std::ifstream in(path, std::ios::binary);
  if (!in) return library.refused = "cannot be read", library;
  bytes << in.rdbuf();
  const std::string file = std::move(bytes).str();
  library.hash = sha256(file);
  if (path.ends_with(".py")) {
    if (pythonOpener()) pythonOpener()(path, library);
    else library.refused = "is a Python file, and this is not the `tilesight` of a Python (`python -m tilesight` is)";
    return library;
  }
  if (library.refused = wrongFile(file); !library.refused.empty()) return library;

  // Never by a search of the system's: a name without a slash would begin one.
  const std::string whole = std::filesystem::absolute(path, error).string();
  const auto handle = loadLibrary(whole);
  if (!handle) return library.refused = "cannot be loaded: " + handle.error().message, library;
  const auto query = reinterpret_cast<ts_plugin_query_function>(findFunction(*handle, kQuery));
  if (!query) return library.refused = fmt::format("does not export {}", kQuery), library;
  const ts_plugin* plugin = nullptr;
  std::array<char, 1024> text{};
  ts_error slot{sizeof(ts_error), static_cast<uint32_t>(text.size()), text.data()};
  int32_t code = 0;
  try {
    code = query(&hostTable(), &plugin, &slot);
  } catch (...) {
    return library.refused = "an exception left it when it was asked what it offers", library;
  }
  text.back() = 0;
  if (code != 0) return library.refused = text[0] ? std::string("does not want to run here: ") + text.data() : fmt::format("returned {} when it was asked what it offers", code), library;
  readPlugin(plugin, library);
  return library;
}

}  // namespace tilesight::plugins
