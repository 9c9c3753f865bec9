// Times the engine alone, without Python: `bench_engine BUNDLE [THREADS [CLIENTS [SECONDS]]]` prints a JSON
// object for each launch of the bundle, with the least seconds of a run. CLIENTS are comma-separated.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <limits>

#include <fmt/format.h>

#include "exec/run.h"
#include "findings/format.h"
#include "launch/bundle.h"
#include "tools/client_names.h"

using namespace tilesight;

namespace {

struct Setting {
  unsigned threads = 2;
  std::string clients = "sanitizer,tracer";
  double seconds = 1;
};

Status timed(const launch::Launch& launch, const Setting& setting) {
  using Clock = std::chrono::steady_clock;
  const auto kernel = exec::compile(launch.irText, launch.irName);
  if (!kernel) return tl::unexpected(kernel.error());
  const auto clients = tools::clientsNamed(findings::commaSeparated(setting.clients));
  if (!clients) return tl::unexpected(clients.error());
  double least = std::numeric_limits<double>::max(), total = 0;
  int rounds = 0;
  for (; rounds < 3 || total < setting.seconds; ++rounds) {
    const auto start = Clock::now();
    const auto report = exec::run(**kernel, launch, {.clients = *clients, .threads = setting.threads});
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    if (!report) return tl::unexpected(report.error());
    least = std::min(least, seconds);
    total += seconds;
  }
  fmt::print("{{\"kernel\": \"{}\", \"threads\": {}, \"clients\": \"{}\", \"seconds\": {:.9f}, \"rounds\": {}}}\n", launch.kernel,
             setting.threads, setting.clients, least, rounds);
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return fmt::print(stderr, "bench_engine BUNDLE [THREADS [CLIENTS [SECONDS]]]\n"), 2;
  Setting setting;
  if (argc > 2) setting.threads = static_cast<unsigned>(std::atoi(argv[2]));
  if (argc > 3) setting.clients = argv[3];
  if (argc > 4) setting.seconds = std::atof(argv[4]);
  const auto bundle = launch::BundleReader::open(argv[1]);
  if (!bundle) return fmt::print(stderr, "{}\n", bundle.error().message), 2;
  for (size_t i = 0; i < bundle->launches(); ++i) {
    const auto launch = bundle->launch(i);
    if (!launch) return fmt::print(stderr, "{}\n", launch.error().message), 2;
    if (const Status status = timed(*launch, setting); !status) return fmt::print(stderr, "{}\n", status.error().message), 2;
  }
  return 0;
}
