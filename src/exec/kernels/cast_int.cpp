// Casts between integer kinds.
#include "exec/kernels/elementwise.h"
#include "exec/kernels/int_ops.h"
#include "exec/kernels/sets.h"

TS_ISA_BEGIN
namespace {

template <class From, class To> struct Convert { TS_INLINE static To apply(From x) { return To(x); } };
/// i1 true is -1 when sign-extended.
template <class To> struct SpreadBit { TS_INLINE static To apply(uint8_t x) { return To(-x); } };
template <class From> struct LowBit { TS_INLINE static uint8_t apply(From x) { return uint8_t(x & 1); } };

template <class From, class To>
UnaryFn convert() { return unaryLoop<Convert<From, To>, From, To>; }

template <class To>
UnaryFn signExtend(ElementKind from) {
  switch (from) {
    case ElementKind::I1: return unaryLoop<SpreadBit<To>, uint8_t, To>;
    case ElementKind::I8: if constexpr (sizeof(To) > 1) return convert<int8_t, To>(); break;
    case ElementKind::I16: if constexpr (sizeof(To) > 2) return convert<int16_t, To>(); break;
    case ElementKind::I32: if constexpr (sizeof(To) > 4) return convert<int32_t, To>(); break;
    default: break;
  }
  return nullptr;
}

template <class To>
UnaryFn zeroExtend(ElementKind from) {
  switch (from) {
    case ElementKind::I1: return convert<uint8_t, To>();
    case ElementKind::I8: if constexpr (sizeof(To) > 1) return convert<uint8_t, To>(); break;
    case ElementKind::I16: if constexpr (sizeof(To) > 2) return convert<uint16_t, To>(); break;
    case ElementKind::I32: if constexpr (sizeof(To) > 4) return convert<uint32_t, To>(); break;
    default: break;
  }
  return nullptr;
}

template <class From>
UnaryFn truncate(ElementKind to) {
  switch (to) {
    case ElementKind::I1: return unaryLoop<LowBit<From>, From, uint8_t>;
    case ElementKind::I8: if constexpr (sizeof(From) > 1) return convert<From, uint8_t>(); break;
    case ElementKind::I16: if constexpr (sizeof(From) > 2) return convert<From, uint16_t>(); break;
    case ElementKind::I32: if constexpr (sizeof(From) > 4) return convert<From, uint32_t>(); break;
    default: break;
  }
  return nullptr;
}

template <class T>
UnaryFn toOrFrom(CastOp op, ElementKind other) {
  if (op == CastOp::SExt) return signExtend<T>(other);
  if (op == CastOp::ZExt) return zeroExtend<T>(other);
  return truncate<T>(other);
}

}  // namespace

UnaryFn castInt(CastOp op, ElementKind from, ElementKind to) {
  const bool widening = op != CastOp::Trunc;
  switch (widening ? to : from) {
    case ElementKind::I8: return toOrFrom<uint8_t>(op, widening ? from : to);
    case ElementKind::I16: return toOrFrom<uint16_t>(op, widening ? from : to);
    case ElementKind::I32: return toOrFrom<uint32_t>(op, widening ? from : to);
    case ElementKind::I64: case ElementKind::Pointer: return toOrFrom<uint64_t>(op, widening ? from : to);
    default: return nullptr;
  }
}

TS_ISA_END
