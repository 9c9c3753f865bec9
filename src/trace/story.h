// What was found about a value, told to people: source lines with values, and the inputs they came from.
#pragma once

#include "findings/format.h"
#include "trace/expect.h"
#include "trace/nonfinite.h"

namespace tilesight::trace {

/// Source lines from the value backwards, each with its variables, then the inputs. `limit`: of lines; 0: all.
std::string chainText(const Values& values, const Slice& slice, const findings::Painter& paint, size_t limit = 24);
std::string nonFiniteText(const Values& values, const NonFiniteReport& report, const findings::Painter& paint);
std::string mismatchText(const Values& values, const Mismatch& mismatch, const findings::Painter& paint);
/// `name[index]`: what was stored there, by whom, and its chain.
std::string writtenText(const Values& values, const std::string& element, const Written& written, const findings::Painter& paint);

}  // namespace tilesight::trace
