#include "exec/kernels/scratch.h"

#include <cstdlib>

#include "support/memory.h"

TS_ISA_BEGIN
namespace {

struct Memory {
  void* data = nullptr;
  size_t bytes = 0;
  ~Memory() { support::freeAligned(data); }
};
thread_local Memory memory[size_t(ScratchUse::kCount)];

}  // namespace

void* threadScratch(ScratchUse use, size_t bytes) {
  Memory& mine = memory[size_t(use)];
  if (bytes > mine.bytes) {
    support::freeAligned(mine.data);
    mine.bytes = (bytes + 4095) & ~size_t(4095);
    mine.data = support::allocateAligned(64, mine.bytes);
    if (mine.data == nullptr) std::abort();  // out of memory in the middle of a kernel
  }
  return mine.data;
}

TS_ISA_END
