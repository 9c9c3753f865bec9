// Where reports go.
#pragma once

#include <string>

#include "support/result.h"

namespace tilesight::tools {

void printOut(const std::string& text);  // standard output
void printErr(const std::string& text);  // standard error
/// Prints the error on one line to standard error.
void printError(const Diagnostic& error);
/// `tilesight: error: message` for wrong usage, with the way to the help of `command`; returns 2.
int usageError(const std::string& message, const std::string& command = {});

}  // namespace tilesight::tools
