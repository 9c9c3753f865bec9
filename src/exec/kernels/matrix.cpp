// Instances of the matrix tiles, and the scratch memory of the dot kernels.
#include "exec/kernels/matrix.h"

#include <cstdlib>

TS_ISA_BEGIN

template void multiplyPanel<float, 1>(const float*, int64_t, int64_t, const float*, int64_t, float*, int64_t, int64_t, int64_t);
template void multiplyPanel<float, 2>(const float*, int64_t, int64_t, const float*, int64_t, float*, int64_t, int64_t, int64_t);
template void multiplyPanel<double, 1>(const double*, int64_t, int64_t, const double*, int64_t, double*, int64_t, int64_t, int64_t);
template void multiplyPanel<double, 2>(const double*, int64_t, int64_t, const double*, int64_t, double*, int64_t, int64_t, int64_t);
template void multiplyPanel<uint32_t, 1>(const uint32_t*, int64_t, int64_t, const uint32_t*, int64_t, uint32_t*, int64_t, int64_t, int64_t);
template void multiplyPanel<uint32_t, 2>(const uint32_t*, int64_t, int64_t, const uint32_t*, int64_t, uint32_t*, int64_t, int64_t, int64_t);

namespace {
struct Scratch {
  void* memory = nullptr;
  size_t bytes = 0;
  ~Scratch() { std::free(memory); }
};
thread_local Scratch scratch;
}  // namespace

void* dotScratch(size_t bytes) {
  if (bytes > scratch.bytes) {
    std::free(scratch.memory);
    scratch.bytes = (bytes + 4095) & ~size_t(4095);
    scratch.memory = std::aligned_alloc(64, scratch.bytes);
    if (scratch.memory == nullptr) std::abort();  // out of memory: nothing sensible is left to do
  }
  return scratch.memory;
}

TS_ISA_END
