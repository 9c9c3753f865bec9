// Groups of elementwise operations on one shape, done strip by strip: what only the group reads lives in a few
// strips that stay in the cache, and no tile is made for it. The values are those of the operations one by one.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "exec/kernels/kernels.h"
#include "exec/tile.h"
#include "plan/plan.h"

namespace tilesight::exec {

class Machine;

/// One machine's: keeps its lists and strips from group to group.
class Strips {
 public:
  /// Executes a group. False if its operations have to be executed one by one, as an operand has no elements, or one
  /// operation would have to say something of its own.
  bool run(Machine& machine, const plan::Group& group);

 private:
  static constexpr int32_t kNone = -1;

  /// Where the elements of a value are.
  struct Place {
    enum class Kind : uint8_t {
      Scalar,    // one element for all
      Whole,     // contiguous: a strip is a part of it
      Strip,     // in a strip that is filled again for each part
    } kind = Kind::Scalar;
    ElementKind element = ElementKind::Invalid;
    uint8_t bytes = 0;          // an element's
    int32_t strip = kNone;
    int32_t reads = 0;          // of a strip that an operation wrote: those that are still to come
    const uint8_t* at = nullptr;
    const Tile* source = nullptr;  // what a strip is filled from
  };

  struct Step {
    enum class Kind : uint8_t { Unary, Binary, Ternary, Copy } kind;
    union {
      UnaryFn unary;
      BinaryFn binary;
      TernaryFn ternary;
    };
    int32_t in[3] = {kNone, kNone, kNone};
    int32_t out = kNone;
  };

  bool build(Machine& machine, const plan::Group& group);
  bool add(Machine& machine, const plan::Instr& instr, int32_t (&in)[3]);
  int32_t place(const Place& place);
  int32_t placeOf(Machine& machine, uint32_t slot);
  int32_t spread(int32_t scalar);
  int32_t resultOf(Machine& machine, const plan::Instr& instr, const int32_t (&in)[3]);
  void alias(Machine& machine, const plan::Instr& instr, const int32_t (&in)[3], int32_t to);
  int32_t freshStrip();
  int32_t takeStrip();
  void readOnce(int32_t number);
  void fill(const Place& place, int64_t from, int64_t count);
  void calculate();
  void finish(Machine& machine, const plan::Group& group);

  const Shape* shape_ = nullptr;
  int64_t length_ = 0;  // elements of a strip
  std::vector<int32_t> places_;       // by slot; kNone: not looked at
  std::vector<uint32_t> touched_;     // slots with a place
  std::vector<Place> all_;
  std::vector<int32_t> filled_;       // places that are filled for each strip
  std::vector<Step> steps_;
  std::vector<Tile> held_;            // operands in another form
  std::vector<std::pair<uint32_t, Tile>> kept_;  // results that others read, by slot
  std::vector<int32_t> freeStrips_;    // that steps have read for the last time
  int32_t used_ = 0;                   // strips of this group
  BufferPool stripPool_;  // before strips_
  std::vector<BufferRef> strips_;
};

}  // namespace tilesight::exec
