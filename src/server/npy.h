// Arrays as numpy's .npy files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/type.h"
#include "launch/launch.h"
#include "support/result.h"

namespace tilesight::server {

inline constexpr int64_t kMaxNpyBytes = int64_t{1} << 30;

/// A contiguous array, row-major. Floats that numpy does not have (bf16, fp8) become float32, which holds them exactly;
/// pointers become int64. Errors: more than kMaxNpyBytes.
Result<std::string> npy(ir::ElementKind kind, const std::vector<int64_t>& shape, const std::vector<uint8_t>& bytes);
/// The same of a tensor.
Result<std::string> npy(const launch::View& view, const launch::Storage& storage);

}  // namespace tilesight::server
