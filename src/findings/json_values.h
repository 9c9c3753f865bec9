// JSON values of findings, for the renderers that are JSON. Include it in few files: it is slow to compile.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "findings/finding.h"

namespace tilesight::findings {

using Json = nlohmann::ordered_json;

/// Text may come from files in any encoding: bytes that are not UTF-8 become U+FFFD.
std::string dumped(const Json& json, int indent);

/// The fields of the JSON contract.
Json toJson(const Finding& finding);

}  // namespace tilesight::findings
