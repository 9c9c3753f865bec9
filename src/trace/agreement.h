// Does what a program stores, run again, agree with what its launch left?
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "exec/observer.h"
#include "launch/launch.h"

namespace tilesight::trace {

/// Looks at stores for another observer, which sees everything else.
class Agreement : public exec::Observer {
 public:
  /// `left`: what the launch left; storages without data are not compared. Null: none is.
  Agreement(exec::Observer& other, const launch::Launch* left) : other_(other), left_(left) {}

  /// Bytes that were stored and are not what the launch left.
  struct Bytes {
    size_t storage;
    int64_t at, count;
  };
  const std::vector<Bytes>& differing() const { return differing_; }
  /// The first of them that are not what `after` holds, either.
  std::optional<Bytes> changed(const launch::Launch& after) const;

  void before(exec::Machine& machine, const exec::Instr& instr) override { other_.before(machine, instr); }
  void after(exec::Machine& machine, const exec::Instr& instr) override { other_.after(machine, instr); }
  void finished(exec::Machine& machine) override { other_.finished(machine); }
  void stored(exec::Machine& machine, const exec::Resolved& access, const exec::Tile& value) override;

 private:
  exec::Observer& other_;
  const launch::Launch* left_;
  std::vector<Bytes> differing_;
};

}  // namespace tilesight::trace
