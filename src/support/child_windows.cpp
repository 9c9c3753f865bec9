// Windows has no copy of a process; a program can be started.
#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#include <windows.h>

#include <fcntl.h>
#include <io.h>

#include <algorithm>
#include <cstdio>
#include <exception>

#include <fmt/format.h>

#include "support/child.h"
#include "support/conversation.h"

namespace tilesight::support {

namespace {

/// A handle that is closed.
class Handle {
 public:
  explicit Handle(HANDLE handle = nullptr) : handle_(handle) {}
  ~Handle() { close(); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  HANDLE get() const { return handle_; }
  HANDLE* out() { return &handle_; }
  explicit operator bool() const { return handle_ && handle_ != INVALID_HANDLE_VALUE; }
  void close() {
    if (*this) CloseHandle(handle_);
    handle_ = nullptr;
  }

 private:
  HANDLE handle_;
};

tl::unexpected<Diagnostic> cannot(const char* what) { return failure(fmt::format("cannot {}: Windows error {}", what, GetLastError())); }

std::string howItEnded(DWORD code) {
  switch (code) {
    case static_cast<DWORD>(EXCEPTION_ACCESS_VIOLATION): return "crashed (access violation)";
    case static_cast<DWORD>(EXCEPTION_STACK_OVERFLOW): return "crashed (stack overflow)";
    case static_cast<DWORD>(EXCEPTION_ILLEGAL_INSTRUCTION): return "crashed (illegal instruction)";
    case static_cast<DWORD>(EXCEPTION_INT_DIVIDE_BY_ZERO): return "crashed (integer division by zero)";
    default: return code >= 0xc0000000 ? fmt::format("crashed (exception {:#x})", code) : fmt::format("ended the process with exit status {}", code);
  }
}

/// A file in the folder for temporary files, which a child can inherit, and which is gone when it is closed.
HANDLE inheritedFile(SECURITY_ATTRIBUTES& inherited) {
  char folder[MAX_PATH + 1], name[MAX_PATH + 1];
  if (!GetTempPathA(sizeof folder, folder) || !GetTempFileNameA(folder, "ts", 0, name)) return INVALID_HANDLE_VALUE;
  return CreateFileA(name, GENERIC_READ | GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_DELETE, &inherited, CREATE_ALWAYS, FILE_ATTRIBUTE_TEMPORARY | FILE_FLAG_DELETE_ON_CLOSE, nullptr);
}

bool writeAll(HANDLE file, const std::string& bytes) {
  for (size_t at = 0; at < bytes.size();) {
    const DWORD some = static_cast<DWORD>(std::min<size_t>(bytes.size() - at, 1 << 20));
    DWORD written = 0;
    if (!WriteFile(file, bytes.data() + at, some, &written, nullptr) || !written) return false;
    at += written;
  }
  return true;
}

/// Until the result is there, the child has ended, or it is late.
Result<std::string> listen(HANDLE child, HANDLE pipe, Conversation conversation) {
  std::string bytes(1 << 16, '\0');
  const auto read = [&] {  // what is there now; false if there is nothing
    DWORD there = 0, count = 0;
    if (!PeekNamedPipe(pipe, nullptr, 0, nullptr, &there, nullptr) || !there) return false;
    if (!ReadFile(pipe, bytes.data(), static_cast<DWORD>(std::min<size_t>(there, bytes.size())), &count, nullptr) || !count) return false;
    conversation.add(bytes.data(), count);
    return true;
  };
  const auto finished = [&](Result<std::string> result) {
    TerminateProcess(child, 1);
    WaitForSingleObject(child, INFINITE);
    return result;
  };
  for (;;) {
    // Asked before the pipe is read: what the child wrote before it ended is then there.
    const bool over = WaitForSingleObject(child, 0) == WAIT_OBJECT_0;
    const bool some = read();
    if (auto outcome = conversation.outcome()) return finished(std::move(*outcome));
    if (some) continue;
    if (over) {
      DWORD code = 0;
      GetExitCodeProcess(child, &code);
      return conversation.ended(howItEnded(code));
    }
    if (conversation.millisecondsLeft() <= 0) return finished(conversation.isLate());
    WaitForSingleObject(child, 2);
  }
}

void send(int pipe, Message kind, const std::string& bytes) {
  const std::string all = packed(kind, bytes);
  for (size_t at = 0; at < all.size();) {
    const int written = _write(pipe, all.data() + at, static_cast<unsigned>(std::min<size_t>(all.size() - at, 1 << 20)));
    if (written <= 0) TerminateProcess(GetCurrentProcess(), 111);  // nobody listens any more
    at += static_cast<size_t>(written);
  }
}

/// Instead of a window that asks what to do.
LONG WINAPI endWithItsCode(EXCEPTION_POINTERS* what) {
  TerminateProcess(GetCurrentProcess(), what->ExceptionRecord->ExceptionCode);
  return EXCEPTION_EXECUTE_HANDLER;
}

}  // namespace

const bool canCopyProcess = false;

Result<std::string> runInCopy(const std::function<std::string(const Begins&)>&, double) { return failure("Windows cannot copy a process"); }

Result<std::string> runProgram(const std::vector<std::string>& command, const std::string& request, double seconds) {
  SECURITY_ATTRIBUTES inherited{sizeof(SECURITY_ATTRIBUTES), nullptr, TRUE};
  const Handle input(inheritedFile(inherited));
  if (!input || !writeAll(input.get(), request)) return cannot("write a temporary file");
  SetFilePointer(input.get(), 0, nullptr, FILE_BEGIN);
  Handle reads, writes;
  if (!CreatePipe(reads.out(), writes.out(), &inherited, 1 << 16)) return cannot("make a pipe");
  SetHandleInformation(reads.get(), HANDLE_FLAG_INHERIT, 0);

  std::string line;
  for (const std::string& one : command) line += (line.empty() ? "\"" : " \"") + one + "\"";
  STARTUPINFOA start{};
  start.cb = sizeof start;
  start.dwFlags = STARTF_USESTDHANDLES;
  start.hStdInput = input.get();
  start.hStdOutput = writes.get();
  start.hStdError = GetStdHandle(STD_ERROR_HANDLE);
  SetHandleInformation(start.hStdError, HANDLE_FLAG_INHERIT, HANDLE_FLAG_INHERIT);
  std::fflush(nullptr);
  // The child ends when this process does: with the last handle to the job.
  const Handle job(CreateJobObjectA(nullptr, nullptr));
  JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits{};
  limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE;
  if (job) SetInformationJobObject(job.get(), JobObjectExtendedLimitInformation, &limits, sizeof limits);
  PROCESS_INFORMATION made{};
  if (!CreateProcessA(nullptr, line.data(), nullptr, nullptr, TRUE, CREATE_SUSPENDED, nullptr, nullptr, &start, &made)) return cannot("start a process");
  const Handle child(made.hProcess), thread(made.hThread);
  if (job) AssignProcessToJobObject(job.get(), child.get());
  ResumeThread(thread.get());
  writes.close();
  return listen(child.get(), reads.get(), Conversation(seconds, true));
}

int answerParent(const std::function<std::string(const std::string& request, const Begins&)>& work) {
  SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX);
  SetUnhandledExceptionFilter(endWithItsCode);
  const int pipe = _dup(_fileno(stdout));
  _dup2(_fileno(stderr), _fileno(stdout));
  SetStdHandle(STD_OUTPUT_HANDLE, GetStdHandle(STD_ERROR_HANDLE));
  _setmode(pipe, _O_BINARY);
  _setmode(_fileno(stdin), _O_BINARY);
  std::string request, bytes(1 << 16, '\0');
  for (size_t count; (count = std::fread(bytes.data(), 1, bytes.size(), stdin)) > 0;) request.append(bytes, 0, count);
  try {
    const std::string result = work(request, [&](const std::string& what) { send(pipe, Message::Begins, what); });
    std::fflush(nullptr);
    send(pipe, Message::Result, result);
  } catch (const std::exception& error) {
    send(pipe, Message::Threw, error.what());
  } catch (...) {
    send(pipe, Message::Threw, "of a type that is not known");
  }
  return 0;
}

std::string ownProgram() {
  char path[4096];
  const DWORD size = GetModuleFileNameA(nullptr, path, sizeof path);
  return std::string(path, size < sizeof path ? size : 0);
}

}  // namespace tilesight::support
