// Compiled twice, with NAME one and two: two plugins that each have a class `Pass`, run-time type information, static state
// and templates of the same names, but not the same. The host loads both.
#include <tilesight/plugin.h>

#include <cstdio>
#include <memory>
#include <string>
#include <typeinfo>
#include <vector>

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

// Not in an unnamed namespace: the names of both libraries are equal on purpose.
struct Base {
  virtual ~Base() = default;
  virtual std::string name() const = 0;
};

struct Pass : Base {
  static inline int runs = 0;
  std::string name() const override { return TEXT(NAME); }
#if IS_TWO
  double padding[4] = {2, 2, 2, 2};  // another size than in the other library
#endif
};

template <typename T>
int& counterOf() {
  static int count = 0;
  return count;
}

inline std::vector<std::string>& log() {
  static std::vector<std::string> entries;
  return entries;
}

static int32_t run(void*, const ts_plugin_host* host, ts_context context, ts_error* error) {
  std::unique_ptr<Base> base = std::make_unique<Pass>();
  auto* pass = dynamic_cast<Pass*>(base.get());
  if (!pass || typeid(*base) != typeid(Pass)) return ts_failure(error, "its own type is not its own");
  log().push_back(pass->name());
  ++Pass::runs;
  ++counterOf<Pass>();
  try {
    throw Pass();
  } catch (const Pass& caught) {
    if (caught.name() != TEXT(NAME)) return ts_failure(error, "it caught the other's exception");
  }
  char text[120];
  std::snprintf(text, sizeof text, "%s: %d %d %zu", pass->name().c_str(), Pass::runs, counterOf<Pass>(), log().size());
  host->remark(context, nullptr, TS_REMARK_NOTE, ts_text("runs"), ts_text(text));
  return 0;
}

extern "C" TS_PLUGIN_EXPORT int32_t TS_PLUGIN_QUERY(const ts_plugin_host*, const ts_plugin** plugin, ts_error*) {
  static const ts_pass pass = {sizeof(ts_pass), 0, "same-" TEXT(NAME), "", nullptr, nullptr, run, nullptr};
  static const ts_pass* const passes[] = {&pass};
  static const ts_plugin table = {sizeof(ts_plugin), TS_PLUGIN_ABI_MAJOR, 0, 1, "test.same." TEXT(NAME), "1", "", passes, nullptr, 0, 0};
  *plugin = &table;
  return 0;
}
