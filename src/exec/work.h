// How a launch was run, beside what it gave: for tests, which assert that the quick ways were taken, and for measuring.
#pragma once

#include <cstdint>

namespace tilesight::exec {

struct Work {
  int64_t ranges = 0;         // of programs that ran side by side; 0: none did
  bool redone = false;        // ranges met, so that everything was undone and run in order
  // See sweep.h. What was undone is not counted.
  int64_t sweptPrograms = 0;  // programs of which something was known
  int64_t sweptTrips = 0;     // trips of loops of which something was known
  int64_t sweptAccesses = 0;  // loads and stores that were not resolved again

  /// Adds what a later range of programs did.
  void add(const Work& later) {
    ranges += later.ranges;
    redone = redone || later.redone;
    sweptPrograms += later.sweptPrograms;
    sweptTrips += later.sweptTrips;
    sweptAccesses += later.sweptAccesses;
  }
};

}  // namespace tilesight::exec
