// Cuts the rows of programs into batches. Where it cuts follows from the programs themselves, so that the batches of a
// trace are the same however its programs were divided into ranges, and ranges encode theirs side by side:
//
//  - after program p if p + 1 is a multiple of the number of programs like p that fill a batch (a power of two);
//  - before and after a program that fills a batch by itself, and inside, whenever it has filled one;
//  - after a program with which a batch that begins at such a place is full.
//
// A range that begins between two such places does not know where its first batch begins: it keeps the rows up to its
// first cut, and they are joined with those of the range before.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "record/spool.h"

namespace tilesight::record {

inline constexpr uint64_t kBatchWeight = 1 << 16;

/// `Rows` are rows of whole programs: empty(), weight(), clear(), startProgram(number), append(rows, program), takeAfter().
template <typename Rows>
class Stream {
 public:
  using Encode = std::function<arrow::Message(const Rows&)>;
  using Sink = std::function<Status(const arrow::Message&)>;

  /// `whole`: the rows begin where the launch does.
  Stream(std::string folder, Encode encode, bool whole)
      : encode_(std::move(encode)), spool_(std::move(folder)), placed_(whole) {}

  /// The rows of the current program go here.
  Rows& rows() { return pending_; }

  void begin(uint32_t program) {
    pending_.startProgram(program);
    weight_ = 0;
    filled_ = false;
  }
  /// The program has got rows of this weight.
  void grew(uint64_t weight) {
    weight_ += weight;
    if (weight_ < kBatchWeight) return;
    if (!filled_) {
      Rows program = pending_.takeAfter();
      cut();
      pending_ = std::move(program);
      filled_ = true;
    }
    cut();
    weight_ = 0;
  }
  void end(uint32_t program) {
    if (filled_) return cut();
    if (weight_ == 0) return;
    uint64_t alike = 1;
    while (2 * alike * weight_ <= kBatchWeight) alike *= 2;
    if ((uint64_t{program} + 1) % alike == 0) return cut();
    if (placed_ && pending_.weight() >= kBatchWeight) encodePending();
  }

  /// Takes what a later range has: the programs behind those that are here.
  void merge(Stream& later, const std::function<void(Rows&)>& adopt) {
    keep(later.status_);
    adopt(later.head_);
    adopt(later.pending_);
    Rows& open = later.placed_ ? later.head_ : later.pending_;
    for (size_t i = 0; i < open.programs(); ++i) {
      weight_ = pending_.append(open, i);
      filled_ = false;
      end(open.programNumber(i));
    }
    if (!later.placed_) return;
    cut();
    keep(later.spool_.drain([&](const arrow::Message& message) { return spool_.add(message); }));
    pending_ = std::move(later.pending_);
  }
  /// The launch ends here: all batches.
  Status finish(const Sink& sink) {
    cut();
    keep(spool_.drain(sink));
    return status_;
  }
  /// Hands on the batches that are certain.
  Status handOn(const Sink& sink) {
    keep(spool_.drain(sink));
    return status_;
  }
  const Status& status() const { return status_; }

 private:
  void cut() {
    if (placed_) return encodePending();
    head_ = std::move(pending_);
    pending_.clear();
    placed_ = true;
  }
  void encodePending() {
    if (!pending_.empty() && status_) keep(spool_.add(encode_(pending_)));
    pending_.clear();
  }
  void keep(const Status& status) {
    if (status_ && !status) status_ = status;
  }

  Encode encode_;
  Spool spool_;
  bool placed_;           // pending_ begins at a cut
  Rows head_, pending_;   // before the first cut; since the last one
  uint64_t weight_ = 0;   // of the current program since it last filled a batch
  bool filled_ = false;   // it has filled one
  Status status_;
};

}  // namespace tilesight::record
