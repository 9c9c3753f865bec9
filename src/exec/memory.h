// The memory of a launch: storages at stable virtual addresses, the views that arguments show of
// them, and tile-wide loads and stores that never leave an allocation.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "exec/tile.h"
#include "launch/launch.h"
#include "launch/pager.h"
#include "tilesight/client.h"

namespace tilesight::exec {

struct StorageInfo {
  uint8_t* data = nullptr;
  int64_t bytes = 0;
  int64_t base = 0;       // virtual address of the first byte
  int64_t recorded = 0;   // address at capture, or 0
  bool known = true;      // false: the allocation is only what the view shows
  bool readOnly = false;  // nothing may write to it
  bool constant = false;  // no program of the launch writes to it
  launch::Pager* pager = nullptr;  // where `data` comes from, page by page; null: it is all there
};

struct ViewInfo {
  uint32_t argument = 0;  // index in Launch::arguments
  std::string name, dtype;
  ElementKind element = ElementKind::Invalid;
  int64_t elementBytes = 0;
  std::vector<int64_t> shape, strides;  // strides in elements
  int64_t address = 0;                  // virtual, of element [0,..,0]
  int64_t low = 0, high = 0;            // virtual extent: first byte, past the last byte; equal if empty
  bool contiguous = false;              // every byte of the extent belongs to an element
  uint32_t storage = 0;
  bool readOnly = false;                // stores through it are refused
  bool repeats = false;                 // an axis has a stride of 0: the program steps through it by strides of its own
  // The lattice: axes of more than one element with their byte strides made positive, largest first.
  struct Axis {
    int64_t stride, size, rest;  // rest: the farthest byte the smaller axes reach
  };
  std::vector<Axis> axes;
};

enum class Use : uint8_t { Read, Write };  // Write: stores and atomics

/// An access after its pointers were looked at.
struct Resolved {
  const StorageInfo* storage = nullptr;  // the allocation all active elements belong to, or null
  const ViewInfo* view = nullptr;        // the view, or null (pointers from integers)
  bool clean = true;                     // every active element is a whole element of the view, aligned
  uint32_t faults = 0;                   // ts_fault bits over the active elements
  int64_t active = 0;                    // active elements
  Tile address;                          // virtual addresses
  Tile mask;                             // Splat, Box or Dense
  uint32_t elementBytes = 0;
  bool writes = false;
};

class Stopper;

class LaunchMemory {
 public:
  /// `stopper` hears of memory that cannot be fetched; may be null.
  explicit LaunchMemory(const launch::Launch& launch, Stopper* stopper = nullptr);

  const std::vector<StorageInfo>& storages() const { return storages_; }
  /// The others stay as they are while programs run, so that what is loaded from them need not be copied; so no other
  /// shares memory with one of these (touchedStorages).
  void written(const std::vector<bool>& storages);
  /// The view an argument shows; null if the argument is no tensor.
  const ViewInfo* view(int32_t argument) const;

  /// Pointers that came from integers or memory: data pointers of this launch's tensors become their
  /// virtual addresses and get the tensor's origin, others stay as they are.
  Tile adopt(BufferPool& pool, Tile pointer) const;
  /// The reverse: pointers as the integers that the program's own data_ptr() gives. Those of storages
  /// whose address at capture is unknown stay virtual.
  Tile addresses(BufferPool& pool, const Tile& pointer) const;

  /// Is every address between two elements that an access may touch one that it may touch?
  static bool gapless(const ViewInfo& view, bool writes);
  /// `mask` may be null (all active).
  Resolved resolve(BufferPool& pool, const Tile& pointer, const Tile* mask, uint32_t elementBytes,
                   Use use) const;
  /// ts_fault bits of every element (0 if inactive), row-major.
  void faultBits(BufferPool& pool, const Resolved& access, uint8_t* out) const;
  /// ts_fault bits of one address of the access.
  uint32_t faultsAt(const Resolved& access, int64_t element, int64_t value) const;

  /// Fetches the pages of an access whose bytes lie elsewhere. load(), store() and host() do it.
  void bring(const Resolved& access) const;

  /// Reads the active elements that have no fault; others are `other` (inactive) or 0 (faulty).
  /// From a storage that nobody writes the tile may be borrowed: it has no buffer, its elements stay in the launch's
  /// memory, with `readOnce` also where its rows are apart.
  Tile load(BufferPool& pool, const Resolved& access, ElementKind kind, const Tile* other, bool readOnce = false) const;
  /// Writes the active elements that have no fault.
  void store(BufferPool& pool, const Resolved& access, const Tile& value) const;

  /// Where a virtual address lies: byte offset in `*storage`, which is null if the element is not wholly
  /// inside an allocation of the access, or may not be written.
  int64_t offsetOf(const Resolved& access, int64_t element, int64_t address, const StorageInfo** storage) const;
  /// Host address of a virtual one, with the same limits; null otherwise.
  uint8_t* host(const Resolved& access, int64_t element, int64_t address) const;

  /// Which element of the view an address is, as an index per axis (may lie outside the shape);
  /// `stepBytes` is the byte stride of the tile axis along which the access leaves the view, or 0.
  static std::vector<int64_t> indexOf(const ViewInfo& view, int64_t address, int64_t stepBytes);

 private:
  const StorageInfo* storageOf(const Resolved& access, int64_t element, int64_t* address, const ViewInfo** view) const;
  const StorageInfo* byAddress(int64_t* address) const;

  int64_t shiftToRecorded(int32_t origin) const;

  /// Brings bytes of a storage from its device; stops the launch where that fails.
  void fetch(const StorageInfo& storage, int64_t from, int64_t to, bool forWrite) const;

  std::vector<StorageInfo> storages_;
  Stopper* stopper_;
  bool paged_ = false;    // some storage has a pager
  bool guarded_ = false;  // some storage or view is read-only
  std::vector<ViewInfo> views_;
  std::vector<int32_t> viewOfArgument_;
};

}  // namespace tilesight::exec
