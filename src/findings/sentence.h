// The sentence of a finding, and what two findings of one place amount to.
#pragma once

#include <string>

#include "findings/finding.h"

namespace tilesight::findings {

/// The sentence for a finding of a known kind, from its evidence; its message as it is for others.
std::string sentence(const Finding& finding);

/// Does the kind have a sentence, so that the message is made of the evidence?
bool hasSentence(const Finding& finding);

/// Takes into `first` what a later finding of the same place, kind and argument adds: the higher severity, the
/// farthest bytes on either side, counts of elements, consequences. The witness stays the first. `countPrograms`
/// and `countLaunches` are the caller's: only it knows whether the programs are the same.
void merge(Finding& first, const Finding& later);

/// Adds a consequence that the finding has not yet, up to a handful.
void addConsequence(Finding& finding, const std::string& text);

}  // namespace tilesight::findings
