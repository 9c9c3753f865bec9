// tilesight run and migrate: hand over to the Python package.
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "tools/options.h"
#include "tools/output.h"

extern char** environ;

namespace tilesight::tools {
namespace {

constexpr const char* runHelp =
    "usage: tilesight run [options] (script.py | -m module | pytest ... | -- command) [args]\n"
    "\n"
    "Runs a program unmodified, captures every kernel launch in it, and checks them. Needs Python\n"
    "with the tilesight package; all options are in the help that it prints.\n"
    "\n"
    "Example:\n"
    "  tilesight run examples/triton/attention.py\n";

constexpr const char* migrateHelp =
    "usage: tilesight migrate block-ptr FILE.py [--write | --check] [--prove [-- ARGUMENTS]]\n"
    "\n"
    "Rewrites block pointers, which Triton 3.9 has removed. Needs Python with the tilesight package; all\n"
    "options are in the help that it prints.\n"
    "\n"
    "Example:\n"
    "  tilesight migrate block-ptr attention.py --write --prove\n";

/// $TILESIGHT_PYTHON, else the active virtual environment's, else the first in PATH.
std::string pythonName() {
  if (const char* named = std::getenv("TILESIGHT_PYTHON"); named && *named) return named;
  if (const char* venv = std::getenv("VIRTUAL_ENV"); venv && *venv) {
    const std::string path = std::string(venv) + "/bin/python3";
    if (access(path.c_str(), X_OK) == 0) return path;
  }
  return "python3";
}

/// Exit status of `python -c code`; -1 if it cannot be started.
int statusOf(const std::string& python, const char* code) {
  const char* arguments[] = {python.c_str(), "-c", code, nullptr};
  pid_t child = 0;
  if (posix_spawnp(&child, python.c_str(), nullptr, nullptr, const_cast<char**>(arguments), environ) != 0)
    return -1;
  int status = 0;
  if (waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

}  // namespace

int runPython(const char* name, int count, char** arguments) {
  const std::string python = pythonName();
  const int found = statusOf(
      python, "import importlib.util, sys; sys.exit(importlib.util.find_spec('tilesight') is None)");
  if (found != 0) {
    if (count && (!std::strcmp(arguments[0], "--help") || !std::strcmp(arguments[0], "-h"))) {
      printOut(!std::strcmp(name, "run") ? runHelp : migrateHelp);
      return 0;
    }
    const std::string why =
        found == 1 ? fmt::format("{} has no tilesight module", python)
                   : fmt::format("{} cannot be started", python);
    return usageError(fmt::format("{}: `{}` needs it; install it there with pip, "
                                  "or set TILESIGHT_PYTHON to a Python that has it",
                                  why, name),
                      name);
  }
  std::vector<char*> command{const_cast<char*>(python.c_str()), const_cast<char*>("-m"),
                             const_cast<char*>("tilesight"), const_cast<char*>(name)};
  command.insert(command.end(), arguments, arguments + count);
  command.push_back(nullptr);
  execvp(python.c_str(), command.data());
  return usageError(fmt::format("{} cannot be started", python), name);
}

}  // namespace tilesight::tools
