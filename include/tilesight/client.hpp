// The client interface for C++: a class with the hooks it wants, nothing else.
//
//   struct Counter {
//     static constexpr const char* name = "counter";
//     static constexpr uint32_t needs = TS_NEED_ADDRESSES;
//     Counter(const ts_host& host, const char* options);
//     Counter fork() const;            // the state of one range of programs, empty
//     void merge(Counter&& later);     // in program order
//     void on_load(const ts_access& access);
//   };
//   const ts_client& table = tilesight::client_table<Counter>();
//
// Hooks that the class does not have are left out of the table, so the core does not call them. A class
// without fork() is shared by all ranges: its hooks must then be safe to call from several threads.
#pragma once

#include <utility>

#include "tilesight/client.h"

namespace tilesight {

/// The C table of client class `C`. The table lives as long as the program.
template <typename C>
const ts_client& client_table() {
  static const ts_client table = [] {
    ts_client t{};
    t.size = sizeof t;
    t.abi = TS_CLIENT_ABI;
    t.name = C::name;
    t.needs = C::needs;
    t.create = [](const ts_host* host, const char* options) -> void* { return new C(*host, options ? options : ""); };
    t.destroy = [](void* self) { delete static_cast<C*>(self); };
    if constexpr (requires(C c) { c.fork(); }) {
      t.fork = [](void* self) -> void* { return new C(static_cast<C*>(self)->fork()); };
      t.merge = [](void* self, void* state) {
        static_cast<C*>(self)->merge(std::move(*static_cast<C*>(state)));
        delete static_cast<C*>(state);
      };
      t.discard = [](void*, void* state) { delete static_cast<C*>(state); };
    }
#define TS_HOOK(hook, argument_type)                                            \
  if constexpr (requires(C c, const argument_type& a) { c.hook(a); })           \
    t.hook = [](void* state, const argument_type* a) { static_cast<C*>(state)->hook(*a); };
    TS_HOOK(launch_begin, ts_launch)
    TS_HOOK(argument, ts_argument)
    TS_HOOK(launch_end, ts_summary)
    TS_HOOK(program_begin, ts_program)
    TS_HOOK(program_end, ts_program)
    TS_HOOK(loop_iteration, ts_iteration)
    TS_HOOK(on_load, ts_access)
    TS_HOOK(on_store, ts_access)
    TS_HOOK(on_atomic, ts_access)
    TS_HOOK(on_copy, ts_access)
    TS_HOOK(on_dot, ts_compute)
    TS_HOOK(on_reduce, ts_compute)
#undef TS_HOOK
    return t;
  }();
  return table;
}

}  // namespace tilesight
