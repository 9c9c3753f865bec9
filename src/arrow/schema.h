// Types and columns of a table.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tilesight::arrow {

/// No column has nulls.
enum class Type : uint8_t {
  Int32,
  UInt32,
  Int64,
  Float64,
  Text,       // utf8
  Name,       // a dictionary of utf8, with 32-bit indices: few texts, many rows
  Int32List,
  Int64List,
  TextList,
};

const char* typeName(Type type);

struct Field {
  std::string name;
  Type type = Type::Int64;
  std::string meaning;  // for people; not written
};

struct Schema {
  std::string table;  // for messages
  std::vector<Field> fields;
};

/// Numbers of texts, in order of their first use: the dictionary of a Name column.
class Names {
 public:
  int32_t number(const std::string& text);
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  std::vector<std::string> texts_;
  std::vector<std::pair<size_t, int32_t>> byHash_;  // sorted
};

}  // namespace tilesight::arrow
