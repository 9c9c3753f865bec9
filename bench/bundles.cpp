// Saves and loads a bundle with one large storage of noise, and the same bytes as a plain file:
// `bench_bundles FOLDER MEGABYTES` prints seconds as a JSON object, and how much memory a load touches.
#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>
#include <string>

#include <fmt/format.h>

#include "launch/bundle.h"
#include "launch/memory.h"

using namespace tilesight;

namespace {

template <typename Work>
double secondsOf(Work work) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

[[noreturn]] void fail(const std::string& message) {
  fmt::print(stderr, "{}\n", message);
  std::exit(2);
}

uint64_t residentBytes() {
  uint64_t all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

void plainWrite(const std::string& path, const uint8_t* data, uint64_t bytes) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0600);
  for (uint64_t at = 0; at < bytes;) {
    const ssize_t count = write(file, data + at, std::min<uint64_t>(bytes - at, 1 << 20));
    if (count <= 0) fail("the plain file cannot be written");
    at += static_cast<uint64_t>(count);
  }
  close(file);
}

void plainRead(const std::string& path, uint8_t* data, uint64_t bytes) {
  const int file = open(path.c_str(), O_RDONLY);
  for (uint64_t at = 0; at < bytes;) {
    const ssize_t count = read(file, data + at, std::min<uint64_t>(bytes - at, 1 << 20));
    if (count <= 0) fail("the plain file cannot be read");
    at += static_cast<uint64_t>(count);
  }
  close(file);
}

std::shared_ptr<uint8_t> memoryFor(uint64_t bytes) {
  auto memory = launch::allocate(bytes);
  if (!memory) fail(memory.error().message);
  return *memory;
}

launch::Launch launchOf(uint8_t* data, uint64_t bytes) {
  launch::Launch launch;
  launch.kernel = "kernel";
  launch.irText = "module {}";
  launch.irName = "kernel.ttir";
  launch.config = "{}";
  launch.storages.push_back({.data = data, .bytes = bytes, .recordedBase = 4096, .name = "x"});
  launch::Argument x;
  x.name = "x";
  x.kind = launch::Argument::Kind::Tensor;
  x.view.element = ir::ElementKind::F32;
  x.view.dtype = "float32";
  x.view.shape = {static_cast<int64_t>(bytes / 4)};
  x.view.strides = {1};
  launch.arguments.push_back(x);
  return launch;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) fail("bench_bundles FOLDER MEGABYTES");
  const std::string plain = std::string(argv[1]) + "/plain.bin", bundle = std::string(argv[1]) + "/bundle.tsb";
  const uint64_t bytes = static_cast<uint64_t>(std::atoll(argv[2])) << 20;
  const auto data = memoryFor(bytes);
  std::mt19937_64 random(1);
  for (uint64_t at = 0; at < bytes; at += 8) {
    const uint64_t word = random();
    std::memcpy(data.get() + at, &word, 8);
  }

  const double written = secondsOf([&] { plainWrite(plain, data.get(), bytes); });
  const double saved = secondsOf([&] {
    auto writer = launch::BundleWriter::open(bundle);
    if (!writer) fail(writer.error().message);
    if (const Status added = writer->add(launchOf(data.get(), bytes)); !added) fail(added.error().message);
    if (const Status done = writer->finish(); !done) fail(done.error().message);
  });
  const double read = secondsOf([&] { plainRead(plain, memoryFor(bytes).get(), bytes); });
  const uint64_t before = residentBytes();
  uint64_t touched = 0;
  const double loaded = secondsOf([&] {
    auto reader = launch::BundleReader::open(bundle);
    if (!reader) fail(reader.error().message);
    const auto launch = reader->launch(0);
    if (!launch) fail(launch.error().message);
    touched = residentBytes() - before;
    if (std::memcmp(launch->storages[0].data, data.get(), 4096) != 0) fail("the bundle has other bytes");
  });
  const double used = secondsOf([&] {  // and every byte read
    auto reader = launch::BundleReader::open(bundle);
    const auto launch = reader ? reader->launch(0) : failure(reader.error());
    if (!launch) fail(launch.error().message);
    if (std::memcmp(launch->storages[0].data, data.get(), bytes) != 0) fail("the bundle has other bytes");
  });
  fmt::print("{{\"bytes\": {}, \"written\": {:.6f}, \"saved\": {:.6f}, \"read\": {:.6f}, \"loaded\": {:.6f}, \"used\": {:.6f}, \"touched\": {}}}\n",
             bytes, written, saved, read, loaded, used, touched);
  return 0;
}
