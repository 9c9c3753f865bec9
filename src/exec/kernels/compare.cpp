// Comparisons: bytes of 0 or 1 out.
#include "exec/kernels/int_ops.h"
#include "exec/kernels/narrow.h"
#include "exec/kernels/sets.h"

TS_ISA_BEGIN
namespace {

struct EqI : Commuting { template <class T> TS_INLINE static uint8_t apply(T a, T b) { return a == b; } };
struct NeI : Commuting { template <class T> TS_INLINE static uint8_t apply(T a, T b) { return a != b; } };
struct LtI : Ordered { template <class T> TS_INLINE static uint8_t apply(T a, T b) { return a < b; } };
struct LeI : Ordered { template <class T> TS_INLINE static uint8_t apply(T a, T b) { return a <= b; } };

/// The forms of a > b from those of b < a.
template <class L>
BinaryForms swapped() {
  struct Swapped {
    static void vv(void* out, const void* a, const void* b, size_t n) { L::vv(out, b, a, n); }
    static void vs(void* out, const void* a, const void* b, size_t n) { L::sv(out, b, a, n); }
    static void sv(void* out, const void* a, const void* b, size_t n) { L::vs(out, b, a, n); }
  };
  return {Swapped::vv, Swapped::vs, Swapped::sv};
}

template <class U>
BinaryForms forms(CmpIOp op) {
  using S = Signed<U>;
  switch (op) {
    case CmpIOp::Eq: return Loops<EqI, U, uint8_t>::forms();
    case CmpIOp::Ne: return Loops<NeI, U, uint8_t>::forms();
    case CmpIOp::Slt: return Loops<LtI, S, uint8_t>::forms();
    case CmpIOp::Sle: return Loops<LeI, S, uint8_t>::forms();
    case CmpIOp::Sgt: return swapped<Loops<LtI, S, uint8_t>>();
    case CmpIOp::Sge: return swapped<Loops<LeI, S, uint8_t>>();
    case CmpIOp::Ult: return Loops<LtI, U, uint8_t>::forms();
    case CmpIOp::Ule: return Loops<LeI, U, uint8_t>::forms();
    case CmpIOp::Ugt: return swapped<Loops<LtI, U, uint8_t>>();
    case CmpIOp::Uge: return swapped<Loops<LeI, U, uint8_t>>();
  }
  return {};
}

/// i1: the signed values are 0 and -1, so signed order is the reverse of unsigned order.
CmpIOp reversedIfSigned(CmpIOp op) {
  switch (op) {
    case CmpIOp::Slt: return CmpIOp::Ugt;
    case CmpIOp::Sle: return CmpIOp::Uge;
    case CmpIOp::Sgt: return CmpIOp::Ult;
    case CmpIOp::Sge: return CmpIOp::Ule;
    default: return op;
  }
}

}  // namespace

BinaryForms compareInt(CmpIOp op, ElementKind kind) {
  switch (kind) {
    case ElementKind::I1: return forms<uint8_t>(reversedIfSigned(op));
    case ElementKind::I8: return forms<uint8_t>(op);
    case ElementKind::I16: return forms<uint16_t>(op);
    case ElementKind::I32: return forms<uint32_t>(op);
    case ElementKind::I64: case ElementKind::Pointer: return forms<uint64_t>(op);
    default: return {};
  }
}

TS_ISA_END
