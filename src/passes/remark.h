// What a pass has to say: what it did, what it refused and why.
#pragma once

#include <string>
#include <vector>

#include "ir/operation.h"

namespace tilesight::passes {

struct Remark {
  enum class Kind : uint8_t { Done, Refused, Note };
  Kind kind = Kind::Note;
  std::string pass;
  std::string rule;     // short and stable: "upper-bound", "loop-carried"; may be empty
  std::string message;  // one line
  std::string operation;           // "tt.load"
  std::string file;                // the user's source, or the IR file
  uint32_t line = 0, column = 0;   // 1-based; 0: none
  uint32_t irLine = 0;             // in the IR that was read; 0: the operation is new

  /// `FILE:LINE:COL: done: PASS [rule]: message`, with the operation and its line in the IR.
  std::string str() const;
};

const char* kindName(Remark::Kind kind);

/// A remark at `op`, placed at the user's source line if the IR knows it.
Remark remarkAt(const ir::Operation& op, const std::string& irFile, Remark::Kind kind, std::string rule, std::string message);

/// `[{"pass": ..., "kind": ..., ...}]`
std::string remarksAsJson(const std::vector<Remark>& remarks);

}  // namespace tilesight::passes
