#include "passes/remark.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tilesight::passes {

const char* kindName(Remark::Kind kind) {
  switch (kind) {
    case Remark::Kind::Done: return "done";
    case Remark::Kind::Refused: return "refused";
    default: return "note";
  }
}

Remark remarkAt(const ir::Operation& op, const std::string& irFile, Remark::Kind kind, std::string rule, std::string message) {
  Remark remark;
  remark.kind = kind;
  remark.rule = std::move(rule);
  remark.message = std::move(message);
  remark.operation = op.name;
  remark.irLine = op.sourceLine;
  remark.file = irFile;
  remark.line = op.sourceLine;
  remark.column = op.sourceColumn;
  if (const ir::LocationStorage* place = op.location.file()) {
    remark.file = place->text;
    remark.line = place->line;
    remark.column = place->column;
  }
  return remark;
}

std::string Remark::str() const {
  std::string text = line ? fmt::format("{}:{}:{}: ", file, line, column) : file.empty() ? "" : file + ": ";
  text += fmt::format("{}: {}", kindName(kind), pass);
  if (!rule.empty()) text += fmt::format(" [{}]", rule);
  text += ": " + message;
  if (!operation.empty()) text += irLine ? fmt::format(" ({}, IR line {})", operation, irLine) : fmt::format(" ({})", operation);
  return text;
}

std::string remarksAsJson(const std::vector<Remark>& remarks) {
  nlohmann::json list = nlohmann::json::array();
  for (const Remark& remark : remarks)
    list.push_back({{"pass", remark.pass}, {"kind", kindName(remark.kind)}, {"rule", remark.rule}, {"message", remark.message},
                    {"operation", remark.operation}, {"file", remark.file}, {"line", remark.line}, {"column", remark.column},
                    {"ir_line", remark.irLine}});
  return list.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace tilesight::passes
