#include "ir/location.h"

#include <fmt/format.h>

#include "ir/spelling.h"

namespace tilesight::ir {

namespace {

/// The text inside loc(...).
void append(std::string& out, const LocationStorage* location) {
  if (!location) {
    out += "unknown";
    return;
  }
  switch (location->kind) {
    case LocationKind::Unknown: out += "unknown"; return;
    case LocationKind::Opaque: out += location->text; return;
    case LocationKind::File:
      fmt::format_to(std::back_inserter(out), "{}:{}:{}", quoted(location->text), location->line,
                     location->column);
      if (location->endLine || location->endColumn)
        fmt::format_to(std::back_inserter(out), " to {}:{}", location->endLine, location->endColumn);
      return;
    case LocationKind::Name:
      out += quoted(location->text);
      if (location->child.kind() != LocationKind::Unknown) {
        out += '(';
        append(out, location->child.raw());
        out += ')';
      }
      return;
    case LocationKind::CallSite:
      out += "callsite(";
      append(out, location->child.raw());
      out += " at ";
      append(out, location->caller.raw());
      out += ')';
      return;
    case LocationKind::Fused:
      out += "fused";
      if (!location->text.empty()) out += "<" + location->text + ">";
      out += '[';
      for (size_t i = 0; i < location->fused.size(); ++i) {
        if (i) out += ", ";
        append(out, location->fused[i].raw());
      }
      out += ']';
      return;
  }
}

}  // namespace

LocationKind Location::kind() const { return storage_ ? storage_->kind : LocationKind::Unknown; }

const LocationStorage* Location::file() const {
  for (const LocationStorage* at = storage_; at;) {
    switch (at->kind) {
      case LocationKind::File: return at;
      case LocationKind::Name:
      case LocationKind::CallSite: at = at->child.raw(); break;
      case LocationKind::Fused: {
        for (const Location& part : at->fused)
          if (const LocationStorage* found = part.file()) return found;
        return nullptr;
      }
      default: return nullptr;
    }
  }
  return nullptr;
}

std::string Location::name() const {
  std::string found;
  for (const LocationStorage* at = storage_; at;) {
    if (at->kind == LocationKind::Name) {
      found = at->text;
      at = at->child.raw();
    } else if (at->kind == LocationKind::CallSite) {
      at = at->child.raw();
    } else if (at->kind == LocationKind::Fused && found.empty()) {
      for (const Location& part : at->fused)
        if (std::string name = part.name(); !name.empty()) return name;
      return found;
    } else {
      return found;
    }
  }
  return found;
}

std::string Location::str() const {
  std::string out = "loc(";
  append(out, storage_);
  return out + ')';
}

}  // namespace tilesight::ir
