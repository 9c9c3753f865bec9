// The launches that are looked at: those of all bundles, run one after another in the background, the one that is
// asked for first. What is asked for is read and compiled at once, by a thread of its own.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "server/loaded.h"
#include "trace/expect.h"

namespace tilesight::server {

struct Entry {
  enum class State : uint8_t { Waiting, Running, Ready, Failed };
  std::string bundle, kernel;
  size_t index = 0;       // in the bundle
  State state = State::Waiting;
  std::string error;      // Failed: what is wrong
  bool unreadable = false;  // the bundle itself is
  std::array<int64_t, 3> grid{1, 1, 1};
  uint32_t number = 0;    // in the session that captured it
  uint32_t errors = 0, warnings = 0, notes = 0, unknowns = 0;
  double seconds = 0;
};

/// What a tensor should hold after a launch.
struct Expectation {
  std::string tensor, file;  // the argument's name; where the array is from
  trace::Expected array;
};

class Workspace {
 public:
  explicit Workspace(const std::vector<std::string>& bundles);
  ~Workspace();
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  /// The launches, and of which version of the files they are.
  struct Listing {
    std::vector<Entry> entries;
    uint64_t version = 0;
  };
  Listing listing() const;
  std::vector<Entry> entries() const { return listing().entries; }
  /// Looks whether the files have changed: then all is read again. How often that happened. A file that cannot be read counts
  /// only when it is the same at the next look: until then someone may be writing it.
  uint64_t refresh();
  /// The launch, maybe before it has run (it is then the next to run); null while it has not been read, when it failed, or
  /// when the files are no longer those of `version`.
  std::shared_ptr<const Loaded> get(size_t launch, uint64_t version);
  /// The same, but waits until it has run.
  std::shared_ptr<const Loaded> wait(size_t launch);

  /// From now on, results of the tensor of this name and shape are compared with the array, in launch number `launch` of
  /// the list, or, without a number, in all. It stays when the files change.
  void expect(Expectation expectation, std::optional<size_t> launch = {});
  /// The latest for this launch's tensor; null: none.
  std::shared_ptr<const Expectation> expected(size_t launch, const launch::Argument& tensor) const;

 private:
  void read();  // a thread: reads and compiles what is asked for
  void work();  // a thread: runs all launches
  // With the mutex:
  void scan();
  std::shared_ptr<Loaded> kept(size_t launch);  // or null
  std::shared_ptr<Loaded> keep(size_t launch, std::shared_ptr<Loaded> loaded);  // the one that is kept
  void failed(size_t launch, const Diagnostic& error);

  static constexpr size_t kKept = 6;  // launches in memory; others run again when they are asked for
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> bundles_;
  std::vector<std::string> stamps_;  // when the bundles changed, and their sizes
  std::vector<std::string> seen_;    // the same at the last look, of what could not be read
  uint64_t version_ = 0;
  std::vector<Entry> entries_;
  std::deque<size_t> wanted_, unread_;
  std::deque<std::pair<size_t, std::shared_ptr<Loaded>>> kept_;
  std::vector<std::pair<std::optional<size_t>, std::shared_ptr<const Expectation>>> expectations_;
  std::atomic<bool> ends_ = false;
  std::atomic<uint64_t> current_ = 0;  // version_, for launches that run
  std::thread reader_, worker_;
};

}  // namespace tilesight::server
