// Source locations, kept through every step: file positions, variable names, inlined call sites.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tilesight::ir {

struct LocationStorage;

enum class LocationKind : uint8_t { Unknown, File, Name, CallSite, Fused, Opaque };

/// Interned; a default-constructed Location is Unknown.
class Location {
 public:
  Location() = default;
  explicit Location(const LocationStorage* storage) : storage_(storage) {}
  bool operator==(const Location& other) const = default;
  explicit operator bool() const { return storage_ != nullptr; }
  const LocationStorage* operator->() const { return storage_; }

  LocationKind kind() const;
  /// The innermost file position (callee side of call sites, child of names); null if none.
  const LocationStorage* file() const;
  /// The user's variable name, if the location carries one (the innermost Name).
  std::string name() const;
  /// `loc(...)` text without aliases.
  std::string str() const;

  const LocationStorage* raw() const { return storage_; }

 private:
  const LocationStorage* storage_ = nullptr;
};

struct LocationStorage {
  LocationKind kind = LocationKind::Unknown;
  std::string text;        // File: path; Name: name; Opaque: as written; Fused: metadata text or empty
  uint32_t line = 0, column = 0;          // File (as printed, 0 allowed)
  uint32_t endLine = 0, endColumn = 0;    // File ranges ("f":1:2 to 3:4); 0 when absent
  Location child;          // Name: child (may be unknown); CallSite: callee
  Location caller;         // CallSite
  std::vector<Location> fused;
};

}  // namespace tilesight::ir
