// Groups of elementwise operations on one shape, done strip by strip: what only the group reads lives in a few
// strips that stay in the cache, and no tile is made for it. The values are those of the operations one by one.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "exec/kernels/kernels.h"
#include "exec/tile.h"
#include "plan/plan.h"

namespace tilesight::exec {

class Machine;

/// One machine's: keeps strips, and how each group was executed last, from program to program.
class Strips {
 public:
  explicit Strips(const plan::Program& program) : recipes_(program.groups.size()), places_(program.slots.size(), kNone) {}
  /// Executes a group. False if its operations have to be executed one by one, as an operand has no elements, or one
  /// operation would have to say something of its own.
  bool run(Machine& machine, uint32_t number);

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

  /// What was done before the steps, or looked at, so that they were what they are; in this order.
  struct Event {
    enum class Kind : uint8_t {
      Operand,   // the slot holds a tile of this form
      Symbolic,  // the slot holds no elements
      Value,     // the slot holds this very scalar
      Execute,   // an operation on what has no elements: `slot` is its number
      Assign,    // the slot becomes the scalar of a place
      Spread,    // the scalar of a place fills the strip `slot`
    } kind;
    uint32_t slot = 0;
    int32_t place = kNone;
    Form form = Form::Empty;
    ElementKind element = ElementKind::Invalid;
    const Shape* shape = nullptr;
    std::array<int64_t, kMaxRank> stride{};
    int64_t base = 0;
  };

  struct Kept {  // a result that others read
    uint32_t slot;
    int32_t place;
  };

  /// How a group is executed, as long as its operands have the forms that they had.
  struct Recipe {
    bool repeats = false;
    const Shape* shape = nullptr;
    int64_t length = 0;  // elements of a strip
    int32_t used = 0;    // strips
    std::vector<Event> events;
    std::vector<Place> places;
    std::vector<int32_t> filled;       // places that are filled for each strip
    std::vector<Step> steps;
    std::vector<Kept> kept;
    std::vector<uint32_t> dying;       // operands that are not read again
    std::vector<uint32_t> hidden;      // operations whose results lie in strips only
  };

  bool build(Machine& machine, const plan::Group& group);
  bool repeat(Machine& machine);
  bool add(Machine& machine, const plan::Instr& instr, int32_t (&in)[3]);
  void assign(Machine& machine, uint32_t slot, int32_t place);
  int32_t place(const Place& place);
  int32_t placeOf(Machine& machine, uint32_t slot);
  int32_t spread(int32_t scalar);
  void spread(int32_t scalar, int32_t strip);
  int32_t resultOf(Machine& machine, const plan::Instr& instr, const int32_t (&in)[3]);
  void alias(Machine& machine, const plan::Instr& instr, const int32_t (&in)[3], int32_t to);
  int32_t freshStrip();
  int32_t takeStrip();
  void readOnce(int32_t number);
  void makeRoom(Machine& machine, const plan::Group& group);
  uint8_t* storedAt(Machine& machine, const plan::Group& group, const Kept& kept) const;
  void fill(const Place& place, int64_t from, int64_t count) const;
  void calculate();
  void finish(Machine& machine);

  std::vector<Recipe> recipes_;  // by group
  Recipe* recipe_ = nullptr;     // the current one
  // While a recipe is made:
  std::vector<int32_t> places_;       // by slot; kNone: not looked at
  std::vector<uint32_t> touched_;     // slots with a place
  std::vector<Tile> held_;            // operands in another form
  std::vector<int32_t> freeStrips_;   // that steps have read for the last time
  BufferPool stripPool_;  // before strips_
  std::vector<BufferRef> strips_;
};

}  // namespace tilesight::exec
