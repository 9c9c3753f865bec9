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
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>

#include <fmt/format.h>

#include "support/child.h"
#include "support/conversation.h"

namespace tilesight::support {

namespace {

void send(int pipe, Message kind, const std::string& bytes) {
  const std::string all = packed(kind, bytes);
  for (size_t at = 0; at < all.size();) {
    const ssize_t written = write(pipe, all.data() + at, all.size() - at);
    if (written < 0 && errno != EINTR) _exit(111);  // nobody listens any more
    if (written > 0) at += static_cast<size_t>(written);
  }
}

/// Does the work and says what came of it.
void answer(int pipe, const std::function<std::string(const Begins&)>& work) {
  try {
    const std::string result = work([&](const std::string& what) { send(pipe, Message::Begins, what); });
    std::fflush(nullptr);
    send(pipe, Message::Result, result);
  } catch (const std::exception& error) {
    send(pipe, Message::Threw, error.what());
  } catch (...) {
    send(pipe, Message::Threw, "of a type that is not known");
  }
}

/// In the child: it goes when its parent goes, and leaves no file behind when it crashes.
void beTheChild() {
#if defined(__linux__)
  prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTERM, SIGINT}) ::signal(signal, SIG_DFL);
}

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

/// True if the child has ended; it is still to be waited for, unless somebody else has done so (SIGCHLD is ignored).
bool hasEnded(pid_t child) {
  siginfo_t state{};
  if (waitid(P_PID, static_cast<id_t>(child), &state, WEXITED | WNOHANG | WNOWAIT) != 0) return errno == ECHILD;
  return state.si_pid == child;
}

/// Until the result is there, the child has ended, or it is late. Closes the pipe and ends the child.
Result<std::string> listen(pid_t child, int pipe, Conversation conversation) {
  std::string bytes(1 << 16, '\0');
  const auto finished = [&](Result<std::string> result) {
    kill(child, SIGKILL);
    waitFor(child);
    close(pipe);
    return result;
  };
  bool open = true;
  for (;;) {
    if (auto outcome = conversation.outcome()) return finished(std::move(*outcome));
    // A pipe that is closed is no child that has ended: what runs there may close what it likes.
    if (!open && hasEnded(child)) {
      close(pipe);
      return conversation.ended(howItEnded(waitFor(child)));
    }
    const int64_t left = conversation.millisecondsLeft();
    if (left <= 0) return finished(conversation.isLate());
    if (!open) {
      poll(nullptr, 0, 5);
      continue;
    }
    pollfd one{pipe, POLLIN, 0};
    // In slices: a grandchild may keep the pipe open when the child is gone.
    const int ready = poll(&one, 1, static_cast<int>(std::min<int64_t>(left, 100)));
    if (ready > 0) {
      const ssize_t count = read(pipe, bytes.data(), bytes.size());
      if (count > 0) conversation.add(bytes.data(), static_cast<size_t>(count));
      else if (count == 0 || errno != EINTR) open = false;
    } else if (ready == 0 && hasEnded(child)) {
      pollfd again{pipe, POLLIN, 0};
      if (poll(&again, 1, 0) <= 0) open = false;
    }
  }
}

/// A child that does `inChild` with the end of a pipe to write to, and what it says.
Result<std::string> listenToChild(Conversation conversation, const std::function<void(int pipe)>& inChild) {
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
    beTheChild();
    inChild(ends[1]);
    _exit(0);  // no destructors of the parent's things, none of what was loaded
  }
  close(ends[1]);
  return listen(child, ends[0], std::move(conversation));
}

}  // namespace

const bool canCopyProcess = true;

Result<std::string> runInCopy(const std::function<std::string(const Begins&)>& work, double seconds) {
  return listenToChild(Conversation(seconds, false), [&](int pipe) {
    dup2(STDERR_FILENO, STDOUT_FILENO);
    answer(pipe, work);
  });
}

Result<std::string> runProgram(const std::vector<std::string>& command, const std::string& request, double seconds) {
  // In a file: nobody has to write while the other one reads.
  std::FILE* input = std::tmpfile();
  if (!input) return failure(fmt::format("cannot make a temporary file: {}", std::strerror(errno)));
  const bool written = std::fwrite(request.data(), 1, request.size(), input) == request.size() && std::fflush(input) == 0 && lseek(fileno(input), 0, SEEK_SET) == 0;
  std::vector<char*> arguments;
  for (const std::string& one : command) arguments.push_back(const_cast<char*>(one.c_str()));
  arguments.push_back(nullptr);
  Result<std::string> result = failure("cannot write a temporary file");
  if (written)
    result = listenToChild(Conversation(seconds, true), [&](int pipe) {
      dup2(fileno(input), STDIN_FILENO);
      dup2(pipe, STDOUT_FILENO);
      execv(arguments[0], arguments.data());
      send(pipe, Message::Threw, fmt::format("{} cannot be started: {}", command[0], std::strerror(errno)));
    });
  std::fclose(input);
  return result;
}

int answerParent(const std::function<std::string(const std::string& request, const Begins&)>& work) {
  const int pipe = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  std::string request, bytes(1 << 16, '\0');
  for (ssize_t count; (count = read(STDIN_FILENO, bytes.data(), bytes.size())) != 0;) {
    if (count < 0 && errno != EINTR) return 2;
    if (count > 0) request.append(bytes, 0, static_cast<size_t>(count));
  }
  answer(pipe, [&](const Begins& begins) { return work(request, begins); });
  return 0;
}

std::string ownProgram() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).string();
}

}  // namespace tilesight::support
