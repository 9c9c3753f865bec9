// Places as programs name them: paths relative to the repository, columns in characters.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tilesight::findings {

/// The nearest folder upwards of `directory` that holds `.git`, else `directory` itself.
std::string repositoryRoot(const std::string& directory);

/// `path` made absolute with `directory`, without `.` and `..`. As text: no link is followed.
std::string absolutePath(const std::string& path, const std::string& directory);

/// Percent-encodes what a URI's path may not hold.
std::string uriPath(std::string_view path);

/// A column in bytes (from 1) as one in characters, where `line` is its text; without the text it is
/// taken as it is.
uint32_t characterColumn(std::string_view line, uint32_t column);

}  // namespace tilesight::findings
