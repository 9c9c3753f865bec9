// What the kernel tests share: spans of elements, random bits, readable failures.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "exec/kernels/kernels.h"

namespace tilesight::exec {

inline uint32_t bytesOf(ElementKind kind) {
  switch (kind) {
    case ElementKind::I16: case ElementKind::F16: case ElementKind::BF16: return 2;
    case ElementKind::I32: case ElementKind::F32: return 4;
    case ElementKind::I64: case ElementKind::F64: case ElementKind::Pointer: return 8;
    default: return 1;
  }
}

inline std::string nameOf(ElementKind kind) {
  switch (kind) {
    case ElementKind::I1: return "i1";
    case ElementKind::I8: return "i8";
    case ElementKind::I16: return "i16";
    case ElementKind::I32: return "i32";
    case ElementKind::I64: return "i64";
    case ElementKind::Pointer: return "ptr";
    case ElementKind::F16: return "f16";
    case ElementKind::BF16: return "bf16";
    case ElementKind::F32: return "f32";
    case ElementKind::F64: return "f64";
    case ElementKind::F8E4M3FN: return "f8E4M3FN";
    case ElementKind::F8E5M2: return "f8E5M2";
    case ElementKind::F8E4M3FNUZ: return "f8E4M3FNUZ";
    case ElementKind::F8E5M2FNUZ: return "f8E5M2FNUZ";
    case ElementKind::F8E4M3B11FNUZ: return "f8E4M3B11FNUZ";
    default: return "other";
  }
}

inline const std::vector<ElementKind> kIntKinds = {ElementKind::I1, ElementKind::I8, ElementKind::I16,
                                                   ElementKind::I32, ElementKind::I64};
inline const std::vector<ElementKind> kNarrowFloats = {
    ElementKind::F16, ElementKind::BF16, ElementKind::F8E4M3FN, ElementKind::F8E5M2,
    ElementKind::F8E4M3FNUZ, ElementKind::F8E5M2FNUZ, ElementKind::F8E4M3B11FNUZ};
inline const std::vector<ElementKind> kFloatKinds = [] {
  std::vector<ElementKind> kinds = kNarrowFloats;
  kinds.push_back(ElementKind::F32);
  kinds.push_back(ElementKind::F64);
  return kinds;
}();

inline const std::vector<BinaryOp> kIntOps = {
    BinaryOp::AddI, BinaryOp::SubI, BinaryOp::MulI, BinaryOp::DivS, BinaryOp::DivU, BinaryOp::RemS,
    BinaryOp::RemU, BinaryOp::And, BinaryOp::Or, BinaryOp::Xor, BinaryOp::Shl, BinaryOp::ShrS,
    BinaryOp::ShrU, BinaryOp::MinS, BinaryOp::MinU, BinaryOp::MaxS, BinaryOp::MaxU, BinaryOp::MulHiU};
inline const std::vector<BinaryOp> kFloatOps = {
    BinaryOp::AddF, BinaryOp::SubF, BinaryOp::MulF, BinaryOp::DivF, BinaryOp::RemF,
    BinaryOp::MinimumF, BinaryOp::MaximumF, BinaryOp::MinNumF, BinaryOp::MaxNumF};
inline const std::vector<UnaryOp> kMathOps = {
    UnaryOp::Exp, UnaryOp::Exp2, UnaryOp::Log, UnaryOp::Log2, UnaryOp::Sin, UnaryOp::Cos,
    UnaryOp::Tanh, UnaryOp::Sqrt, UnaryOp::Rsqrt, UnaryOp::Erf, UnaryOp::Floor, UnaryOp::Ceil};

/// Every set this machine runs; a test body is run once for each.
inline std::vector<const KernelSet*> allSets() {
  const KernelSets sets = runnableKernelSets();
  return {sets.sets, sets.sets + sets.count};
}

/// A span of elements of one kind, as their bit patterns.
struct Span {
  ElementKind kind;
  std::vector<uint8_t> bytes;

  Span(ElementKind kind, size_t n) : kind(kind), bytes(n * bytesOf(kind)) {}
  size_t size() const { return bytes.size() / bytesOf(kind); }
  void* data() { return bytes.data(); }
  const void* data() const { return bytes.data(); }
  uint64_t bits(size_t i) const {
    uint64_t value = 0;
    std::memcpy(&value, bytes.data() + i * bytesOf(kind), bytesOf(kind));
    return value;
  }
  void set(size_t i, uint64_t value) { std::memcpy(bytes.data() + i * bytesOf(kind), &value, bytesOf(kind)); }
  bool operator==(const Span& other) const = default;
};

template <class T>
T fromBits(uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof(T));
  return value;
}
template <class T>
uint64_t toBits(T value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  return bits;
}

/// Random bits, with a fair share of special values: small and extreme integers; zeros, infinities,
/// NaNs, subnormal numbers and moderate values of float kinds.
class RandomElements {
 public:
  explicit RandomElements(uint64_t seed) : engine_(seed) {}

  uint64_t next(ElementKind kind) {
    const uint64_t raw = engine_();
    const unsigned width = 8 * bytesOf(kind);
    const uint64_t mask = width == 64 ? ~uint64_t(0) : (uint64_t(1) << width) - 1;
    if (kind == ElementKind::I1) return raw & 1;
    switch (engine_() % 8) {
      case 0: {
        const uint64_t specials[] = {0, 1, mask, mask >> 1, (mask >> 1) + 1, 2, mask - 1, width};
        return specials[raw % 8];
      }
      case 1: return (raw % 41 - 20) & mask;
      case 2: case 3: return moderate(kind, raw) & mask;
      default: return raw & mask;
    }
  }

  Span span(ElementKind kind, size_t n) {
    Span out(kind, n);
    for (size_t i = 0; i < n; ++i) out.set(i, next(kind));
    return out;
  }

  std::mt19937_64& engine() { return engine_; }

 private:
  uint64_t moderate(ElementKind kind, uint64_t raw) {
    const double value = (double(raw >> 11) * 0x1p-53 - 0.5) * 40;
    switch (kind) {
      case ElementKind::F64: return raw % 5 ? toBits(value) : (raw % 2 ? 0x7ff0000000000000u : 0xfff0000000000000u);
      case ElementKind::F32: return raw % 5 ? toBits(float(value)) : (raw % 2 ? 0x7f800000u : 0xff800000u);
      case ElementKind::BF16: return raw % 5 ? toBits(float(value)) >> 16 : (raw % 2 ? 0x7f80u : 0xff80u);
      case ElementKind::F16: return raw % 5 ? 0x3000 + (raw & 0x8fff) : (raw % 2 ? 0x7c00u : 0xfc00u);
      default: return raw % 100;
    }
  }

  std::mt19937_64 engine_;
};

/// The forms of one operation on spans; a and b of equal size.
inline Span applyVV(const BinaryForms& forms, ElementKind out, const Span& a, const Span& b) {
  Span result(out, a.size());
  forms.vv(result.data(), a.data(), b.data(), a.size());
  return result;
}

}  // namespace tilesight::exec
