#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/prctl.h>
#endif

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>

#include <fmt/format.h>

#include "support/child.h"

namespace tilesight::support {

namespace {

using Clock = std::chrono::steady_clock;

// What goes through the pipe: a letter, the number of bytes, the bytes.
constexpr char kBegins = 'b', kResult = 'r', kThrew = 't';
constexpr size_t kHead = 1 + sizeof(uint64_t);
constexpr uint64_t kMost = uint64_t{4} << 30;

void send(int pipe, char kind, const std::string& bytes) {
  std::string all(kHead, kind);
  const uint64_t size = bytes.size();
  std::memcpy(all.data() + 1, &size, sizeof size);
  all += bytes;
  for (size_t at = 0; at < all.size();) {
    const ssize_t written = write(pipe, all.data() + at, all.size() - at);
    if (written < 0 && errno != EINTR) _exit(111);  // nobody listens any more
    if (written > 0) at += static_cast<size_t>(written);
  }
}

[[noreturn]] void beTheChild(int pipe, const std::function<std::string(const Begins&)>& work) {
#if defined(__linux__)
  prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTERM}) ::signal(signal, SIG_DFL);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  try {
    const std::string result = work([&](const std::string& what) { send(pipe, kBegins, what); });
    std::fflush(nullptr);
    send(pipe, kResult, result);
  } catch (const std::exception& error) {
    send(pipe, kThrew, error.what());
  } catch (...) {
    send(pipe, kThrew, "of a type that is not known");
  }
  _exit(0);  // no destructors of the parent's things, none of what was loaded
}

/// What is read from the pipe, cut into messages.
class Messages {
 public:
  void add(const char* bytes, size_t count) { bytes_.append(bytes, count); }
  /// The next whole message; 0 if there is none yet, '?' if what came is none.
  char next(std::string& out) {
    if (bytes_.size() < kHead) return 0;
    uint64_t size = 0;
    std::memcpy(&size, bytes_.data() + 1, sizeof size);
    const char kind = bytes_[0];
    if ((kind != kBegins && kind != kResult && kind != kThrew) || size > kMost) return '?';
    if (bytes_.size() - kHead < size) return 0;
    out = bytes_.substr(kHead, size);
    bytes_.erase(0, kHead + size);
    return kind;
  }

 private:
  std::string bytes_;
};

std::string howItEnded(int status) {
  if (WIFSIGNALED(status)) return fmt::format("crashed with signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
  return fmt::format("ended the process with exit status {}", WEXITSTATUS(status));
}

int waitFor(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

/// True if the child has ended; it is still to be waited for.
bool hasEnded(pid_t child) {
  siginfo_t state{};
  return waitid(P_PID, static_cast<id_t>(child), &state, WEXITED | WNOHANG | WNOWAIT) == 0 && state.si_pid == child;
}

}  // namespace

const bool canRunInChild = true;

Result<std::string> runInChild(const std::function<std::string(const Begins&)>& work, double seconds) {
  int ends[2];
  std::fflush(nullptr);  // else the child has what is not yet written, too
  if (pipe(ends) != 0) return failure(fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  fcntl(ends[0], F_SETFD, FD_CLOEXEC);
  fcntl(ends[1], F_SETFD, FD_CLOEXEC);
  const pid_t child = fork();
  if (child < 0) {
    const int error = errno;
    close(ends[0]);
    close(ends[1]);
    return failure(fmt::format("cannot start a process: {}", std::strerror(error)));
  }
  if (child == 0) {
    close(ends[0]);
    beTheChild(ends[1], work);
  }
  close(ends[1]);

  std::string doing = "the process";
  const auto limit = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  auto deadline = Clock::now() + limit;
  Messages messages;
  std::string bytes(1 << 16, '\0'), message;
  const auto finished = [&](Result<std::string> result) {
    kill(child, SIGKILL);
    waitFor(child);
    close(ends[0]);
    return result;
  };
  bool open = true;
  for (;;) {
    while (const char kind = messages.next(message)) {
      if (kind == kResult) return finished(std::move(message));
      if (kind == kThrew) return finished(failure(fmt::format("{} threw an exception: {}", doing, message)));
      if (kind == '?') return finished(failure(fmt::format("{} sent what is no answer", doing)));
      doing = message;
      deadline = Clock::now() + limit;
    }
    // A pipe that is closed is no child that has ended: what runs there may close what it likes.
    if (!open && hasEnded(child)) {
      close(ends[0]);
      return failure(fmt::format("{} {}", doing, howItEnded(waitFor(child))));
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return finished(failure(fmt::format("{} did not return within {:g} s and was stopped", doing, seconds)));
    if (!open) {
      poll(nullptr, 0, 5);
      continue;
    }
    pollfd one{ends[0], POLLIN, 0};
    // In slices: a grandchild may keep the pipe open when the child is gone.
    const int ready = poll(&one, 1, static_cast<int>(std::min<int64_t>(left, 100)));
    if (ready > 0) {
      const ssize_t count = read(ends[0], bytes.data(), bytes.size());
      if (count > 0) messages.add(bytes.data(), static_cast<size_t>(count));
      else if (count == 0 || errno != EINTR) open = false;
    } else if (ready == 0 && hasEnded(child)) {
      pollfd again{ends[0], POLLIN, 0};
      if (poll(&again, 1, 0) <= 0) open = false;
    }
  }
}

}  // namespace tilesight::support
