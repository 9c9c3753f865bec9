#include "findings/finding.h"

namespace tilesight::findings {

Verdict LaunchReport::verdict() const {
  for (const Finding& finding : findings)
    if (finding.severity == Severity::Error) return Verdict::Finding;
  return unknowns.empty() ? Verdict::Ok : Verdict::Unknown;
}

const char* severityName(Severity severity) {
  switch (severity) {
    case Severity::Note: return "note";
    case Severity::Warning: return "warning";
    case Severity::Error: return "error";
  }
  return "error";
}

const char* verdictName(Verdict verdict) {
  switch (verdict) {
    case Verdict::Ok: return "ok";
    case Verdict::Finding: return "finding";
    case Verdict::Unknown: return "unknown";
  }
  return "unknown";
}

}  // namespace tilesight::findings
