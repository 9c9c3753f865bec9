// Products of matrices: 512^3 of f16 to f32.
#include <cstring>

#include "limit.h"

namespace limit {
namespace {

// As many floats as the widest vector registers hold.
using Floats = float __attribute__((vector_size(64)));

}  // namespace

double matmul() {
  constexpr int size = 512, tile = 32, rows = 8;  // rows * tile sums stay in registers
  std::vector<_Float16> a(size * size), b(size * size);
  std::vector<float> c(size * size);
  for (int i = 0; i < size * size; ++i) {
    a[i] = static_cast<_Float16>(i % 13 - 6);
    b[i] = static_cast<_Float16>(i % 11 - 5);
  }
  return secondsOf([&] {
    inParallel(size / rows, [&](int begin, int end) {
      std::vector<float> left((end - begin) * rows * size), right(size * tile);
      for (size_t i = 0; i < left.size(); ++i) left[i] = static_cast<float>(a[begin * rows * size + i]);
      for (int n0 = 0; n0 < size; n0 += tile) {
        for (int k = 0; k < size; ++k)
          for (int n = 0; n < tile; ++n) right[k * tile + n] = static_cast<float>(b[k * size + n0 + n]);
        for (int m = 0; m < (end - begin) * rows; m += rows) {
          Floats sums[rows][2] = {};
          for (int k = 0; k < size; ++k) {
            Floats low, high;
            std::memcpy(&low, &right[k * tile], sizeof low);
            std::memcpy(&high, &right[k * tile + 16], sizeof high);
#pragma GCC unroll 8
            for (int i = 0; i < rows; ++i) {
              const float factor = left[(m + i) * size + k];
              sums[i][0] += factor * low;
              sums[i][1] += factor * high;
            }
          }
          for (int i = 0; i < rows; ++i)
            std::memcpy(&c[(begin * rows + m + i) * size + n0], sums[i], sizeof sums[i]);
        }
      }
    });
  });
}

}  // namespace limit
