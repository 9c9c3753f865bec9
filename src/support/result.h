// Results and diagnostics: how every fallible step of the pipeline reports an error.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <tl/expected.hpp>

namespace tilesight {

/// One error with the place it concerns. `line` and `column` are 1-based; 0 means "no place".
struct Diagnostic {
  std::string file;
  uint32_t line = 0;
  uint32_t column = 0;
  std::string message;
  /// What the user can do next; may be empty.
  std::string remedy;

  /// `FILE:LINE:COL: error: message (remedy)` on one line.
  std::string str() const;
};

template <typename T>
using Result = tl::expected<T, Diagnostic>;
using Status = tl::expected<void, Diagnostic>;

/// An error without a place.
inline tl::unexpected<Diagnostic> failure(std::string message, std::string remedy = {}) {
  return tl::unexpected<Diagnostic>(Diagnostic{{}, 0, 0, std::move(message), std::move(remedy)});
}

inline tl::unexpected<Diagnostic> failure(Diagnostic diagnostic) {
  return tl::unexpected<Diagnostic>(std::move(diagnostic));
}

/// `return TS_TRY(x)`-style propagation for statements: leaves the enclosing function on error.
#define TS_CHECK(expression)                                            \
  do {                                                                  \
    if (auto tsStatus_ = (expression); !tsStatus_)                      \
      return ::tl::unexpected<::tilesight::Diagnostic>(std::move(tsStatus_).error()); \
  } while (false)

}  // namespace tilesight
