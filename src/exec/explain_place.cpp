#include "exec/explain_place.h"

#include <algorithm>
#include <cstdlib>

namespace tilesight::exec {

using ir::Operation;
using ir::Value;

namespace {

struct Term {
  int axis;
  int64_t count;          // elements along the axis
  bool varies;            // between the elements of the tile
  std::vector<Ref> path;  // the term, and the sums it is part of
};

class Splitter {
 public:
  Splitter(const Explainer& explainer, const ViewInfo& view, int32_t origin)
      : explainer_(explainer), view_(view), origin_(origin) {}

  bool pointer(Ref ref, int64_t at, int depth = 0) {
    ref = explainer_.resolve(ref);
    const Operation* op = ref.value->owner;
    if (depth > kMaxDepth) return false;
    if (!op) {
      if (auto carried = explainer_.carried(ref))
        return pointer(carried->start, at, depth + 1) && steps(*carried, ref, at, depth + 1);
      // The argument itself.
      const Tile* tile = explainer_.tileOf(ref);
      return tile && tile->isSplat() && tile->origin == origin_ && tile->base == view_.address;
    }
    std::string_view o = op->name;
    if (onlyMoves(o))
      return pointer({ref.instance, op->operands[0]}, Explainer::operandElement(*op, 0, at), depth + 1);
    if (o != "tile.ptr_add" || ir::elementBytes(pointeeKind(op->result()->type)) != view_.elementBytes) return false;
    return pointer({ref.instance, op->operands[0]}, Explainer::operandElement(*op, 0, at), depth + 1) &&
           offset({ref.instance, op->operands[1]}, Explainer::operandElement(*op, 1, at), 1, {}, depth + 1);
  }

  std::vector<Term> terms;
  bool told = false;  // some term counts along an axis of another stride than 1
  // The axis along which loops moved the address on: each turn as far as the last one, which need not be.
  // -1: none did, -2: several.
  int moved = -1;

 private:
  static constexpr int kMaxDepth = 24;

  // The axis of this stride; -1: none, -2: several.
  int axisOf(int64_t stride) const {
    for (bool single : {false, true}) {
      int found = -1;
      for (size_t d = 0; d < view_.shape.size(); ++d) {
        if ((view_.shape[d] <= 1) != single || view_.strides[d] == 0 || std::abs(view_.strides[d]) != std::abs(stride)) continue;
        if (found >= 0) return -2;
        found = static_cast<int>(d);
      }
      if (found >= 0) return found;
    }
    return -1;
  }

  bool leaf(Ref ref, int64_t at, int64_t scale, std::vector<Ref> path) {
    int64_t value = 0;
    if (!explainer_.valueAt(ref, at, &value)) return false;
    if (value == 0 && axisOf(scale) == -1) return true;
    int64_t unit = scale;
    int axis = axisOf(scale);
    if (axis == -1) {
      // A block's start and the like: a number of elements.
      if (__builtin_mul_overflow(value, scale, &value)) return false;
      unit = 1;
      axis = axisOf(1);
    }
    if (axis < 0) return false;
    if (unit != view_.strides[axis]) value = -value;
    const Tile* tile = explainer_.tileOf(explainer_.resolve(ref));
    Ref bare = explainer_.strip(ref);
    path.push_back(bare);
    told = told || std::abs(unit) != 1;
    bool varies = tile ? tile->numel() > 1 && dependence(*tile) != 0 : ref.value->type.isTensor();
    terms.push_back({axis, value, varies, std::move(path)});
    return true;
  }

  // What the turns of a loop have added to a value that it carries, if each adds the same.
  bool steps(const Explainer::Carried& carried, Ref ref, int64_t at, int depth) {
    if (carried.trips <= 0) return carried.trips == 0;
    const size_t before = terms.size();
    if (!added(carried.next, ref.value, at, 1, depth)) return false;
    for (size_t i = before; i < terms.size(); ++i) {
      if (__builtin_mul_overflow(terms[i].count, carried.trips, &terms[i].count)) return false;
      moved = moved == -1 || moved == terms[i].axis ? terms[i].axis : -2;
    }
    return true;
  }

  // The terms of `next` but for `carried`, which is one of them.
  bool added(Ref next, const Value* carried, int64_t at, int64_t sign, int depth) {
    next = explainer_.resolve(next);
    if (next.value == carried) return true;
    const Operation* op = next.value->owner;
    if (!op || depth > kMaxDepth) return false;
    std::string_view o = op->name;
    auto element = [&](unsigned i) { return Explainer::operandElement(*op, i, at); };
    if (onlyMoves(o)) return added({next.instance, op->operands[0]}, carried, element(0), sign, depth + 1);
    if (o != "tile.ptr_add" && o != "arith.addi" && o != "arith.subi") return false;
    if (o == "tile.ptr_add" && ir::elementBytes(pointeeKind(op->result()->type)) != view_.elementBytes) return false;
    // n + i is i + n.
    const unsigned from = o == "arith.addi" && leadsTo({next.instance, op->operands[1]}, carried) ? 1 : 0;
    return added({next.instance, op->operands[from]}, carried, element(from), sign, depth + 1) &&
           offset({next.instance, op->operands[1 - from]}, element(1 - from), o == "arith.subi" ? -sign : sign, {next}, depth + 1);
  }

  bool leadsTo(Ref ref, const Value* carried, int depth = 0) const {
    ref = explainer_.resolve(ref);
    if (ref.value == carried) return true;
    const Operation* op = ref.value->owner;
    if (!op || depth > kMaxDepth) return false;
    if (op->name == "arith.addi" && leadsTo({ref.instance, op->operands[1]}, carried, depth + 1)) return true;
    return (op->name == "arith.addi" || op->name == "arith.subi" || onlyMoves(op->name)) &&
           leadsTo({ref.instance, op->operands[0]}, carried, depth + 1);
  }

