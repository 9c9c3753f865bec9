// A launch in memory: what capture hands over and what a bundle holds.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ir/type.h"
#include "support/result.h"

namespace tilesight::launch {

class Pager;

/// One allocation. Several views (arguments of several launches) may share it.
struct Storage {
  uint8_t* data = nullptr;       // this process's memory, `bytes` long
  uint64_t bytes = 0;
  uint64_t recordedBase = 0;     // its address when it was captured: what data_ptr() gave, so that
                                 // pointers held in tensors resolve; also gives the alignment
  bool allocationKnown = true;   // false: the view is taken for the allocation
  bool readOnly = false;         // its memory cannot be written: the engine refuses stores
  bool withheld = false;         // its data was not saved with the bundle: zeros stand for it
  std::string name;              // first argument that showed it; for messages
  std::shared_ptr<Pager> pager;  // brings pages of `data` from where they are; null: they are all there
  std::shared_ptr<void> owner;   // keeps `data` alive (bundle memory, mapped file); may be null
};

/// A tensor argument: a strided lattice of elements in a storage.
struct View {
  ir::ElementKind element = ir::ElementKind::Invalid;
  std::string dtype;              // "float16", "int32", "bool", "float8_e4m3fn"...
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;   // in elements; any sign, 0 allowed
  int64_t offset = 0;             // bytes from the storage's start to element [0,..,0]
  uint32_t storage = 0;           // index into Launch::storages
  bool uninitialized = false;
  bool readOnly = false;          // the program passed it as not writable: a store to it is a finding
};

struct Argument {
  enum class Kind : uint8_t {
    Tensor,      // an IR parameter of pointer type
    Scalar,      // an IR parameter of integer or float type
    Descriptor,  // a host tensor descriptor: expands to one descriptor parameter plus shape and
                 // stride parameters, in that order
    Specialized, // not in the IR: an integer 1, None or constexpr; kept for explanations
  };
  std::string name;               // the Python parameter's name
  Kind kind = Kind::Scalar;
  ir::ElementKind element = ir::ElementKind::Invalid;  // Scalar
  uint64_t bits = 0;              // Scalar: the value's bit pattern, sign-extended for integers
  View view;                      // Tensor, Descriptor
  std::vector<int64_t> blockShape;  // Descriptor
  bool paddingNan = false;        // Descriptor
  std::string text;               // Specialized: repr of the value
  std::string hint;               // what the compiler was promised ("tt.divisibility=16"); or ""
};

struct Launch {
  uint32_t index = 0;             // its number in the session that captured it, from 0
  std::string kernel;             // the function's name for people
  std::string irText;             // MLIR text; several launches may share it
  std::string irName;             // file name for diagnostics and in a bundle
  std::array<int64_t, 3> grid{1, 1, 1};
  std::vector<Argument> arguments;  // in the Python signature's order
  std::vector<Storage> storages;
  std::string config;             // JSON object text: constexprs, options, autotune configuration
  std::string tritonVersion, target;
  uint64_t seed = 0;
  uint32_t numSms = 0;            // programs that may be resident at once; 0: not stated
  uint32_t multiprocessors = 0;   // of the GPU that the program was told of; 0: not known
  std::string test;               // pytest node id or ""
  std::map<std::string, std::string> sources;  // path in locations -> text
};

/// The bytes that a view's elements span, from its lowest to past its highest byte, relative to the
/// storage's start. Empty views span nothing: first == past == offset.
struct Extent {
  int64_t first = 0, past = 0;
};
Result<Extent> extent(const View& view);

/// Checks what the engine relies on: views name a storage and lie inside it (descriptors may pass its end), ranks agree, element
/// kinds have a size in memory, no product of sizes overflows. The error names the argument.
Status validate(const Launch& launch);

}  // namespace tilesight::launch
