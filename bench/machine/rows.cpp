// Work on rows with reductions: softmax and layer norm of 1024 x 1024.
#include <cmath>

#include "limit.h"

namespace limit {
namespace {

constexpr int rows = 1024, cols = 1024;

std::vector<float> matrix() {
  std::vector<float> x(rows * cols);
  for (int i = 0; i < rows * cols; ++i) x[i] = static_cast<float>(i * 7 % 1000) / 250 - 2;
  return x;
}

}  // namespace

double softmax() {
  const std::vector<float> in = matrix();
  std::vector<float> out(rows * cols);
  return secondsOf([&] {
    inParallel(rows, [&](int begin, int end) {
      for (int row = begin; row < end; ++row) {
        const float* x = &in[row * cols];
        float* __restrict e = &out[row * cols];
        float largest = x[0], sum = 0;
        for (int i = 0; i < cols; ++i) largest = x[i] > largest ? x[i] : largest;
        for (int i = 0; i < cols; ++i) sum += e[i] = std::exp(x[i] - largest);
        const float factor = 1 / sum;
        for (int i = 0; i < cols; ++i) e[i] *= factor;
      }
    });
  });
}

double layerNorm() {
  const std::vector<float> in = matrix(), weight(cols, 1.5f), bias(cols, 0.5f);
  std::vector<float> out(rows * cols);
  return secondsOf([&] {
    inParallel(rows, [&](int begin, int end) {
      for (int row = begin; row < end; ++row) {
        const float* x = &in[row * cols];
        float* __restrict y = &out[row * cols];
        float sum = 0, squares = 0;
        for (int i = 0; i < cols; ++i) sum += x[i];
        const float mean = sum / cols;
        for (int i = 0; i < cols; ++i) squares += (x[i] - mean) * (x[i] - mean);
        const float scale = 1 / std::sqrt(squares / cols + 1e-5f);
        for (int i = 0; i < cols; ++i) y[i] = (x[i] - mean) * scale * weight[i] + bias[i];
      }
    });
  });
}

}  // namespace limit
