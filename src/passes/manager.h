// Runs passes on IR text.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "passes/pipeline.h"

namespace tilesight::passes {

struct ManagerOptions {
  /// Also reads the text after every pass that changed something, not only after the last one; it must be valid IR.
  bool verifyEach = true;
  /// Called with the text before and after passes; null: not.
  std::function<void(const Pass&, const std::string& text)> before, after;
};

struct PassReport {
  std::string name;
  double seconds = 0;
  bool changed = false;
  Status status;  // why it was rolled back
};

struct Outcome {
  std::string text;
  std::vector<Remark> remarks;
  std::vector<PassReport> reports;  // of the passes that ran; the last one may have failed
  /// The first failure: then `text` is what the passes before it made of the input.
  Status status;
};

/// Runs the steps on `text`. The input must be valid IR: else the error says where it is not, and nothing runs.
/// A pass that fails, or leaves IR that is not valid, is undone, and named in `status`; later ones do not run.
Result<Outcome> runPasses(std::string text, std::string fileName, const std::vector<Step>& steps, const ManagerOptions& options = {});

}  // namespace tilesight::passes
