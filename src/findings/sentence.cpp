#include "findings/sentence.h"

#include <algorithm>

#include <fmt/format.h>

#include "findings/format.h"

namespace tilesight::findings {
namespace {

constexpr size_t kMaxConsequences = 8;

std::string bytes(int64_t count) { return grouped(count) + (count == 1 ? " byte" : " bytes"); }

std::string outOfBounds(const Finding& f, const std::string& what, const char* verb) {
  const Operand& o = *f.operand;
  const bool before = o.bytesPast < 0;
  const int64_t extent = o.allocationKnown && o.allocationBytes ? o.allocationBytes : o.viewBytes;
  const std::string other =
      f.otherSideBytes <= 0
          ? std::string()
          : fmt::format(" and up to {} {}", bytes(f.otherSideBytes), before ? "past its end" : "before its start");
  return fmt::format("{} {} up to {} {}{} ({}{})", what, verb, bytes(f.maxBytesPast),
                     before ? "before its start" : "past its end", other, bytes(extent),
                     o.allocationKnown ? "" : "; the allocation is not known, the view counts");
}

}  // namespace

std::optional<std::string> standardSentence(const Finding& f) {
  const bool read = f.accessKind == "read", write = f.accessKind == "write";
  const char* verb = read ? "reads" : write ? "writes" : "updates";
  const Operand* o = f.operand ? &*f.operand : nullptr;
  std::string what = f.operation;
  if (o && !o->argument.empty()) what += fmt::format(" {} {}", read ? "from" : write ? "to" : "on", o->argument);

  if (f.kind == "out-of-bounds" && o) return outOfBounds(f, what, verb);
  if (f.kind == "out-of-view" && o)
    return fmt::format("{} {} inside the allocation ({}), but outside the view that was passed", what, verb,
                       bytes(o->allocationBytes));
  if (f.kind == "null-pointer") return fmt::format("{} through a null pointer", what);
  if (f.kind == "foreign-pointer")
    return fmt::format("{} at an address that belongs to no tensor of this launch", what);
  if (f.kind == "read-only-write") return fmt::format("{} {} memory that was passed as read-only", what, verb);
  if (f.kind == "misaligned" && f.accessBytes == 0) return std::nullopt;  // a descriptor's: no access
  if (f.kind == "misaligned" && o)
    return fmt::format("{} {} {} at byte offset {}, which is not a multiple of {}", what, verb, bytes(f.accessBytes),
                       grouped(o->byteOffset), f.accessBytes);
  if (f.kind == "misaligned") return fmt::format("{} at an address that is not a multiple of {}", what, f.accessBytes);
  return std::nullopt;
}

std::string sentence(const Finding& finding) { return standardSentence(finding).value_or(finding.message); }

void merge(Finding& first, const Finding& later) {
  // A client's own message stays; the standard one tells the farthest of all.
  const bool standard = !first.message.empty() && first.message == sentence(first);
  const bool sameSide =
      !first.operand || !later.operand || (first.operand->bytesPast < 0) == (later.operand->bytesPast < 0);
  first.severity = std::max(first.severity, later.severity);
  first.maxBytesPast = std::max(first.maxBytesPast, sameSide ? later.maxBytesPast : later.otherSideBytes);
  first.otherSideBytes = std::max(first.otherSideBytes, sameSide ? later.otherSideBytes : later.maxBytesPast);
  first.countElements += later.countElements;
  for (const std::string& text : later.consequences) addConsequence(first, text);
  if (standard) first.message = sentence(first);
}

void addConsequence(Finding& finding, const std::string& text) {
  std::vector<std::string>& all = finding.consequences;
  if (all.size() < kMaxConsequences && std::find(all.begin(), all.end(), text) == all.end()) all.push_back(text);
}

}  // namespace tilesight::findings
