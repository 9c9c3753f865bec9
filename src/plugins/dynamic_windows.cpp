#include <windows.h>

#include <fmt/format.h>

#include "plugins/dynamic.h"

namespace tilesight::plugins {

const char* const librarySuffix = ".dll";
const char pathSeparator = ';';

std::string wrongFile(const std::string& bytes) {
  const auto byte = [&](size_t at) { return at < bytes.size() ? static_cast<unsigned>(static_cast<uint8_t>(bytes[at])) : 0u; };
  if (bytes.size() < 64 || bytes.compare(0, 2, "MZ") != 0) return "is not a DLL";
  const size_t header = byte(60) | byte(61) << 8 | byte(62) << 16 | byte(63) << 24;
  if (header + 26 > bytes.size() || bytes.compare(header, 4, std::string("PE\0\0", 4)) != 0) return "is not a DLL";
  const unsigned machine = byte(header + 4) | byte(header + 5) << 8, facts = byte(header + 22) | byte(header + 23) << 8;
  if (machine != 0x8664) return fmt::format("is for machine {:#x}, this is x86-64", machine);
  if (!(facts & 0x2000)) return "is a program, no DLL";
  return {};
}

Result<void*> loadLibrary(const std::string& path) {
  if (HMODULE handle = LoadLibraryA(path.c_str())) return reinterpret_cast<void*>(handle);
  const DWORD error = GetLastError();
  switch (error) {
    case ERROR_MOD_NOT_FOUND: return failure("a DLL that it needs cannot be found (Windows error 126)");
    case ERROR_PROC_NOT_FOUND: return failure("a DLL that it needs lacks a function that it calls (Windows error 127)");
    case ERROR_BAD_EXE_FORMAT: return failure("it is damaged (Windows error 193)");
    default: return failure(fmt::format("Windows error {}", error));
  }
}

void* findFunction(void* library, const char* name) {
  return reinterpret_cast<void*>(GetProcAddress(reinterpret_cast<HMODULE>(library), name));
}

std::string ownFile() {
  static const char here = 0;
  HMODULE module = nullptr;
  char path[4096];
  if (!GetModuleHandleExA(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT, &here, &module)) return {};
  const DWORD size = GetModuleFileNameA(module, path, sizeof path);
  return std::string(path, size < sizeof path ? size : 0);
}

}  // namespace tilesight::plugins
