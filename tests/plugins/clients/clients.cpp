// A plugin with clients: `wide` is a useful one, in C++; the others do something wrong.
#include <tilesight/client.hpp>
#include <tilesight/plugin.h>

#include <cstdio>

namespace {

/// Counts the bytes that each program moves, and reports accesses of more than 64 bytes.
struct Wide {
  static constexpr const char* name = "wide";
  static constexpr uint32_t needs = TS_NEED_ADDRESSES;

  Wide(const ts_host& host, const char*) : host_(&host) {}
  Wide fork() const { return Wide(*host_, ""); }
  void merge(Wide&& later) { bytes_ += later.bytes_; }
  void on_load(const ts_access& access) { seen(access, "reads"); }
  void on_store(const ts_access& access) { seen(access, "writes"); }
  void launch_end(const ts_summary& summary) {
    std::printf("%lld bytes in %lld programs\n", static_cast<long long>(bytes_), static_cast<long long>(summary.programs));
  }

 private:
  void seen(const ts_access& access, const char* does) {
    const int64_t bytes = access.active * access.element_bytes;
    bytes_ += bytes;
    if (bytes <= 64) return;
    char message[80];
    std::snprintf(message, sizeof message, "%s %lld bytes at once", does, static_cast<long long>(bytes));
    host_->report(&access, "wide-access", 1, 0, access.active, message);
  }

  const ts_host* host_;
  int64_t bytes_ = 0;
};

const ts_host* host_of_all = nullptr;

void* keep(const ts_host* host, const char*) {
  host_of_all = host;
  return nullptr;
}

ts_client named(const char* name) {
  ts_client client{};
  client.size = sizeof client;
  client.abi = TS_CLIENT_ABI;
  client.name = name;
  client.needs = TS_NEED_ADDRESSES;
  client.create = keep;
  return client;
}

/// Says at its first store that it cannot go on.
const ts_client& gives_up() {
  static const ts_client table = [] {
    ts_client client = named("gives-up");
    client.on_store = [](void*, const ts_access*) { host_of_all->fail("no room for more than 0 stores"); };
    return client;
  }();
  return table;
}

const ts_client& cannot_begin() {
  static const ts_client table = [] {
    ts_client client = named("cannot-begin");
    client.create = [](const ts_host* host, const char*) -> void* {
      host->fail("its data file is missing");
      return nullptr;
    };
    client.on_load = [](void*, const ts_access*) { std::printf("called after it failed\n"); };
    return client;
  }();
  return table;
}

const ts_client& throws() {
  static const ts_client table = [] {
    ts_client client = named("throws");
    client.on_load = [](void*, const ts_access*) { throw 7; };
    return client;
  }();
  return table;
}

const ts_client& wrong_element() {
  static const ts_client table = [] {
    ts_client client = named("wrong-element");
    client.on_load = [](void*, const ts_access* access) { host_of_all->report(access, "odd", 1, access->elements, 1, "past the tile"); };
    return client;
  }();
  return table;
}

const ts_client* const clients[] = {&tilesight::client_table<Wide>(), &gives_up(), &cannot_begin(), &throws(), &wrong_element()};

}  // namespace

extern "C" TS_PLUGIN_EXPORT int32_t TS_PLUGIN_QUERY(const ts_plugin_host*, const ts_plugin** plugin, ts_error*) {
  static const ts_plugin table = [] {
    ts_plugin p{};
    p.size = sizeof p;
    p.abi_major = TS_PLUGIN_ABI_MAJOR;
    p.id = "test.clients";
    p.version = "1";
    p.summary = "clients for tests";
    p.clients = clients;
    p.client_count = sizeof clients / sizeof *clients;
    return p;
  }();
  *plugin = &table;
  return 0;
}
