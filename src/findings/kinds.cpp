#include "findings/kinds.h"

#include <fmt/format.h>

#include "findings/format.h"
#include "findings/nearest.h"

namespace tilesight::findings {
namespace {

constexpr KindInfo table[] = {
#define TS_KIND(name, client, severity, state, summary, explanation, example, mend) \
  {name, client, severity, KindState::state, summary, explanation, example, mend},
#include "findings/kinds.def"
#undef TS_KIND
};

std::string indented(std::string_view code, std::string_view indent) {
  std::string out;
  while (!code.empty()) {
    const size_t end = code.find('\n');
    out += indent;
    out += code.substr(0, end);
    out += '\n';
    code.remove_prefix(end == code.npos ? code.size() : end + 1);
  }
  return out;
}

constexpr std::string_view plannedText =
    "Planned: this version does not look for it, and reports say so under \"not checked\".";

}  // namespace

std::span<const KindInfo> kinds() { return table; }

const KindInfo* findKind(std::string_view name) {
  for (const KindInfo& kind : table)
    if (kind.name == name) return &kind;
  return nullptr;
}

std::string_view nearestKind(std::string_view name) {
  std::vector<std::string_view> names;
  for (const KindInfo& kind : table) names.push_back(kind.name);
  return nearest(name, names);
}

std::string didYouMeanKind(std::string_view name) {
  const std::string_view near = nearestKind(name);
  return near.empty() ? std::string() : fmt::format("; did you mean {}?", near);
}

std::string explainText(const KindInfo& kind) {
  std::string out = fmt::format("{}: {}\n", kind.name, kind.summary);
  out += fmt::format("  client: {}, severity: {}\n\n", kind.client, kind.severity);
  if (kind.state == KindState::Planned) out += wrapped(plannedText, "", "", 80) + "\n";
  out += wrapped(kind.explanation, "", "", 80);
  out += "\nExample\n\n" + indented(kind.example, "    ");
  out += "\nWhat to do\n\n" + wrapped(kind.mend, "", "", 80);
  out += fmt::format("\nTo accept it on one line:  # tilesight: ignore[{}] why\n", kind.name);
  out += fmt::format("To ignore the kind:        tilesight run --ignore {} ...\n", kind.name);
  return out;
}

std::string explainMarkdown(const KindInfo& kind) {
  std::string out = fmt::format("## `{}`\n\n", kind.name);
  out += fmt::format("{}{}. Client: {}. Severity: {}.{}\n\n",
                     static_cast<char>(kind.summary[0] - 'a' + 'A'), kind.summary.substr(1),
                     kind.client, kind.severity,
                     kind.state == KindState::Planned ? " **Planned.**" : "");
  out += fmt::format("{}\n\n```python\n{}```\n\n{}\n", kind.explanation, kind.example, kind.mend);
  return out;
}

std::string kindsMarkdown() {
  std::string out =
      "# Kinds of findings\n\nMade by `tilesight explain --markdown`; planned kinds are marked.\n";
  for (const KindInfo& kind : table) out += "\n" + explainMarkdown(kind);
  return out;
}

}  // namespace tilesight::findings
