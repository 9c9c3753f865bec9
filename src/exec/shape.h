// Shapes of tiles, interned per kernel so that tiles carry a pointer.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace tilesight::exec {

/// Tiles of up to this rank have affine, separable and strided forms; beyond it they are splat or
/// dense and contiguous (tl.sort goes up to rank 20).
inline constexpr int kMaxRank = 5;

struct Shape {
  std::vector<int64_t> dims;
  int64_t numel = 1;
  int rank() const { return static_cast<int>(dims.size()); }
  bool symbolic() const { return rank() <= kMaxRank; }
};

/// Interns shapes; safe to use from several threads.
class ShapeTable {
 public:
  ShapeTable() : scalar_(intern({})) {}
  const Shape* intern(const std::vector<int64_t>& dims) {
    std::lock_guard lock(mutex_);
    for (auto& shape : shapes_)
      if (shape->dims == dims) return shape.get();
    auto shape = std::make_unique<Shape>();
    shape->dims = dims;
    for (int64_t d : dims) shape->numel *= d;
    shapes_.push_back(std::move(shape));
    return shapes_.back().get();
  }
  const Shape* scalar() const { return scalar_; }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Shape>> shapes_;
  const Shape* scalar_;
};

}  // namespace tilesight::exec
