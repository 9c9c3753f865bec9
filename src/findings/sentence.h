// The sentence of a finding, and what two findings of one place amount to.
#pragma once

#include <optional>
#include <string>

#include "findings/finding.h"

namespace tilesight::findings {

/// The sentence of a kind that has one, made of the evidence.
std::optional<std::string> standardSentence(const Finding& finding);

/// The same; for other kinds the message as it is.
std::string sentence(const Finding& finding);

/// Takes into `first` what a later finding of the same place, kind and argument adds: the higher severity, the
/// farthest bytes on either side, counts of elements, consequences. The witness stays the first. `countPrograms`
/// and `countLaunches` are the caller's: only it knows whether the programs are the same.
void merge(Finding& first, const Finding& later);

/// Adds a consequence that the finding has not yet, up to a handful.
void addConsequence(Finding& finding, const std::string& text);

}  // namespace tilesight::findings
