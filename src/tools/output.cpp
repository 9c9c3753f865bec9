#include "tools/output.h"

#include <cstdio>

#include <fmt/format.h>

#include "findings/format.h"

namespace tilesight::tools {

void printOut(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

void printErr(const std::string& text) {
  std::fflush(stdout);
  std::fwrite(text.data(), 1, text.size(), stderr);
}

void printError(const Diagnostic& error) { printErr(findings::printable(error.str()) + "\n"); }

int usageError(const std::string& message, const std::string& command) {
  printErr(fmt::format("tilesight: error: {} (see tilesight {}--help)\n", findings::printable(message),
                       command.empty() ? "" : command + " "));
  return 2;
}

}  // namespace tilesight::tools
