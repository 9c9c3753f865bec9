// The machine's limit: the work of the measured kernels as plain loops, compiled for this machine, two
// threads. Prints seconds per run (the least of several) as one JSON object.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <thread>
#include <vector>

namespace {

constexpr int kThreads = 2;

/// Calls work(begin, end) on parts of 0..count, one thread each.
template <typename Work>
void inParallel(int count, Work work) {
  std::vector<std::thread> threads;
  for (int t = 1; t < kThreads; ++t)
    threads.emplace_back(work, count * t / kThreads, count * (t + 1) / kThreads);
  work(0, count / kThreads);
  for (auto& thread : threads) thread.join();
}

template <typename Run>
double secondsOf(Run run) {
  using Clock = std::chrono::steady_clock;
  double best = std::numeric_limits<double>::max(), total = 0;
  for (int rounds = 0; rounds < 5 || total < 0.5; ++rounds) {
    const auto start = Clock::now();
    run();
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    best = std::min(best, seconds);
    total += seconds;
  }
  return best;
}

double vectorAdd() {
  const int n = 1 << 20;
  std::vector<float> x(n, 1.5f), y(n, 2.5f), z(n);
  return secondsOf([&] {
    inParallel(n, [&](int begin, int end) {
      const float *a = x.data(), *b = y.data();
      float* c = z.data();
      for (int i = begin; i < end; ++i) c[i] = a[i] + b[i];
    });
  });
}

double softmax() {
  const int rows = 1024, cols = 1024;
  std::vector<float> in(rows * cols), out(rows * cols);
  for (int i = 0; i < rows * cols; ++i) in[i] = static_cast<float>(i * 7 % 1000) / 250 - 2;
  return secondsOf([&] {
    inParallel(rows, [&](int begin, int end) {
      for (int row = begin; row < end; ++row) {
        const float* x = &in[row * cols];
        float* e = &out[row * cols];
        float largest = x[0], sum = 0;
        for (int i = 0; i < cols; ++i) largest = std::max(largest, x[i]);
        for (int i = 0; i < cols; ++i) e[i] = std::exp(x[i] - largest);
        for (int i = 0; i < cols; ++i) sum += e[i];
        for (int i = 0; i < cols; ++i) e[i] /= sum;
      }
    });
  });
}

// As many floats as the widest vector registers hold.
using Floats = float __attribute__((vector_size(64)));

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

}  // namespace

int main() {
  std::printf("{\"vector_add\": %.9f, \"softmax\": %.9f, \"matmul\": %.9f}\n", vectorAdd(), softmax(), matmul());
}
