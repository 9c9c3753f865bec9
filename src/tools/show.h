// What `tilesight show` prints: one launch of a bundle, opened for questions.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "findings/format.h"
#include "support/result.h"
#include "tools/options.h"
#include "trace/values.h"

namespace tilesight::tools {

class Shown {
 public:
  Shown(const ShowOptions& options, bool colour);

  /// Reads the launch. Errors: no such file, launch or kernel.
  Status open();
  /// Which launch it is, as a line.
  const std::string& head() const { return head_; }
  /// What the options ask for.
  Result<std::string> asked() const;
  /// Was what was expected not so, or a NaN found? For the exit status.
  bool wrong() const { return wrong_; }

 private:
  Result<std::string> firstNan() const;
  Result<std::string> expected() const;
  Result<std::string> from() const;
  std::string list() const;
  Result<std::string> one(const trace::Query& query) const;
  std::string sourceText(const std::string& file, uint32_t line) const;
  std::string lineHead(const std::string& file, uint32_t line) const;

  const ShowOptions& options_;
  findings::Painter paint_;
  std::shared_ptr<trace::Values> values_;
  std::string head_;
  mutable bool wrong_ = false;
};

}  // namespace tilesight::tools
