// A set of a tile's elements, by their row-major numbers.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace tilesight::trace {

class ElementSet {
 public:
  explicit ElementSet(int64_t size = 0) : size_(size), words_(static_cast<size_t>((size + 63) / 64)) {}

  int64_t size() const { return size_; }
  void add(int64_t i) { words_[static_cast<size_t>(i >> 6)] |= uint64_t{1} << (i & 63); }
  void addRange(int64_t first, int64_t past) {
    for (int64_t i = first; i < past; ++i) add(i);
  }
  void addAll() { addRange(0, size_); }
  void add(const ElementSet& other) {
    for (size_t w = 0; w < words_.size() && w < other.words_.size(); ++w) words_[w] |= other.words_[w];
  }
  bool has(int64_t i) const { return words_[static_cast<size_t>(i >> 6)] >> (i & 63) & 1; }
  bool empty() const {
    for (uint64_t word : words_)
      if (word) return false;
    return true;
  }
  int64_t count() const {
    int64_t count = 0;
    for (uint64_t word : words_) count += std::popcount(word);
    return count;
  }
  /// In ascending order.
  template <typename Visit>
  void each(Visit&& visit) const {
    for (size_t w = 0; w < words_.size(); ++w)
      for (uint64_t word = words_[w]; word; word &= word - 1) visit(static_cast<int64_t>(64 * w) + std::countr_zero(word));
  }
  std::vector<int64_t> list() const {
    std::vector<int64_t> result;
    each([&](int64_t i) { result.push_back(i); });
    return result;
  }

 private:
  int64_t size_;
  std::vector<uint64_t> words_;
};

}  // namespace tilesight::trace
