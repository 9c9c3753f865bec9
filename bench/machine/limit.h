// What the machine's limits share: a loop cut into parts for threads, and the least time of several runs.
#pragma once

#include <algorithm>
#include <chrono>
#include <limits>
#include <thread>
#include <vector>

namespace limit {

/// Of every loop; set once, by main.
inline int threads = 2;

/// Calls work(begin, end) on parts of 0..count, one thread each.
template <typename Work>
void inParallel(int count, Work work) {
  std::vector<std::thread> others;
  for (int t = 1; t < threads; ++t)
    others.emplace_back(work, static_cast<int>(int64_t{count} * t / threads),
                        static_cast<int>(int64_t{count} * (t + 1) / threads));
  work(0, count / threads);
  for (auto& thread : others) thread.join();
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

// Seconds of a run of the workload of that name in bench/workloads.py.
double vectorAdd();
double softmax();
double layerNorm();
double dropout();
double matmul();
double attention();

}  // namespace limit
