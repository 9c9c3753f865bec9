// Float comparisons: bytes of 0 or 1 out. The narrow kinds are compared in f32.
#include "exec/kernels/int_ops.h"
#include "exec/kernels/narrow.h"
#include "exec/kernels/sets.h"

TS_ISA_BEGIN
namespace {

struct FalseF : Commuting { template <class T> TS_INLINE static uint8_t apply(T, T) { return 0; } };
struct TrueF : Commuting { template <class T> TS_INLINE static uint8_t apply(T, T) { return 1; } };
struct Oeq : Commuting { template <class T> TS_INLINE static uint8_t apply(T a, T b) { return a == b; } };
struct Une : Commuting { template <class T> TS_INLINE static uint8_t apply(T a, T b) { return !(a == b); } };
struct Olt : Ordered { template <class T> TS_INLINE static uint8_t apply(T a, T b) { return a < b; } };
struct Ole : Ordered { template <class T> TS_INLINE static uint8_t apply(T a, T b) { return a <= b; } };
struct Ogt : Ordered { template <class T> TS_INLINE static uint8_t apply(T a, T b) { return a > b; } };
struct Oge : Ordered { template <class T> TS_INLINE static uint8_t apply(T a, T b) { return a >= b; } };
struct One : Commuting { template <class T> TS_INLINE static uint8_t apply(T a, T b) { return uint8_t(a < b) | uint8_t(a > b); } };
struct Ord : Commuting { template <class T> TS_INLINE static uint8_t apply(T a, T b) { return uint8_t(a == a) & uint8_t(b == b); } };
struct Uno : Commuting { template <class T> TS_INLINE static uint8_t apply(T a, T b) { return uint8_t(a != a) | uint8_t(b != b); } };
struct Ueq : Commuting { template <class T> TS_INLINE static uint8_t apply(T a, T b) { return One::apply(a, b) ^ 1; } };
struct Ult : Ordered { template <class T> TS_INLINE static uint8_t apply(T a, T b) { return !(a >= b); } };
struct Ule : Ordered { template <class T> TS_INLINE static uint8_t apply(T a, T b) { return !(a > b); } };
struct Ugt : Ordered { template <class T> TS_INLINE static uint8_t apply(T a, T b) { return !(a <= b); } };
struct Uge : Ordered { template <class T> TS_INLINE static uint8_t apply(T a, T b) { return !(a < b); } };

template <class T> struct Plain {
  template <class Op> static BinaryForms forms() { return Loops<Op, T, uint8_t>::forms(); }
};
template <ElementKind K> struct Narrow {
  template <class Op> static BinaryForms forms() {
    using C = typename NarrowLoops<K>::template Compare<Loops<Op, float, uint8_t>>;
    return {C::vv, C::vs, C::sv};
  }
};

template <class Kind>
BinaryForms forms(CmpFOp op) {
  switch (op) {
    case CmpFOp::False: return Kind::template forms<FalseF>();
    case CmpFOp::Oeq: return Kind::template forms<Oeq>();
    case CmpFOp::Ogt: return Kind::template forms<Ogt>();
    case CmpFOp::Oge: return Kind::template forms<Oge>();
    case CmpFOp::Olt: return Kind::template forms<Olt>();
    case CmpFOp::Ole: return Kind::template forms<Ole>();
    case CmpFOp::One: return Kind::template forms<One>();
    case CmpFOp::Ord: return Kind::template forms<Ord>();
    case CmpFOp::Ueq: return Kind::template forms<Ueq>();
    case CmpFOp::Ugt: return Kind::template forms<Ugt>();
    case CmpFOp::Uge: return Kind::template forms<Uge>();
    case CmpFOp::Ult: return Kind::template forms<Ult>();
    case CmpFOp::Ule: return Kind::template forms<Ule>();
    case CmpFOp::Une: return Kind::template forms<Une>();
    case CmpFOp::Uno: return Kind::template forms<Uno>();
    case CmpFOp::True: return Kind::template forms<TrueF>();
  }
  return {};
}

}  // namespace

BinaryForms compareFloat(CmpFOp op, ElementKind kind) {
  switch (kind) {
    case ElementKind::F32: return forms<Plain<float>>(op);
    case ElementKind::F64: return forms<Plain<double>>(op);
#define TS_CASE(K) case ElementKind::K: return forms<Narrow<ElementKind::K>>(op);
    TS_NARROW_KINDS(TS_CASE)
#undef TS_CASE
    default: return {};
  }
}

TS_ISA_END
