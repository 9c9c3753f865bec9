// Which bytes of its storages a launch reads and writes, and who touched some of them.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "exec/run.h"
#include "tilesight/client.h"

namespace tilesight::diff {

/// One bit a byte; what is not touched costs address space only.
class Bytes {
 public:
  explicit Bytes(int64_t bytes);
  void set(int64_t from, int64_t to);
  void clear(int64_t from, int64_t to);
  bool any(int64_t from, int64_t to) const;
  int64_t count() const;
  int64_t size() const { return bytes_; }
  bool operator==(const Bytes& other) const;
  Bytes copy() const;

 private:
  struct Free {
    void operator()(uint64_t* words) const;
  };
  int64_t bytes_;
  std::unique_ptr<uint64_t[], Free> words_;
};

struct Touched {
  std::vector<Bytes> read, written;  // by storage
};

/// Some bytes of a storage, of which it is asked who touched them.
struct Watched {
  uint32_t storage = 0;
  int64_t from = 0, to = 0;
  bool write = false;  // who wrote them last; else who read them first
};

struct Touch {
  std::array<int64_t, 3> program{};
  std::string file;
  uint32_t line = 0;
  std::vector<std::pair<std::string, int64_t>> trips;  // of the loops around it, outermost first
};

struct Ran {
  findings::LaunchReport report;
  Touched touched;
  std::vector<std::optional<Touch>> touches;  // by what was watched
};

/// Runs the launch in place on its storages. Errors: those of exec::run.
Result<Ran> runTouching(const exec::Kernel& kernel, const launch::Launch& launch, const std::vector<Watched>& watched);

}  // namespace tilesight::diff
