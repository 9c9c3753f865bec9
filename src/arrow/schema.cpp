#include "arrow/schema.h"

#include <algorithm>
#include <functional>

namespace tilesight::arrow {

const char* typeName(Type type) {
  switch (type) {
    case Type::Int32: return "int32";
    case Type::UInt32: return "uint32";
    case Type::Int64: return "int64";
    case Type::Float64: return "float64";
    case Type::Text: return "text";
    case Type::Name: return "name";
    case Type::Int32List: return "list of int32";
    case Type::Int64List: return "list of int64";
    case Type::TextList: return "list of text";
  }
  return "";
}

int32_t Names::number(const std::string& text) {
  const size_t hash = std::hash<std::string>()(text);
  auto at = std::lower_bound(byHash_.begin(), byHash_.end(), std::pair<size_t, int32_t>(hash, 0));
  for (; at != byHash_.end() && at->first == hash; ++at)
    if (texts_[static_cast<size_t>(at->second)] == text) return at->second;
  const auto number = static_cast<int32_t>(texts_.size());
  texts_.push_back(text);
  byHash_.insert(at, {hash, number});
  return number;
}

}  // namespace tilesight::arrow
