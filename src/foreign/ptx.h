// Inline PTX: a text of instructions is compiled once and run for one element (or one group of packed
// elements) at a time.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "foreign/scalar.h"
#include "support/result.h"

namespace tilesight::foreign {

/// What special registers show.
struct PtxEnvironment {
  int64_t program[3] = {}, grid[3] = {1, 1, 1};
  uint64_t* timer = nullptr;  // counts the clocks that were read; may be null
};

enum class PtxOp : uint8_t {
  None,
  Mov, Cvt, Add, Addc, Sub, Subc, Mul, Mad, Mul24, Sad, Fma, Div, Rem, Abs, Neg, Min, Max, And, Or, Xor,
  Not, Cnot, Lop3, Shl, Shr, Shf, Prmt, Bfe, Bfi, Brev, Popc, Clz, Bfind, Dp4a, Rcp, Sqrt, Rsqrt, Sin, Cos,
  Lg2, Ex2, Tanh, Copysign, Testp, Setp, Set, Selp, Slct, Nothing,
};

enum class PtxType : uint8_t {
  None, Pred, B8, B16, B32, B64, U8, U16, U32, U64, S8, S16, S32, S64, F16, BF16, F32, F64, TF32,
  F16x2, BF16x2, U16x2, S16x2, E4M3x2, E5M2x2, E2M1x2, UE8M0x2,
};
/// Bits of a value.
int widthOf(PtxType type);
/// The type of one half; the type itself if it is not packed.
PtxType halfOf(PtxType type);
inline bool isFloat(PtxType type) { return type >= PtxType::F16 && type <= PtxType::F64; }
inline bool isSigned(PtxType type) { return (type >= PtxType::S8 && type <= PtxType::S64) || type == PtxType::S16x2; }

enum class PtxCompare : uint8_t { Eq, Ne, Lt, Le, Gt, Ge, Lo, Ls, Hi, Hs, Equ, Neu, Ltu, Leu, Gtu, Geu, Num, Nan };
enum class PtxCombine : uint8_t { None, And, Or, Xor };

struct PtxOperand {
  enum class Kind : uint8_t { None, Register, Immediate, Special } kind = Kind::None;
  bool negated = false;   // !p
  uint32_t number = 0;    // register
  uint64_t bits = 0;      // immediate; special: which
};

struct PtxInstruction {
  PtxOp op = PtxOp::None;
  PtxType type = PtxType::None, from = PtxType::None;  // from: the second type of cvt, set, slct
  Rounding rounding = Rounding::Nearest;
  bool roundTies = false;  // .rna: ties away from zero
  bool whole = false;      // .rni and its kin: to a whole number
  bool ftz = false, saturate = false, relu = false, nan = false, finite = false;
  enum class Part : uint8_t { Low, High, Wide } part = Part::Low;
  enum class Variant : uint8_t { None, Left, Right, Wrap, Clamp } direction = Variant::None, limit = Variant::None;
  bool carry = false, shiftAmount = false;
  uint8_t test = 0;        // testp
  PtxCompare compare = PtxCompare::Eq;
  PtxCombine combine = PtxCombine::None;
  std::array<PtxOperand, 2> to{};    // setp has two, mov up to two
  std::array<PtxOperand, 4> in{};
  uint8_t toCount = 0, inCount = 0;
  bool unpack = false, pack = false;  // mov with a vector on the left, on the right
  PtxOperand guard;
};

class Ptx {
 public:
  /// Compiles `text`. Constraints are LLVM's: outputs first (`=r`), then inputs, then clobbers. Fails with
  /// the text of the first instruction that is not in the table.
  static Result<std::shared_ptr<const Ptx>> compile(std::string_view text, std::string_view constraints);

  int outputs() const { return outputs_; }
  int inputs() const { return inputs_; }
  /// Reads registers whose value depends on the program or on time.
  bool dynamic() const { return dynamic_; }
  /// Runs once; `operands` holds the inputs' bits behind room for the outputs, in the order of $0, $1 ..
  void run(uint64_t* operands, const PtxEnvironment& environment) const;

 private:
  friend class PtxParser;
  int outputs_ = 0, inputs_ = 0;
  uint32_t registers_ = 0;
  bool dynamic_ = false;
  std::vector<std::pair<int, int>> tied_;  // input operand, output operand
  std::vector<PtxInstruction> code_;
};

// -- Numbers (ptx_number.cpp) ---------------------------------------------------------------------------

/// The value of a float type's bits (f16, bf16, f32, tf32, f64), exactly.
f64 floatValue(PtxType type, u64 bits);
/// A value rounded once to f16, bf16, f32 or f64. f16 and bf16 round to nearest or toward zero only.
u64 floatBits(PtxType type, f64 value, Rounding rounding);
/// x as tf32, in the bits of an f32.
u64 tf32Bits(f32 x, Rounding rounding, bool tiesAway);
/// One element of e4m3x2, e5m2x2, e2m1x2 or ue8m0x2 to and from a value.
u64 smallBits(PtxType type, f64 value, Rounding rounding);
f64 smallValue(PtxType type, u64 bits);

/// For special registers: values from here on are looked up when they are read.
inline constexpr uint64_t kProgram = uint64_t{1} << 40, kGrid = kProgram + 3, kTimer = kProgram + 6;

}  // namespace tilesight::foreign
