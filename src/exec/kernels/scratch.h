// Memory that kernels work in beside their operands: thread-local, kept between calls.
#pragma once

#include "exec/kernels/isa.h"

TS_ISA_BEGIN

/// Who asks: a use keeps its memory while another one runs inside it.
enum class ScratchUse : uint8_t { Dot, ReduceTree, ReduceNarrow, ReduceKeys, kCount };

/// At least `bytes` bytes, 64-byte aligned, until the thread's next call with the same use.
void* threadScratch(ScratchUse use, size_t bytes);

TS_ISA_END
