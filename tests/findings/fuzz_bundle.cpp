// libFuzzer target: any bytes as a bundle. Build with clang and -DTILESIGHT_FUZZ=ON.
//
// A zip protects its entries by checksums, so that random changes rarely get through it. Input that
// begins with '{' is therefore taken as the two manifests, with a zero byte between them.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <string>

#include "launch/bundle.h"
#include "launch/file.h"
#include "launch/manifest.h"
#include "launch/zip_offsets.h"

using namespace tilesight::launch;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size && data[0] == '{') {
    const std::string text(reinterpret_cast<const char*>(data), size);
    const size_t split = text.find('\0');
    const auto bundle = parseBundleManifest(text.substr(0, split));
    if (!bundle || split == text.npos) return 0;
    const auto launch = parseLaunchManifest(text.substr(split + 1), *bundle);
    if (!launch) return 0;
    // What was accepted must survive being written and read again.
    const auto again = parseLaunchManifest(writeManifest(*launch), *bundle);
    if (!again || writeManifest(*again) != writeManifest(*launch)) __builtin_trap();
    return 0;
  }
  const File file(memfd_create("zip", MFD_CLOEXEC));
  if (write(file.number(), data, size) == static_cast<ssize_t>(size))
    for (const auto& [name, offset] : zipOffsets(file.number()))
      if (offset < name.size()) __builtin_trap();  // the name is in front of the bytes
  const auto reader = BundleReader::openBytes({data, size}, "fuzz.tsb");
  if (!reader) return 0;
  for (size_t i = 0; i < reader->launches(); ++i) {
    const auto launch = reader->launch(i);
    if (!launch) continue;
    for (const Storage& storage : launch->storages)
      if (storage.bytes) storage.data[storage.bytes - 1] = 1;
  }
  return 0;
}
