// Any bytes give a module or a diagnostic, and any module can be printed. The text of a valid module
// parses again and then does not change any more.
//
//   fuzz_parser [-max_total_time=60] CORPUS tests/data/ttir/3.9
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "ir/verifier.h"
#include "text/text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tilesight;
  ir::Context context;
  auto module = text::parse(std::string_view(reinterpret_cast<const char*>(data), size), "fuzz", context);
  if (!module) {
    // A diagnostic says what and where.
    if (module.error().message.empty() || !module.error().line) std::abort();
    return 0;
  }
  const bool valid = ir::verify(*module).has_value();
  for (bool generic : {false, true}) {
    text::PrintOptions options;
    options.generic = generic;
    const std::string once = text::print(*module, options);
    if (!valid) continue;
    ir::Context secondContext;
    auto again = text::parse(once, "printed", secondContext);
    if (!again) {
      std::fprintf(stderr, "%s\n----\n%s\n", again.error().str().c_str(), once.c_str());
      std::abort();
    }
    const std::string twice = text::print(*again, options);
    if (once != twice) {
      std::fprintf(stderr, "not a fixpoint\n%s\n----\n%s\n", once.c_str(), twice.c_str());
      std::abort();
    }
  }
  return 0;
}
