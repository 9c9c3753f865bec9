#include "exec/stopper.h"

#include <fmt/format.h>

namespace tilesight::exec {

namespace {
constexpr auto kBetweenQuestions = std::chrono::milliseconds(50);
}

Stopper::Stopper(double seconds, std::function<bool()> interrupted)
    : seconds_(seconds), interrupted_(std::move(interrupted)) {
  auto now = Clock::now();
  nextQuestion_ = now + kBetweenQuestions;
  constexpr double kLongest = 1e9;  // seconds; keeps the clock's arithmetic in range
  if (seconds > 0 && seconds < kLongest)
    deadline_ = now + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

bool Stopper::ask() {
  if (stopped()) return true;
  auto now = Clock::now();
  if (now >= deadline_) {
    late_ = true;
    stopped_ = true;
    return true;
  }
  if (interrupted_ && now >= nextQuestion_ && std::this_thread::get_id() == owner_) {
    if (interrupted_()) stopped_ = true;
    nextQuestion_ = Clock::now() + kBetweenQuestions;
  }
  return stopped();
}

void Stopper::stop(const std::string& reason) {
  std::lock_guard lock(mutex_);
  if (stated_.empty()) stated_ = reason;
  stopped_ = true;
}

std::string Stopper::reason() {
  std::lock_guard lock(mutex_);
  if (!stated_.empty()) return stated_;
  return late_ ? fmt::format("the launch was stopped after {} s, its time limit", seconds_)
               : std::string("the launch was interrupted");
}

void Stopper::stoodAt(findings::Unknown place) {
  std::lock_guard lock(mutex_);
  if (!place_) place_ = std::move(place);
}

std::optional<findings::Unknown> Stopper::place() {
  std::lock_guard lock(mutex_);
  return place_;
}

}  // namespace tilesight::exec
