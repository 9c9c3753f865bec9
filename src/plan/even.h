// What follows the number of the program: addresses, masks and what they are made of.
#pragma once

#include "plan/need.h"
#include "plan/plan.h"

namespace tilesight::plan {

/// Marks instructions whose results come of the program's number, parameters and constants alone (Instr::even), and
/// loads whose value may be read where it lies (Instr::inPlace). `explained`: what findings are explained by.
void findEven(Program& program, const Need& explained);

}  // namespace tilesight::plan
