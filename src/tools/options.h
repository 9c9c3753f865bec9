// What the commands are asked to do, and the commands themselves: one file each. command_line.cpp
// fills these structures from the arguments.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tilesight::tools {

struct CheckOptions {
  std::vector<std::string> files;
  std::vector<std::string> clients;  // empty: sanitizer
  std::string tool;                  // memcheck: a group of clients
  std::vector<std::string> plugins;  // libraries with clients or passes
  std::vector<std::string> passes;   // run on each kernel first: name{option=value}, in order
  std::string kernelName;            // "regex:..." or a whole name; "": all
  uint64_t launchSkip = 0;           // of the launches that match
  uint64_t launchCount = UINT64_MAX;
  std::vector<std::string> ignore;
  std::optional<uint32_t> printLimit;  // what is not given here may be in pyproject.toml
  std::optional<std::string> failOn;
  int errorExitCode = 1;
  bool failFast = false;
  std::optional<uint32_t> threads;
  std::optional<uint32_t> numSms;   // absent: as recorded
  std::optional<uint64_t> seed;     // of the order of turns; absent: as recorded
  std::optional<double> timeout;    // seconds a launch; absent: no limit
  bool addressOnly = false;
  bool quiet = false;
  std::string json, sarif;           // files, "-" for standard output, "": none
  std::string output;                // file of the report for people; "": standard error
  std::string format = "text";       // or "github"
  std::string baseline, writeBaseline;  // files; "": none
};

struct InfoOptions {
  std::vector<std::string> files;
};

struct ExplainOptions {
  std::vector<std::string> kinds;    // empty: a list of all
  bool markdown = false;
};

struct ViewOptions {
  std::vector<std::string> files;
  int port = 0;                      // 0: any free one
  bool browser = true;               // open it
  std::string html;                  // a file to write instead; "": serve
  uint32_t htmlLimit = 20;           // megabytes
  std::vector<std::string> expect;   // TENSOR=FILE.npy
};

struct TraceOptions {
  std::vector<std::string> files;
  std::string output;                // the trace's folder
  std::string kernelName;            // as CheckOptions has it, and so on
  uint64_t launchSkip = 0;
  uint64_t launchCount = UINT64_MAX;
  std::optional<uint32_t> threads, numSms;
  std::optional<uint64_t> seed;
  std::optional<double> timeout;
  bool addressOnly = false;
  std::string data = "none";         // what the trace's bundles carry: none, indices or all
  bool elements = false;             // the cells of accesses without a formula, one by one
  std::string perfetto;              // file for the Perfetto UI; "": none
  int64_t perfettoLimit = 500000;    // accesses in it
  bool quiet = false;
};

struct OptOptions {
  std::string file;                    // "-": standard input
  std::vector<std::string> passes;     // name{option=value}, in order
  std::string pipeline;                // or all of them, separated by commas
  std::vector<std::string> plugins;    // libraries
  std::string output = "-";            // "-": standard output
  bool verifyEach = false, noVerifyEach = false;
  std::vector<std::string> printBefore, printAfter;  // names of passes, or "all"
  bool time = false, remarks = false, list = false;
  std::string remarksJson;             // file, "-" for standard output, "": none
  bool isolate = false;
  double timeout = 60;                 // seconds a pass may take with isolate
};

struct PluginTestOptions {
  std::string library, folder;         // the plugin; its before/after files
  bool rebase = false, verbose = false, isolate = false;
  double timeout = 60;                 // seconds a pass may take with isolate
  int64_t runs = 8;                    // on the engine, of each case that is changed; 0: none
};

struct PluginsOptions {
  std::vector<std::string> plugins;
  bool json = false;
};

struct DiffOptions {
  std::string a, b;                    // bundles
  std::vector<std::string> launches;   // "0:2": positions in A and B
  std::string json;                    // file, "-" for standard output, "": none
  bool quiet = false;
};

struct ShowOptions {
  std::string file;
  std::optional<uint32_t> launch;    // its number; absent: the first
  std::string kernelName;            // "": any
  std::string program = "0";         // X, X,Y or X,Y,Z
  uint32_t line = 0;
  std::string inFile;                // the end of the line's file; "": the kernel's own
  std::string name;
  std::vector<std::string> trips, where;  // LOOP=N
  std::optional<int64_t> occurrence;
  std::optional<uint32_t> op, operand;
  uint32_t result = 0;
  bool firstNan = false;
  std::string expect;                // TENSOR=FILE.npy
  std::optional<double> rtol, atol;  // absent: by the tensor's element
  std::string from;                  // TENSOR[I,J]: where its value came from
};

int check(const CheckOptions& options);
int diff(const DiffOptions& options);
int show(const ShowOptions& options);
int trace(const TraceOptions& options);
int opt(const OptOptions& options);
int plugins(const PluginsOptions& options);
int pluginTest(const PluginTestOptions& options);
int view(const ViewOptions& options);
int info(const InfoOptions& options);
int explain(const ExplainOptions& options);
/// A command that the Python package has: run, migrate. `arguments` are those after it.
int runPython(const char* command, int count, char** arguments);
/// A command of the contract that is not built yet.
int planned(const std::string& command);

/// Commands that `planned` answers for.
struct PlannedCommand {
  const char* name;
  const char* does;
};
const std::vector<PlannedCommand>& plannedCommands();

}  // namespace tilesight::tools
