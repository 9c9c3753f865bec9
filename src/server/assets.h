// The built page of web/, embedded in the program.
#pragma once

#include <string_view>

namespace tilesight::server {

struct Page {
  std::string_view html, script, style;
};

/// Null if this build has none (made without Node).
const Page* page();

}  // namespace tilesight::server
