// What a pass is: built in, or of a plugin.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "passes/remark.h"
#include "passes/rewriter.h"
#include "support/result.h"

namespace tilesight::passes {

using OptionValue = std::variant<int64_t, bool, std::string>;

struct OptionInfo {
  enum class Kind : uint8_t { Integer, Boolean, String, Choice };
  std::string name, help;
  Kind kind = Kind::String;
  OptionValue fallback = std::string();
  int64_t least = INT64_MIN, most = INT64_MAX;  // Integer
  std::vector<std::string> choices;             // Choice
};

/// Values of all options of a pass, in the order of its `options`.
using OptionValues = std::vector<OptionValue>;

/// What a pass works with. One for each run of a pass.
class PassContext {
 public:
  PassContext(Rewriter& rewriter, const OptionValues& options, std::vector<Remark>& remarks) : rewriter(rewriter), options(options), remarks_(remarks) {}
  Rewriter& rewriter;
  const OptionValues& options;

  ir::Module& module() { return rewriter.module(); }
  int64_t integer(size_t option) const { return std::get<int64_t>(options[option]); }
  bool boolean(size_t option) const { return std::get<bool>(options[option]); }
  const std::string& string(size_t option) const { return std::get<std::string>(options[option]); }

  void done(const ir::Operation& op, std::string rule, std::string message) { say(op, Remark::Kind::Done, std::move(rule), std::move(message)); }
  void refused(const ir::Operation& op, std::string rule, std::string message) { say(op, Remark::Kind::Refused, std::move(rule), std::move(message)); }
  void say(const ir::Operation& op, Remark::Kind kind, std::string rule, std::string message) {
    remarks_.push_back(remarkAt(op, rewriter.module().fileName, kind, std::move(rule), std::move(message)));
  }

 private:
  std::vector<Remark>& remarks_;
};

struct Pass {
  std::string name, summary;
  std::vector<OptionInfo> options;
  std::function<Status(PassContext&)> run;
  std::string origin;  // the library it comes from; empty: built in
};

}  // namespace tilesight::passes
