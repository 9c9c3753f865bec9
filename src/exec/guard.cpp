#include "exec/guard.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

namespace tilesight::exec {

namespace {

thread_local Guard* running = nullptr;

/// What a hook is called in the table.
template <auto Hook>
const char* hookName = "";

}  // namespace

Guard* Guard::current() { return running; }

std::string Guard::failure() const {
  std::lock_guard lock(mutex_);
  return failure_;
}

void Guard::fail(std::string message) {
  std::lock_guard lock(mutex_);
  if (failed_) return;
  failure_ = message.empty() ? "no reason given" : std::move(message);
  failed_ = true;
}

template <typename Call>
void Guard::call(const char* hook, Call call) {
  if (failed_.load(std::memory_order_relaxed)) return;
  Guard* before = running;
  running = this;
  try {
    call();
  } catch (...) {
    // Of no type that this library could know: nothing is relied on but that it came.
    fail(fmt::format("an exception left {}", hook));
  }
  running = before;
}

/// Sets the hook in the table, if the client has it.
template <auto Hook>
void Guard::forward(const char* name) {
  if (!(client_.*Hook)) return;
  hookName<Hook> = name;
  table_.*Hook = [](void* state, const auto* event) {
    const State& s = *static_cast<const State*>(state);
    s.guard->call(hookName<Hook>, [&] { (s.guard->client_.*Hook)(s.state, event); });
  };
}

Guard::Guard(const ts_client& client, void* self, const ts_host& host, const std::string& options) {
  std::memcpy(&client_, &client, std::min<size_t>(client.size, sizeof client_));
  table_.size = sizeof table_;
  table_.abi = TS_CLIENT_ABI;
  table_.name = client_.name;
  table_.needs = client_.needs;
  self_ = {this, self};
  if (!self && client_.create) {
    created_ = true;
    call("create", [&] { self_.state = client_.create(&host, options.c_str()); });
  }
  if (client_.fork) {
    table_.fork = [](void* state) -> void* {
      Guard* guard = static_cast<State*>(state)->guard;
      auto* range = new State{guard, nullptr};
      guard->call("fork", [&] { range->state = guard->client_.fork(guard->self_.state); });
      return range;
    };
    table_.merge = [](void*, void* state) {
      const State* range = static_cast<State*>(state);
      Guard* guard = range->guard;
      if (guard->client_.merge) guard->call("merge", [&] { guard->client_.merge(guard->self_.state, range->state); });
      delete range;
    };
    table_.discard = [](void*, void* state) {
      const State* range = static_cast<State*>(state);
      Guard* guard = range->guard;
      if (guard->client_.discard) guard->call("discard", [&] { guard->client_.discard(guard->self_.state, range->state); });
      delete range;
    };
  }
  forward<&ts_client::launch_begin>("launch_begin");
  forward<&ts_client::argument>("argument");
  forward<&ts_client::launch_end>("launch_end");
  forward<&ts_client::program_begin>("program_begin");
  forward<&ts_client::program_end>("program_end");
  forward<&ts_client::loop_iteration>("loop_iteration");
  forward<&ts_client::on_load>("on_load");
  forward<&ts_client::on_store>("on_store");
  forward<&ts_client::on_atomic>("on_atomic");
  forward<&ts_client::on_copy>("on_copy");
  forward<&ts_client::on_dot>("on_dot");
  forward<&ts_client::on_reduce>("on_reduce");
}

Guard::~Guard() {
  if (!created_ || !client_.destroy || (failed_ && !self_.state)) return;
  // Also after a failure: nobody else frees what it has.
  try {
    client_.destroy(self_.state);
  } catch (...) {
  }
}

}  // namespace tilesight::exec
