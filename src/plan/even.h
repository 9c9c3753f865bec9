// What follows the number of the program: addresses, masks and what they are made of.
#pragma once

#include "plan/need.h"
#include "plan/plan.h"

namespace tilesight::plan {

/// May a result that comes of this operation and of what moves evenly do so, too?
bool mayFollow(const Instr& instr);
/// Integers, pointers and masks of the kinds that have kernels.
bool counts(ir::Type type);

/// Marks instructions whose results come of the program's number, parameters and constants alone (Instr::even), and
/// loads whose value may be read where it lies (Instr::mayBorrow). `explained`: what findings are explained by.
void findEven(Program& program, const Need& explained);

}  // namespace tilesight::plan
