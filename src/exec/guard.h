// A client from outside the tree: of a plugin, or given to the C API. Its table may be of another version, its hooks may
// throw, and it may say that it cannot do its work: then it gets no more calls, the launch goes on, and the report says
// that this client saw only a part. A client that crashes is not held up.
#pragma once

#include <atomic>
#include <mutex>
#include <string>

#include "tilesight/client.h"

namespace tilesight::exec {

class Guard {
 public:
  /// Creates the client with `host` and `options`, unless `self` is given. `client` outlives the guard.
  Guard(const ts_client& client, void* self, const ts_host& host, const std::string& options);
  /// Destroys what it created.
  ~Guard();
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

  /// A table of this version, and the state that its hooks take: they call the client's.
  const ts_client& table() const { return table_; }
  void* self() { return &self_; }

  /// Why the client failed; "" if it did not.
  std::string failure() const;
  /// The first message counts. Any thread may call it.
  void fail(std::string message);
  /// That of the hook which this thread is in, or null.
  static Guard* current();

 private:
  struct State {
    Guard* guard = nullptr;
    void* state = nullptr;
  };
  /// Calls the client, unless it has failed.
  template <typename Call>
  void call(const char* hook, Call call);
  template <auto Hook>
  void forward(const char* name);

  ts_client client_{};  // as much as its table has
  ts_client table_{};
  State self_;
  bool created_ = false;
  std::atomic<bool> failed_ = false;
  mutable std::mutex mutex_;
  std::string failure_;
};

}  // namespace tilesight::exec
