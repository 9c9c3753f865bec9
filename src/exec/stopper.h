// Ending a launch early: Ctrl-C, a time limit. One per launch, asked by all its machines.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "findings/finding.h"

namespace tilesight::exec {

class Stopper {
 public:
  /// `seconds`: the launch may take this long; 0: any time. `interrupted` is asked about every 50 ms, on
  /// the thread that made the stopper; may be empty.
  Stopper(double seconds, std::function<bool()> interrupted);

  /// The launch must end, for this reason; the first one's is kept. From any thread.
  void stop(const std::string& reason);
  /// Must the launch end? Call often; from any thread.
  bool ask();
  bool stopped() const { return stopped_.load(std::memory_order_relaxed); }
  /// Why, for a report.
  std::string reason();
  /// Where a program stood when it heard of it; the first one's is kept.
  void stoodAt(findings::Unknown place);
  std::optional<findings::Unknown> place();

 private:
  using Clock = std::chrono::steady_clock;

  double seconds_;
  std::function<bool()> interrupted_;
  std::thread::id owner_ = std::this_thread::get_id();
  Clock::time_point deadline_ = Clock::time_point::max(), nextQuestion_;
  std::atomic<bool> stopped_ = false;
  std::atomic<bool> late_ = false;
  std::mutex mutex_;
  std::string stated_;
  std::optional<findings::Unknown> place_;
};

}  // namespace tilesight::exec
