// Products of matrices: 512^3 of f16 to f32, and attention of 4 heads, 512 x 64 of f16 each.
#include <cmath>
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

double attention() {
  constexpr int heads = 4, context = 512, head = 64, tile = 32, rows = 8;
  std::vector<_Float16> q(heads * context * head), k(q.size()), v(q.size()), out(q.size());
  for (size_t i = 0; i < q.size(); ++i) {
    q[i] = static_cast<_Float16>((static_cast<int>(i % 13) - 6) / 4.0f);
    k[i] = static_cast<_Float16>((static_cast<int>(i % 11) - 5) / 4.0f);
    v[i] = static_cast<_Float16>((static_cast<int>(i % 7) - 3) / 4.0f);
  }
  // sums[i][0 .. tile) += left[i][0 .. depth) * right[0 .. depth)[0 .. tile)
  const auto multiply = [](const float* left, int depth, const float* right, int rightRow, Floats (&sums)[rows][2]) {
    for (int d = 0; d < depth; ++d) {
      Floats low, high;
      std::memcpy(&low, right + d * rightRow, sizeof low);
      std::memcpy(&high, right + d * rightRow + 16, sizeof high);
#pragma GCC unroll 8
      for (int i = 0; i < rows; ++i) {
        const float factor = left[i * depth + d];
        sums[i][0] += factor * low;
        sums[i][1] += factor * high;
      }
    }
  };
  return secondsOf([&] {
    inParallel(heads * context / rows, [&](int begin, int end) {
      std::vector<float> keys(head * context), values(context * head), scores(rows * context), left(rows * head);
      int prepared = -1;
      for (int part = begin; part < end; ++part) {
        const int h = part * rows / context;
        const _Float16 *kh = &k[h * context * head], *vh = &v[h * context * head];
        if (h != prepared) {
          for (int n = 0; n < context; ++n)
            for (int d = 0; d < head; ++d) keys[d * context + n] = static_cast<float>(kh[n * head + d]);
          for (int i = 0; i < context * head; ++i) values[i] = static_cast<float>(vh[i]);
          prepared = h;
        }
        for (int i = 0; i < rows * head; ++i) left[i] = static_cast<float>(q[part * rows * head + i]) * 0.125f;
        for (int n0 = 0; n0 < context; n0 += tile) {
          Floats sums[rows][2] = {};
          multiply(left.data(), head, &keys[n0], context, sums);
          for (int i = 0; i < rows; ++i) std::memcpy(&scores[i * context + n0], sums[i], sizeof sums[i]);
        }
        float totals[rows];
        for (int i = 0; i < rows; ++i) {
          float* __restrict s = &scores[i * context];
          float largest = s[0], total = 0;
          for (int n = 0; n < context; ++n) largest = s[n] > largest ? s[n] : largest;
          for (int n = 0; n < context; ++n) total += s[n] = std::exp(s[n] - largest);
          totals[i] = total;
        }
        for (int d0 = 0; d0 < head; d0 += tile) {
          Floats sums[rows][2] = {};
          multiply(scores.data(), context, &values[d0], head, sums);
          for (int i = 0; i < rows; ++i) {
            float row[tile];
            std::memcpy(row, sums[i], sizeof row);
            for (int j = 0; j < tile; ++j) out[(part * rows + i) * head + d0 + j] = static_cast<_Float16>(row[j] / totals[i]);
          }
        }
      }
    });
  });
}

}  // namespace limit
