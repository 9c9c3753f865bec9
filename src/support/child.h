// Work in a child process: what crashes, ends or hangs there takes nothing down here.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "support/result.h"

namespace tilesight::support {

/// Says what the work begins now ("pass 'x'"): for messages, and the time limit starts anew.
using Begins = std::function<void(const std::string& what)>;

/// Runs `work` in a copy of this process and returns the bytes that it returns. What it prints on standard output goes to
/// standard error. Errors: the copy was ended by a signal, ended itself, or took longer than `seconds` (> 0) with one
/// thing; they say with what. Only on POSIX: `canCopyProcess` is false elsewhere, and every call an error.
/// The copy has the calling thread only: `work` must not wait for others.
Result<std::string> runInCopy(const std::function<std::string(const Begins&)>& work, double seconds);
extern const bool canCopyProcess;

/// The same in a new process of a program, which must call `answerParent`: its path and arguments (without quotes), and what it is
/// given to do. Errors: as above, and the program cannot be started.
Result<std::string> runProgram(const std::vector<std::string>& command, const std::string& request, double seconds);

/// What a program that `runProgram` started does: reads the request, gives it to `work` and answers with what that returns.
/// The exit status, which nobody asks for.
int answerParent(const std::function<std::string(const std::string& request, const Begins&)>& work);

/// The file of this process's program; "" if it cannot be found.
std::string ownProgram();

}  // namespace tilesight::support
