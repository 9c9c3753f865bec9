#include "support/result.h"

#include <fmt/format.h>

namespace tilesight {

std::string Diagnostic::str() const {
  std::string place;
  if (!file.empty()) place = line ? fmt::format("{}:{}:{}: ", file, line, column) : file + ": ";
  std::string text = place + "error: " + message;
  if (!remedy.empty()) text += " (" + remedy + ")";
  return text;
}

}  // namespace tilesight
