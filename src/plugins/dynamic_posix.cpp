#include <dlfcn.h>

#include <filesystem>

#include <fmt/format.h>

#include "plugins/dynamic.h"

namespace tilesight::plugins {

const char* const librarySuffix = ".so";
const char pathSeparator = ':';

std::string wrongFile(const std::string& bytes) {
  if (bytes.size() < 64 || bytes.compare(0, 4, "\x7f" "ELF") != 0) return "is not a shared library";
  const auto half = [&](size_t at) { return static_cast<unsigned>(static_cast<uint8_t>(bytes[at])) | static_cast<unsigned>(static_cast<uint8_t>(bytes[at + 1])) << 8; };
  const unsigned type = half(16), machine = half(18);
  const auto machineName = [](unsigned number) {
    return number == 62 ? std::string("x86-64") : number == 183 ? "aarch64" : number == 3 ? "x86 (32 bits)" : number == 243 ? "RISC-V" : fmt::format("machine {}", number);
  };
#if defined(__x86_64__)
  constexpr unsigned own = 62;
#elif defined(__aarch64__)
  constexpr unsigned own = 183;
#else
  const unsigned own = machine;
#endif
  if (bytes[4] != 2 || machine != own) return fmt::format("is for {}, this is {}", machineName(machine), machineName(own));
  if (type != 3) return "is an ELF file, but no shared library";
  return {};
}

Result<void*> loadLibrary(const std::string& path) {
  if (void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
  const char* why = dlerror();
  return failure(why ? why : "no reason given");
}

void* findFunction(void* library, const char* name) { return dlsym(library, name); }

std::string ownFile() {
  static const char here = 0;
  Dl_info info;
  if (!dladdr(&here, &info) || !info.dli_fname) return {};
  const std::filesystem::path file = info.dli_fname;
  std::error_code error;
  // A program that was found by the shell has a name without its folder.
  return (file.has_parent_path() ? std::filesystem::absolute(file, error) : std::filesystem::read_symlink("/proc/self/exe", error)).string();
}

}  // namespace tilesight::plugins
