// tilesight view: the visualizer.
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <pthread.h>
#include <spawn.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "server/api.h"
#include "server/guard.h"
#include "server/http.h"
#include "server/page_file.h"
#include "server/workspace.h"
#include "launch/bundle.h"
#include "tools/inputs.h"
#include "tools/options.h"
#include "tools/output.h"

extern char** environ;

namespace tilesight::tools {
namespace {

void openBrowser(const std::string& address) {
  std::string program = "xdg-open", argument = address;
  char* arguments[] = {program.data(), argument.data(), nullptr};
  posix_spawn_file_actions_t quiet;
  posix_spawn_file_actions_init(&quiet);
  posix_spawn_file_actions_addopen(&quiet, 1, "/dev/null", 1 /* O_WRONLY */, 0);
  posix_spawn_file_actions_addopen(&quiet, 2, "/dev/null", 1, 0);
  pid_t child = 0;
  posix_spawnp(&child, program.c_str(), &quiet, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&quiet);
}

/// Does a launch have such a tensor of this shape, with data?
Status someTensorHas(const server::Expectation& expectation, const std::vector<int64_t>& expected, const std::vector<std::string>& bundles) {
  std::optional<Diagnostic> why;
  for (const std::string& bundle : bundles) {
    auto reader = launch::BundleReader::open(bundle);
    for (size_t i = 0; reader && i < reader->launches(); ++i) {
      auto launch = reader->launch(i);
      if (!launch) continue;
      const auto argument = trace::tensorNamed(*launch, expectation.tensor);
      if (!argument) {
        if (!why) why = argument.error();
        continue;
      }
      const launch::Argument& tensor = launch->arguments[*argument];
      const std::vector<int64_t>& shape = tensor.view.shape;
      if (tensor.kind != launch::Argument::Kind::Tensor)
        why = Diagnostic{{}, 0, 0, fmt::format("{} is a tensor descriptor, and the page compares tensors", expectation.tensor), "tilesight show --expect compares it"};
      else if (launch->storages[tensor.view.storage].withheld)
        why = Diagnostic{{}, 0, 0, fmt::format("the data of {} was not saved with {}", expectation.tensor, bundle), {}};
      else if (shape == expected)
        return {};
      else
        why = Diagnostic{{}, 0, 0, fmt::format("{} has the shape ({}), {} holds an array of ({})", expectation.tensor, fmt::join(shape, ", "), expectation.file, fmt::join(expected, ", ")), {}};
    }
  }
  if (!why) why = Diagnostic{{}, 0, 0, "no launch can be read", {}};
  return failure(std::move(*why));
}

/// "out=ref.npy", read, for the launches that have such a tensor. Errors: none has, or none of this shape, or without data.
Result<server::Expectation> expectationOf(const std::string& text, const std::vector<std::string>& bundles) {
  const size_t equals = text.find('=');
  if (equals == text.npos || equals == 0) return failure(fmt::format("--expect: '{}' must be TENSOR=FILE.npy", text));
  server::Expectation expectation{text.substr(0, equals), text.substr(equals + 1), {}};
  auto array = trace::readNpy(expectation.file, [&](const std::vector<int64_t>& shape) { return someTensorHas(expectation, shape, bundles); });
  if (!array) return failure(array.error());
  expectation.array = std::move(*array);
  return expectation;
}

/// Whole or not at all.
int writePage(const std::vector<std::string>& bundles, const ViewOptions& options) {
  server::Workspace workspace(bundles);
  const auto page = server::pageFile(workspace, uint64_t{options.htmlLimit} << 20);
  if (!page) return usageError(page.error().remedy.empty() ? page.error().message : fmt::format("{}; {}", page.error().message, page.error().remedy), "view");
  for (const server::Entry& entry : workspace.entries())
    if (entry.state == server::Entry::State::Failed) printErr(entry.error + "\n");
  const std::string part = options.html + ".part";
  std::ofstream out(part, std::ios::binary);
  out.write(page->html.data(), static_cast<std::streamsize>(page->html.size()));
  out.close();
  std::error_code error;
  if (out) std::filesystem::rename(part, options.html, error);
  if (!out || error) {
    std::filesystem::remove(part, error);
    return usageError(fmt::format("{} cannot be written", options.html), "view");
  }
  printErr(fmt::format("tilesight view: {} ({:.1f} MB): {}\n", options.html, static_cast<double>(page->html.size()) / 1e6, page->note));
  return 0;
}

}  // namespace

int view(const ViewOptions& options) {
  std::vector<std::string> bundles;
  for (const std::string& file : options.files) {
    const auto found = bundlesAt(file);
    if (!found) {
      printError(found.error());
      return 2;
    }
    bundles.insert(bundles.end(), found->begin(), found->end());
  }
  std::vector<server::Expectation> expectations;
  for (const std::string& text : options.expect) {
    auto expectation = expectationOf(text, bundles);
    if (!expectation) {
      printError(expectation.error());
      return 2;
    }
    expectations.push_back(std::move(*expectation));
  }
  if (!options.html.empty()) return expectations.empty() ? writePage(bundles, options) : usageError("--html shows no --expect", "view");
  // SIGINT and SIGTERM end the server; a thread of its own waits for them.
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);

  server::Workspace workspace(bundles);
  for (server::Expectation& expectation : expectations) workspace.expect(std::move(expectation));
  const server::Guard guard;
  auto http = server::HttpServer::listen(options.port, [&](const server::Request& request) {
    if (auto refused = guard.stop(request)) return *refused;
    return server::answer(workspace, request);
  });
  if (!http) return usageError(fmt::format("{}; {}", http.error().message, http.error().remedy), "view");
  const int port = (*http)->port();
  const std::string address = fmt::format("http://127.0.0.1:{}/?token={}", port, guard.token());
  printErr(fmt::format("tilesight view: {}\n", address));
  if (std::getenv("SSH_CONNECTION"))
    printErr(fmt::format("over SSH, on your own machine: ssh -L {0}:127.0.0.1:{0} THIS-MACHINE, then open the address\n", port));
  else if (options.browser)
    openBrowser(address);
  printErr("Ctrl-C ends it\n");
  int signal = 0;
  sigwait(&ends, &signal);
  (*http)->stop();
  (*http)->wait();
  return 0;
}

}  // namespace tilesight::tools
