#include "diff/compare.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "diff/elements.h"
#include "findings/format.h"

namespace tilesight::diff {

namespace {

using launch::Argument;
using launch::Launch;
using launch::View;

bool isTensor(const Argument& argument) {
  return argument.kind == Argument::Kind::Tensor || argument.kind == Argument::Kind::Descriptor;
}

struct Pair {
  std::array<const Argument*, 2> argument{};  // null: only the other side has it
};

/// By name; those that are left, in order, if both sides have as many.
std::vector<Pair> pairs(const std::array<Side, 2>& sides) {
  std::vector<Pair> result;
  std::vector<const Argument*> left, right;
  for (const Argument& b : sides[1].launch.arguments)
    if (isTensor(b)) right.push_back(&b);
  for (const Argument& a : sides[0].launch.arguments) {
    if (!isTensor(a)) continue;
    const auto same = std::find_if(right.begin(), right.end(), [&](const Argument* b) { return b->name == a.name; });
    result.push_back({{&a, same == right.end() ? nullptr : *same}});
    if (same != right.end()) right.erase(same);
    else left.push_back(&a);
  }
  if (left.size() == right.size()) {
    for (Pair& pair : result)
      if (!pair.argument[1]) {
        pair.argument[1] = right.front();
        right.erase(right.begin());
      }
  }
  for (const Argument* b : right) result.push_back({{nullptr, b}});
  return result;
}

void note(Only& only, const Cursor& at) {
  if (only.count++ == 0) only.first = at.index();
}

/// What is to be asked in a second run: which bytes, and where the answer goes.
struct Questions {
  std::array<std::vector<Watched>, 2> watched;
  std::array<std::vector<std::optional<Touch>*>, 2> answers;
  void ask(size_t side, const View& view, const std::vector<int64_t>& index, bool write, std::optional<Touch>& answer) {
    const auto bytes = static_cast<int64_t>(ir::elementBytes(view.element));
    int64_t at = view.offset;
    for (size_t d = 0; d < index.size(); ++d) at += index[d] * view.strides[d] * bytes;
    watched[side].push_back({view.storage, at, at + bytes, write});
    answers[side].push_back(&answer);
  }
};

struct Tensor {
  const View* view;
  int64_t bytes;
  const uint8_t *data, *before;
  int64_t size;  // of the storage
  const Bytes *read, *written;
  bool inside(int64_t at) const { return at >= 0 && at + bytes <= size; }
};

Tensor tensorOf(const Side& side, const Ran& ran, const View& view) {
  const launch::Storage& storage = side.launch.storages[view.storage];
  return {&view, static_cast<int64_t>(ir::elementBytes(view.element)), storage.data, side.before.storages[view.storage].data,
          static_cast<int64_t>(storage.bytes), &ran.touched.read[view.storage], &ran.touched.written[view.storage]};
}

void compareElements(const std::array<Tensor, 2>& t, TensorResult& result) {
  Cursor a(*t[0].view), b(*t[1].view);
  const int64_t count = elementsOf(*t[0].view);
  const bool values = result.notCompared.empty();
  for (int64_t i = 0; i < count; ++i, a.next(), b.next()) {
    if (!t[0].inside(a.offset()) || !t[1].inside(b.offset())) continue;  // a descriptor may promise more than there is
    const auto sets = [&](Sets& sets, bool left, bool right) {
      if (left && right) ++sets.both;
      else if (left) note(sets.only[0], a);
      else if (right) note(sets.only[1], b);
    };
    const bool readA = t[0].read->any(a.offset(), a.offset() + t[0].bytes), readB = t[1].read->any(b.offset(), b.offset() + t[1].bytes);
    const bool wroteA = t[0].written->any(a.offset(), a.offset() + t[0].bytes),
               wroteB = t[1].written->any(b.offset(), b.offset() + t[1].bytes);
    sets(result.read, readA, readB);
    sets(result.written, wroteA, wroteB);
    if (!values) continue;
    if (readA && readB && !difference(*t[0].view, t[0].before + a.offset(), t[1].before + b.offset()).same && result.inputs++ == 0)
      result.firstInput = a.index();
    if (!wroteA && !wroteB) continue;
    ++result.values;
    const Difference d = difference(*t[0].view, t[0].data + a.offset(), t[1].data + b.offset());
    if (d.same) continue;
    if (result.different++ == 0)
      result.first = ValueDifference{a.index(), {valueText(*t[0].view, t[0].data + a.offset()), valueText(*t[1].view, t[1].data + b.offset())}, {}};
    if (std::isfinite(d.absolute) && d.absolute > result.maxAbsolute) {
      result.maxAbsolute = d.absolute;
      result.maxAt = a.index();
    }
    result.maxUlp = std::max(result.maxUlp, d.ulp);
  }
}

/// Bytes that were touched outside every tensor.
int64_t elsewhereOf(const Side& side, const Ran& ran) {
  int64_t bytes = 0;
  for (size_t s = 0; s < side.launch.storages.size(); ++s)
    for (const auto* all : {&ran.touched.read[s], &ran.touched.written[s]}) {
      Bytes rest = all->copy();
      for (const Argument& argument : side.launch.arguments) {
        if (!isTensor(argument) || argument.view.storage != s) continue;
        const auto size = static_cast<int64_t>(ir::elementBytes(argument.view.element));
        Cursor at(argument.view);
        for (int64_t i = elementsOf(argument.view); i > 0; --i, at.next())
          if (at.offset() >= 0 && at.offset() + size <= rest.size()) rest.clear(at.offset(), at.offset() + size);
      }
      bytes += rest.count();
    }
  return bytes;
}

}  // namespace

bool LaunchResult::same() const {
  return elsewhere[0] == elsewhere[1] && std::all_of(tensors.begin(), tensors.end(), [](const TensorResult& t) { return t.same(); });
}

bool LaunchResult::unknown() const {
  return !unknowns.empty() || elsewhere[0] || elsewhere[1] ||
         std::any_of(tensors.begin(), tensors.end(), [](const TensorResult& t) { return !t.notCompared.empty(); });
}

Result<LaunchResult> compare(std::array<Side, 2>& sides) {
  LaunchResult result;
  std::vector<Ran> ran;
  for (size_t s = 0; s < 2; ++s) {
    result.kernel[s] = sides[s].launch.kernel;
    result.launch[s] = sides[s].position;
    auto run = runTouching(*sides[s].kernel, sides[s].launch, {});
    if (!run) return failure(std::move(run).error());
    for (const findings::Unknown& unknown : run->report.unknowns)
      result.unknowns.push_back(fmt::format("{}: {}", s ? "B" : "A", unknown.reason));
    std::string withheld;
    for (const Argument& argument : sides[s].launch.arguments)
      if (isTensor(argument) && sides[s].launch.storages[argument.view.storage].withheld)
        withheld += (withheld.empty() ? "" : ", ") + argument.name;
    if (!withheld.empty())
      result.unknowns.push_back(fmt::format("{}: the data of {} was not saved, and zeros stand for it: which elements are touched may depend on it",
                                            s ? "B" : "A", withheld));
    ran.push_back(std::move(*run));
    result.elsewhere[s] = elsewhereOf(sides[s], ran[s]);
  }
  const std::vector<Pair> tensors = pairs(sides);
  result.tensors.resize(tensors.size());
  Questions questions;
  for (size_t i = 0; i < tensors.size(); ++i) {
    TensorResult& tensor = result.tensors[i];
    const Pair& pair = tensors[i];
    for (size_t s = 0; s < 2; ++s)
      if (pair.argument[s]) tensor.name[s] = pair.argument[s]->name;
    if (!pair.argument[0] || !pair.argument[1]) {
      tensor.mismatch = fmt::format("only {} has it", pair.argument[0] ? "A" : "B");
      continue;
    }
    const std::array<const View*, 2> view{&pair.argument[0]->view, &pair.argument[1]->view};
    if (view[0]->shape != view[1]->shape) {
      tensor.mismatch = fmt::format("shapes {} and {}", findings::indexText(view[0]->shape), findings::indexText(view[1]->shape));
      continue;
    }
    if (view[0]->element != view[1]->element)
      tensor.notCompared = fmt::format("{} and {}", view[0]->dtype, view[1]->dtype);
    for (size_t s = 0; s < 2 && tensor.notCompared.empty(); ++s)
      if (sides[s].launch.storages[view[s]->storage].withheld) tensor.notCompared = "the data was not saved";
    compareElements({tensorOf(sides[0], ran[0], *view[0]), tensorOf(sides[1], ran[1], *view[1])}, tensor);
    for (size_t s = 0; s < 2; ++s) {
      for (auto [sets, write] : {std::pair(&tensor.read, false), std::pair(&tensor.written, true)})
        if (sets->only[s].count) questions.ask(s, *view[s], sets->only[s].first, write, sets->only[s].touch);
      if (tensor.first) questions.ask(s, *view[s], tensor.first->index, true, tensor.first->writer[s]);
    }
  }
  for (size_t s = 0; s < 2; ++s) {
    if (questions.watched[s].empty()) continue;
    auto run = runTouching(*sides[s].kernel, sides[s].again, questions.watched[s]);
    if (!run) return failure(std::move(run).error());
    for (size_t i = 0; i < run->touches.size(); ++i) *questions.answers[s][i] = std::move(run->touches[i]);
  }
  return result;
}

}  // namespace tilesight::diff
