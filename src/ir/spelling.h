// How names and strings are written in MLIR text.
#pragma once

#include <string>
#include <string_view>

namespace tilesight::ir {

/// `text` in double quotes, with `\\`, `\22` and `\XX` escapes.
std::string quoted(std::string_view text);
/// `@name`, quoted if `name` is not a bare identifier.
std::string symbolText(std::string_view name);
/// True for letters, digits, `_`, `$` and `.`, not beginning with a digit, `$` or `.`.
bool isBareIdentifier(std::string_view text);

}  // namespace tilesight::ir
