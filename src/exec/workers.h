// The threads that help launches: made once, kept, shared by all launches of the process.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <list>
#include <mutex>
#include <thread>
#include <vector>

namespace tilesight::exec {

class Workers {
 public:
  /// The process's workers. A child made by fork() gets its own: threads do not survive it.
  static Workers& shared();

  /// Calls work(0) .. work(count - 1), each once, on the calling thread and at most `threads` - 1
  /// others. Who is free takes the next number, in order. Returns when all have returned; calls
  /// `meanwhile` about every 50 ms on the calling thread while it waits for others.
  void run(unsigned threads, size_t count, const std::function<void(size_t)>& work,
           const std::function<void()>& meanwhile);

 private:
  struct Job {
    const std::function<void(size_t)>* work;
    size_t count, next = 0;
    unsigned helpers = 0, maxHelpers;  // threads beside the caller, now and at most
  };

  void help();
  void takeAll(Job& job, std::unique_lock<std::mutex>& lock);

  std::mutex mutex_;
  std::condition_variable wanted_, left_;
  std::list<Job*> jobs_;
  unsigned threads_ = 0;  // never fewer again
};

}  // namespace tilesight::exec
