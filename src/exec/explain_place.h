// Which element of a tensor an address outside of it stands for, and which variables led there.
#pragma once

#include <optional>
#include <vector>

#include "exec/explainer.h"

namespace tilesight::exec {

struct PlaceInView {
  std::vector<int64_t> index;    // may lie outside the shape
  bool flat = false;             // the program counts elements through all axes: no axis has a variable of its own
  int axis = -1;                 // the axis that is left
  std::vector<Ref> variables;    // what differs between elements and counts along `axis`, and what these are parts of
  std::vector<Ref> others;       // the same of the other axes
};

/// Splits the access's address at an element into what the program adds up, term by term: `row * stride + col` of
/// a matrix is its row and its column. None if the terms are not known, or do not tell axes apart.
std::optional<PlaceInView> placeInView(const Explainer& explainer, const Instr& instr, const Resolved& access,
                                       int64_t element, const ViewInfo& view);

}  // namespace tilesight::exec
