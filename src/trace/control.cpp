#include "trace/control.h"

#include <algorithm>
#include <array>

namespace tilesight::trace {

using exec::Instr;
using exec::Opcode;

bool isBranch(const Instr& instr) {
  return instr.op == Opcode::BranchIfNot || instr.op == Opcode::LoopBegin || instr.op == Opcode::LoopNext;
}

const ir::Operation* loopOf(const Instr& branch) {
  if (branch.op == Opcode::LoopBegin || branch.op == Opcode::LoopNext) return branch.source;
  // The condition of a while ends the block that computes it; an `if` ends none.
  const ir::Block* block = branch.source->parent;
  if (!block || block->operations.back().get() != branch.source || !block->parent || !block->parent->parent) return nullptr;
  const ir::Operation* around = block->parent->parent;
  return around->name == "scf.while" ? around : nullptr;
}

// Cooper, Harvey and Kennedy's way of finding dominators, on the reversed graph.
std::vector<uint32_t> meetingPoints(const plan::Program& program) {
  auto end = static_cast<uint32_t>(program.code.size());  // also the node where programs end
  const uint32_t nowhere = end;
  for (const plan::RegionCode& region : program.regions) end = std::min(end, region.begin);  // these stand behind the program
  const auto next = [&](uint32_t at) -> std::array<uint32_t, 2> {
    const Instr& instr = program.code[at];
    const uint32_t after = at + 1 < end ? at + 1 : nowhere, target = instr.target < end ? instr.target : nowhere;
    switch (instr.op) {
      case Opcode::Return: return {nowhere, nowhere};
      case Opcode::Jump:
      case Opcode::WhileNext: return {target, target};
      case Opcode::BranchIfNot:
      case Opcode::LoopBegin:
      case Opcode::LoopNext: return {after, target};
      default: return {after, after};
    }
  };
  std::vector<std::vector<uint32_t>> before(nowhere + 1);
  for (uint32_t at = 0; at < end; ++at) {
    const auto to = next(at);
    before[to[0]].push_back(at);
    if (to[1] != to[0]) before[to[1]].push_back(at);
  }
  // Postorder from the end, by the ways back.
  constexpr uint32_t kUnknown = UINT32_MAX;
  std::vector<uint32_t> number(nowhere + 1, kUnknown), order;
  std::vector<std::pair<uint32_t, size_t>> path{{nowhere, 0}};
  std::vector<bool> seen(nowhere + 1);
  seen[nowhere] = true;
  while (!path.empty()) {
    auto& [at, done] = path.back();
    if (done == before[at].size()) {
      number[at] = static_cast<uint32_t>(order.size());
      order.push_back(at);
      path.pop_back();
      continue;
    }
    const uint32_t from = before[at][done++];
    if (seen[from]) continue;
    seen[from] = true;
    path.emplace_back(from, 0);
  }
  std::vector<uint32_t> meets(nowhere + 1, kUnknown);
  meets[nowhere] = nowhere;
  const auto common = [&](uint32_t a, uint32_t b) {
    while (a != b) {
      while (number[a] < number[b]) a = meets[a];
      while (number[b] < number[a]) b = meets[b];
    }
    return a;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = order.size() - 1; i-- > 0;) {
      const uint32_t at = order[i];
      uint32_t found = kUnknown;
      for (const uint32_t to : next(at))
        if (meets[to] != kUnknown) found = found == kUnknown ? to : common(found, to);
      if (found == meets[at]) continue;
      meets[at] = found;
      changed = true;
    }
  }
  for (uint32_t& point : meets)
    if (point == kUnknown) point = nowhere;  // an endless loop
  meets.resize(nowhere);
  return meets;
}

}  // namespace tilesight::trace
