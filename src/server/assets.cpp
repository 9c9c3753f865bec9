#include "server/assets.h"

#ifdef TILESIGHT_PAGE
// The assembler puts the files' bytes into the object: no generated source, and nothing to parse.
#define TS_EMBED(name, file)                       \
  asm(".pushsection .rodata\n"                     \
      ".balign 16\n"                               \
      "ts_page_" name ":\n"                        \
      ".incbin \"" TILESIGHT_PAGE "/" file "\"\n"  \
      "ts_page_" name "_end:\n"                    \
      ".byte 0\n"                                  \
      ".globl ts_page_" name ", ts_page_" name "_end\n" \
      ".hidden ts_page_" name ", ts_page_" name "_end\n" \
      ".popsection\n")

TS_EMBED("html", "index.html");
TS_EMBED("script", "app.js");
TS_EMBED("style", "app.css");

extern "C" {
extern const char ts_page_html[], ts_page_html_end[];
extern const char ts_page_script[], ts_page_script_end[];
extern const char ts_page_style[], ts_page_style_end[];
}

namespace tilesight::server {

const Page* page() {
  auto view = [](const char* from, const char* end) { return std::string_view(from, static_cast<size_t>(end - from)); };
  static const Page embedded{view(ts_page_html, ts_page_html_end), view(ts_page_script, ts_page_script_end),
                             view(ts_page_style, ts_page_style_end)};
  return &embedded;
}

}  // namespace tilesight::server
#else
namespace tilesight::server {
const Page* page() { return nullptr; }
}  // namespace tilesight::server
#endif
