// The command line: `tilesight COMMAND ...`. The native binary and the Python command both call main.
#pragma once

namespace tilesight::tools {

/// Runs one command and returns its exit status (0 clean, 1 findings, 2 bad usage or input,
/// 3 incomplete, 4 internal error). Never exits the process, except that `run` replaces it by Python.
int main(int argc, char** argv);

}  // namespace tilesight::tools
