// Parses MLIR files and writes what the printer makes of them: the tool behind the round-trip tests.
//
//   text_print [--generic] [--no-locations] [--output-dir DIR] FILE...
//
// With --output-dir, each file goes to DIR under its own path; else to standard output.
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "ir/verifier.h"
#include "text/text.h"

int main(int argc, char** argv) {
  using namespace tilesight;
  text::PrintOptions options;
  std::string outputDir;
  int failures = 0;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--generic") {
      options.generic = true;
    } else if (argument == "--no-locations") {
      options.locations = false;
    } else if (argument == "--output-dir" && i + 1 < argc) {
      outputDir = argv[++i];
    } else {
      std::ifstream in(argument, std::ios::binary);
      std::stringstream content;
      content << in.rdbuf();
      ir::Context context;
      auto module = text::parse(content.str(), argument, context);
      Status status = module ? ir::verify(*module) : Status(tl::unexpected<Diagnostic>(module.error()));
      if (!in || !status) {
        std::fprintf(stderr, "%s\n", in ? status.error().str().c_str() : (argument + ": cannot be read").c_str());
        ++failures;
        continue;
      }
      const std::string printed = text::print(*module, options);
      if (outputDir.empty()) {
        std::fwrite(printed.data(), 1, printed.size(), stdout);
      } else {
        std::filesystem::path target = std::filesystem::path(outputDir) / std::filesystem::path(argument).relative_path();
        std::filesystem::create_directories(target.parent_path());
        std::ofstream(target, std::ios::binary) << printed;
      }
    }
  }
  return failures ? 1 : 0;
}
