#include <dlfcn.h>

#include <filesystem>

#include <fmt/format.h>

#include "plugins/dynamic.h"

namespace tilesight::plugins {

const char* const librarySuffix = ".so";
const char pathSeparator = ':';

namespace {

uint64_t numberAt(const std::string& bytes, uint64_t at, unsigned size) {
  uint64_t number = 0;
  for (unsigned i = size; i-- > 0;) number = number << 8 | static_cast<uint8_t>(bytes[at + i]);
  return number;
}

/// True if the file ends before what its program headers (of 64 bits) say is in it. `dlopen` would map what is not there, and the
/// process would end at the first look at it.
bool isCutOff(const std::string& bytes) {
  constexpr uint64_t kHeader = 56;
  const uint64_t at = numberAt(bytes, 32, 8), each = numberAt(bytes, 54, 2), count = numberAt(bytes, 56, 2);
  if (each < kHeader || at > bytes.size() || count * each > bytes.size() - at) return true;
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t offset = numberAt(bytes, at + i * each + 8, 8), size = numberAt(bytes, at + i * each + 32, 8);
    if (offset > bytes.size() || size > bytes.size() - offset) return true;
  }
  return false;
}

}  // namespace

std::string wrongFile(const std::string& bytes) {
  if (bytes.size() < 64 || bytes.compare(0, 4, "\x7f" "ELF") != 0) return "is not a shared library";
  const uint64_t type = numberAt(bytes, 16, 2), machine = numberAt(bytes, 18, 2);
  const auto machineName = [](uint64_t number) {
    return number == 62 ? std::string("x86-64") : number == 183 ? "aarch64" : number == 3 ? "x86 (32 bits)" : number == 243 ? "RISC-V" : fmt::format("machine {}", number);
  };
#if defined(__x86_64__)
  constexpr uint64_t own = 62;
#elif defined(__aarch64__)
  constexpr uint64_t own = 183;
#else
  const uint64_t own = machine;
#endif
  if (machine != own) return fmt::format("is for {}, this is {}", machineName(machine), machineName(own));
  if (bytes[4] != 2) return "is for 32 bits, this is for 64";
  if (type != 3) return "is an ELF file, but no shared library";
  if (isCutOff(bytes)) return "is cut off: it ends before what it says is in it";
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
