// Patterns of names, as shells know them.
#pragma once

#include <string_view>

namespace tilesight {

/// Does `pattern` match all of `text`? `*` is any characters, `/` among them, `?` is one, `[a-z]` and `[!a-z]`
/// are one in or not in a set, and a backslash takes the next character as it is. By bytes.
bool matchesWildcard(std::string_view pattern, std::string_view text);

}  // namespace tilesight
