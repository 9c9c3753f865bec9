// What the kinds of findings are: name, client, severity, explanation. The rows are in kinds.def.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tilesight::findings {

enum class KindState { Works, Planned };

struct KindInfo {
  std::string_view name;         // "out-of-bounds"
  std::string_view client;       // "sanitizer", "races", "execution"
  std::string_view severity;     // the default, in words
  KindState state;
  std::string_view summary;      // a phrase
  std::string_view explanation;  // one paragraph, unwrapped
  std::string_view example;      // Triton code, ends with a newline
  std::string_view mend;         // one paragraph, unwrapped
};

/// All kinds in the order of the table.
std::span<const KindInfo> kinds();
/// The row of `name`, or null.
const KindInfo* findKind(std::string_view name);

/// The kind whose name is nearest to `name`, or "" if none is near.
std::string_view nearestKind(std::string_view name);
/// "; did you mean X?" for a name that no kind has, or "" if none is near.
std::string didYouMeanKind(std::string_view name);

/// What `tilesight explain KIND` prints.
std::string explainText(const KindInfo& kind);
/// The same as a Markdown section.
std::string explainMarkdown(const KindInfo& kind);
/// All kinds as a Markdown page: docs/kinds.md.
std::string kindsMarkdown();

}  // namespace tilesight::findings
