#include "tools/output.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "findings/format.h"

namespace tilesight::tools {

bool coloursWanted() {
  const char* off = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  if (off && *off) return false;
  if (terminal && std::strcmp(terminal, "dumb") == 0) return false;
  return isatty(STDERR_FILENO) != 0;
}

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

Status writeWhole(const std::string& path, const std::string& text) {
  if (path == "-") {
    printOut(text);
    return {};
  }
  const std::string temporary = fmt::format("{}.part-{}", path, getpid());
  std::FILE* file = std::fopen(temporary.c_str(), "wb");
  bool good = file && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (file) good = std::fclose(file) == 0 && good;
  if (good && std::rename(temporary.c_str(), path.c_str()) == 0) return {};
  std::remove(temporary.c_str());
  return failure(Diagnostic{path, 0, 0, "cannot be written", "choose another place"});
}

}  // namespace tilesight::tools