  // The factor of a product that is one number, or 0.
  int64_t factor(Ref ref) const {
    ref = explainer_.strip(ref);
    const Tile* tile = explainer_.tileOf(ref);
    return tile && ir::isIntegerKind(tile->kind) && (tile->isSplat() || tile->numel() == 1) ? scalarValue(*tile) : 0;
  }

  bool offset(Ref ref, int64_t at, int64_t scale, std::vector<Ref> path, int depth) {
    ref = explainer_.resolve(ref);
    const Operation* op = ref.value->owner;
    if (!op && depth <= kMaxDepth && std::abs(scale) == 1) {
      // An offset that a loop moves on.
      if (auto carried = explainer_.carried(ref)) {
        const std::vector<Term> before = terms;
        const bool toldBefore = told;
        std::vector<Ref> inside = path;
        inside.push_back(ref);
        if (offset(carried->start, at, scale, inside, depth + 1)) {
          const size_t start = terms.size();
          if (steps(*carried, ref, at, depth + 1)) {
            for (size_t i = start; i < terms.size(); ++i) terms[i].count *= scale;
            return true;
          }
        }
        terms = before;
        told = toldBefore;
      }
    }
    if (!op || depth > kMaxDepth) return leaf(ref, at, scale, std::move(path));
    std::string_view o = op->name;
    auto inner = [&](unsigned i, int64_t factor) {
      return offset({ref.instance, op->operands[i]}, Explainer::operandElement(*op, i, at), factor, path, depth + 1);
    };
    if (onlyMoves(o) || o == "arith.extsi") return inner(0, scale);
    if (o == "arith.addi" || o == "arith.subi") {
      path.push_back(ref);
      return inner(0, scale) && inner(1, o == "arith.addi" ? scale : -scale);
    }
    if (o == "arith.muli" && std::abs(scale) == 1) {
      // rows * stride: which of the two is the stride? A program's row may happen to equal one.
      int best = -1, bestRank = -1;
      for (int i : {1, 0}) {
        Ref side = explainer_.strip({ref.instance, op->operands[i]});
        int64_t stride = factor(side);
        if (stride == 0 || axisOf(stride) == -1) continue;
        bool fixed = !side.value->owner || side.value->owner->name == "arith.constant";
        int rank = (fixed ? 2 : 0) + (std::abs(stride) != 1 ? 1 : 0);
        if (rank > bestRank) best = i, bestRank = rank;
      }
      if (best >= 0) return inner(static_cast<unsigned>(1 - best), scale * factor({ref.instance, op->operands[best]}));
    }
    return leaf(ref, at, scale, std::move(path));
  }

  const Explainer& explainer_;
  const ViewInfo& view_;
  int32_t origin_;
};

// Elements in row-major order, without gaps.
bool isPlain(const ViewInfo& view) {
  int64_t stride = 1;
  for (size_t d = view.shape.size(); d-- > 0; stride *= view.shape[d])
    if (view.shape[d] != 1 && view.strides[d] != stride) return false;
  return stride > 0;
}

}  // namespace

std::optional<PlaceInView> placeInView(const Explainer& explainer, const Instr& instr, const Resolved& access,
                                       int64_t element, const ViewInfo& view) {
  if (instr.op != Opcode::Load && instr.op != Opcode::Store && instr.op != Opcode::AtomicRmw && instr.op != Opcode::AtomicCas) return {};
  size_t rank = view.shape.size();
  int64_t bytes = elementBits(access.address, element) - view.address;
  if (rank == 0 || bytes % view.elementBytes) return {};
  int64_t offset = bytes / view.elementBytes;
  Splitter split(explainer, view, static_cast<int32_t>(view.argument));
  PlaceInView place;
  place.index.assign(rank, 0);
  if (!split.pointer({instr.instance, instr.source->operands[0]}, element)) return {};
  int64_t sum = 0;
  for (const Term& term : split.terms) {
    int64_t step = 0;
    if (__builtin_mul_overflow(term.count, view.strides[term.axis], &step) || __builtin_add_overflow(sum, step, &sum)) return {};
    place.index[term.axis] += term.count;
  }
  if (sum != offset) {
    // It wrapped, or is 0 where a term is not known, or the turns of a loop differ.
    const int64_t rest = offset - sum;
    if (split.moved < 0 || rest % view.strides[split.moved]) return {};
    place.index[split.moved] += rest / view.strides[split.moved];
  }
  auto left = [&](size_t d) { return place.index[d] < 0 || place.index[d] >= view.shape[d]; };
  if (!split.told && rank > 1) {
    if (!isPlain(view) || offset < 0) return {};
    place.flat = true;
    int64_t rest = offset;
    for (size_t d = rank; d-- > 0;) {
      place.index[d] = d == 0 ? rest : rest % view.shape[d];
      if (d) rest /= view.shape[d];
    }
  }
  for (size_t d = 0; d < rank && place.axis < 0; ++d)
    if (left(d)) place.axis = static_cast<int>(d);
  if (place.axis < 0) return {};
  for (Term& term : split.terms) {
    if (!term.varies) continue;
    std::vector<Ref>& to = place.flat || term.axis == place.axis ? place.variables : place.others;
    to.insert(to.end(), term.path.begin(), term.path.end());
  }
  return place;
}

}  // namespace tilesight::exec
