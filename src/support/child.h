// Work in a child process: what crashes, ends or hangs there takes nothing down here.
#pragma once

#include <functional>
#include <string>

#include "support/result.h"

namespace tilesight::support {

/// Says what the work begins now ("pass 'x'"): for messages, and the time limit starts anew.
using Begins = std::function<void(const std::string& what)>;

/// Runs `work` in a copy of this process and returns the bytes that it returns. What it prints on standard output goes to
/// standard error. Errors: the copy was ended by a signal, ended itself, or took longer than `seconds` (> 0) with one
/// thing; they say with what. Only on POSIX: `canRunInChild` is false elsewhere, and every call an error.
/// The copy has the calling thread only: `work` must not wait for others.
Result<std::string> runInChild(const std::function<std::string(const Begins&)>& work, double seconds);
extern const bool canRunInChild;

}  // namespace tilesight::support
