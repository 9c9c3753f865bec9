#include "exec/workers.h"

#include <algorithm>
#include <chrono>

#if !defined(_WIN32)
#include <pthread.h>
#endif

namespace tilesight::exec {

namespace {

// Never destroyed: its threads wait on it until the process ends.
Workers* current = nullptr;
std::once_flag made;

}  // namespace

Workers& Workers::shared() {
  std::call_once(made, [] {
    current = new Workers;
#if !defined(_WIN32)
    pthread_atfork(nullptr, nullptr, [] { current = new Workers; });
#endif
  });
  return *current;
}

void Workers::takeAll(Job& job, std::unique_lock<std::mutex>& lock) {
  while (job.next < job.count) {
    size_t number = job.next++;
    lock.unlock();
    (*job.work)(number);
    lock.lock();
  }
}

void Workers::help() {
  std::unique_lock lock(mutex_);
  while (true) {
    auto open = std::find_if(jobs_.begin(), jobs_.end(), [](const Job* job) {
      return job->next < job->count && job->helpers < job->maxHelpers;
    });
    if (open == jobs_.end()) {
      wanted_.wait(lock);
      continue;
    }
    Job& job = **open;
    ++job.helpers;
    takeAll(job, lock);
    // The caller may return, and the job be gone, as soon as the lock is free.
    if (--job.helpers == 0) left_.notify_all();
  }
}

void Workers::run(unsigned threads, size_t count, const std::function<void(size_t)>& work,
                  const std::function<void()>& meanwhile) {
  Job job{&work, count, 0, 0, threads > 0 ? threads - 1 : 0};
  std::unique_lock lock(mutex_);
  for (; threads_ < job.maxHelpers; ++threads_) std::thread([this] { help(); }).detach();
  jobs_.push_back(&job);
  wanted_.notify_all();
  takeAll(job, lock);
  while (job.helpers > 0) {
    if (left_.wait_for(lock, std::chrono::milliseconds(50)) == std::cv_status::no_timeout) continue;
    lock.unlock();
    meanwhile();
    lock.lock();
  }
  jobs_.remove(&job);
}

}  // namespace tilesight::exec
