#include "trace/slice.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "exec/kernel.h"
#include "exec/observer.h"
#include "trace/backwards.h"
#include "trace/sites.h"
#include "trace/writers.h"

namespace tilesight::trace {

namespace {

using exec::Instr;
using exec::Machine;
using exec::Tile;
using Start = Backwards::Start;
using Used = Backwards::Used;
using Foreign = Backwards::Foreign;

// Programs of one slice, and runs of the launch to find them. Where there are more, it is said who was read, not whom it came from.
constexpr size_t kMostPrograms = 64;
constexpr int kMostRuns = 8;

// The values of the links, in a second run of the program.
class Looking : public exec::Observer {
 public:
  struct Wanted {
    uint32_t event = 0;
    unsigned number = 0;
    bool operand = false;
    const ElementSet* elements = nullptr;
    Link* link = nullptr;
  };
  explicit Looking(std::vector<Wanted> wanted) : wanted_(std::move(wanted)) {
    std::sort(wanted_.begin(), wanted_.end(), [](const Wanted& a, const Wanted& b) { return a.event < b.event; });
  }
  void before(Machine& machine, const Instr& instr) override {
    for (size_t w = at_; w < wanted_.size() && wanted_[w].event == event_; ++w)
      if (wanted_[w].operand) look(machine, machine.in(instr, wanted_[w].number), wanted_[w]);
  }
  void after(Machine& machine, const Instr& instr) override {
    for (; at_ < wanted_.size() && wanted_[at_].event == event_; ++at_)
      if (!wanted_[at_].operand) look(machine, machine.slot(machine.outSlot(instr, wanted_[at_].number)), wanted_[at_]);
    ++event_;
    if (at_ == wanted_.size()) machine.finish();
  }

 private:
  static void look(Machine& machine, const Tile& tile, const Wanted& wanted) {
    Link& link = *wanted.link;
    link.iterations = machine.iterations();
    if (tile.form == exec::Form::View || tile.form == exec::Form::Empty) return;
    const uint32_t size = tile.elementBytes();
    wanted.elements->each([&](int64_t i) {
      const int64_t bits = exec::elementBits(tile, i);
      uint8_t bytes[8];
      std::memcpy(bytes, &bits, 8);
      if (tile.kind == ir::ElementKind::Pointer || size == 0) return;
      link.values.add(numberAt(tile.kind, bytes));
      link.value = numberText(tile.kind, bytes);
    });
  }

  std::vector<Wanted> wanted_;
  size_t at_ = 0;
  uint32_t event_ = 0;
};

// Elements of results, in another run of the program.
class Peek : public exec::Observer {
 public:
  struct Wanted {
    uint32_t event = 0;
    int64_t element = 0;
    std::optional<int64_t> bits;
  };
  /// `wanted`: by event.
  explicit Peek(std::vector<Wanted>& wanted) : wanted_(wanted) {}
  void after(Machine& machine, const Instr& instr) override {
    for (; at_ < wanted_.size() && wanted_[at_].event == event_; ++at_) {
      const Tile& tile = machine.slot(machine.outSlot(instr, 0));
      if (tile.form != exec::Form::Empty && tile.form != exec::Form::View)
        wanted_[at_].bits = exec::elementBits(tile, tile.numel() == 1 ? 0 : wanted_[at_].element);
    }
    ++event_;
    if (at_ == wanted_.size()) machine.finish();
  }

 private:
  std::vector<Wanted>& wanted_;
  size_t at_ = 0;
  uint32_t event_ = 0;
};

int64_t numberOf(const std::vector<int64_t>& shape) {
  int64_t count = 1;
  for (int64_t size : shape) count *= size;
  return count;
}

// A slice as it grows, from program to program.
class Slicing {
 public:
  Slicing(const Values& values, std::array<int64_t, 3> program) : values_(values) { slice_.program = program; }

  /// Takes what a program's run found. `stored`: what its first start stored; may be null.
  void add(std::array<int64_t, 3> program, const Backwards& found, Link* stored);
  /// Continues in the programs that wrote what was read.
  Status continueInOthers();
  Slice take();

 private:
  // An element that a program read and another one wrote.
  struct Handed {
    Foreign cell;
    std::optional<int64_t> bits;  // what was read, if that must be what was written
  };

  int64_t linear(const std::array<int64_t, 3>& p) const {
    const auto& grid = values_.launch().grid;
    return p[0] + grid[0] * (p[1] + grid[1] * p[2]);
  }
  std::array<int64_t, 3> programOf(int64_t number) const {
    const auto& grid = values_.launch().grid;
    return {number % grid[0], number / grid[0] % grid[1], number / (grid[0] * grid[1])};
  }
  void unresolved(const Foreign& cell) {
    read_[cell.argument].push_back(cell.offset);
    changed_.insert(cell.argument);
  }
  Status hand(int64_t reader, const std::vector<Foreign>& cells);
  Status findWriters(const std::vector<Foreign>& cells);
  Status followWriter(int64_t writer, const std::vector<Handed>& cells);
  Link storeLink(std::array<int64_t, 3> program, const Backwards& found, const std::vector<std::pair<Start, Foreign>>& stored) const;

  const Values& values_;
  Slice slice_;
  bool interleaved_ = false;  // programs may wait for others: not each begins when the one before it has ended
  std::map<int32_t, std::vector<int64_t>> read_;
  std::set<int32_t> changed_;
  std::set<std::string> scalars_;
  std::vector<std::pair<int64_t, std::vector<Foreign>>> foreign_;  // by reader
  std::map<int64_t, CellWriters> writers_;
  std::map<int64_t, uint32_t> asked_;   // addresses of writers_ and those that nobody writes
  std::map<int64_t, std::vector<Handed>> pending_;
  std::set<int64_t> followed_;
  int runs_ = 0;
};

void Slicing::add(std::array<int64_t, 3> program, const Backwards& found, Link* stored) {
  const exec::CompiledPlan& plan = *found.plan;
  interleaved_ = plan.program.waits;
  followed_.insert(linear(program));
  // One link a variable of a line: its last event, and how often that operation mattered.
  std::map<std::tuple<std::string, uint32_t, std::string>, size_t> known;
  std::vector<const Used*> last;
  std::vector<Link> links;
  std::map<const Instr*, int64_t> times;
  for (const Used& used : found.used) ++times[&found.instrOf(used.event)];
  for (const Used& used : found.used) {
    const Instr& instr = found.instrOf(used.event);
    const int32_t site = values_.table().siteOf(plan, instr);
    if (site < 0) continue;
    const Site& of = values_.sites()[static_cast<size_t>(site)];
    if (used.result >= of.values.size()) continue;
    Named named = of.values[used.result];
    if (named.name.empty() && instr.op != plan::Opcode::Const && found.conditions.count({used.event, used.result})) named.name = "condition";
    if (named.name.empty() || named.type.find("tt.ptr") != std::string::npos) continue;
    if (!known.try_emplace({named.file, named.line, named.name}, last.size()).second) continue;
    last.push_back(&used);
    Link& link = links.emplace_back();
    link.program = program;
    link.name = named.name;
    link.type = named.type;
    link.file = named.file;
    link.line = named.line;
    link.site = static_cast<uint32_t>(site);
    link.times = times[&instr];
    link.shape = resultShape(plan, instr, used.result)->dims;
    link.elements = regionOf(link.shape, used.elements.list(), 2);
  }
  std::vector<Looking::Wanted> wanted;
  for (size_t i = 0; i < last.size(); ++i) wanted.push_back({last[i]->event, last[i]->result, false, &last[i]->elements, &links[i]});
  ElementSet one;
  if (stored) {
    const Start& start = found.starts.front();
    one = ElementSet(std::max<int64_t>(1, numberOf(stored->shape)));
    one.add(start.element);
    wanted.push_back({start.event, start.number, true, &one, stored});
  }
  if (!wanted.empty()) {
    Looking looking(std::move(wanted));
    (void)values_.watch(program, looking);
  }
  slice_.chain.insert(slice_.chain.end(), std::make_move_iterator(links.begin()), std::make_move_iterator(links.end()));
  for (const auto& [argument, offsets] : found.read) read_[argument].insert(read_[argument].end(), offsets.begin(), offsets.end());
  scalars_.insert(found.scalars.begin(), found.scalars.end());
  slice_.unknown += found.unknown;
  if (!found.foreign.empty()) foreign_.emplace_back(linear(program), found.foreign);
}

Status Slicing::continueInOthers() {
  while (!foreign_.empty() || !pending_.empty()) {
    for (auto readers = std::exchange(foreign_, {}); const auto& [reader, cells] : readers) TS_CHECK(hand(reader, cells));
    if (pending_.empty()) break;
    // The latest first: then none is met again, unless programs wait for each other.
    auto last = std::prev(pending_.end());
    const int64_t writer = last->first;
    const std::vector<Handed> cells = std::move(last->second);
    pending_.erase(last);
    TS_CHECK(followWriter(writer, cells));
  }
  return {};
}

Status Slicing::findWriters(const std::vector<Foreign>& cells) {
  std::map<int64_t, uint32_t> wanted;
  for (const Foreign& cell : cells)
    if (!asked_.count(cell.address)) wanted[cell.address] = cell.bytes;
  if (wanted.empty() || runs_ == kMostRuns) return {};
  ++runs_;
  auto found = writersOfCells(values_.kernel(), values_.launch(), wanted, !values_.needsReads());
  if (!found) return failure(std::move(found).error());
  asked_.insert(wanted.begin(), wanted.end());
  for (auto& [address, writers] : *found) writers_[address] = std::move(writers);
  return {};
}

// Who wrote what `reader` read?
Status Slicing::hand(int64_t reader, const std::vector<Foreign>& cells) {
  TS_CHECK(findWriters(cells));
  std::vector<Peek::Wanted> read;
  std::vector<std::pair<int64_t, const Foreign*>> handed;
  for (const Foreign& cell : cells) {
    const auto asked = asked_.find(cell.address);
    const auto found = writers_.find(cell.address);
    if (asked == asked_.end() || asked->second != cell.bytes || (found != writers_.end() && found->second.unclear)) {
      unresolved(cell);
      continue;
    }
    // Each program begins when the one before it has ended, unless they wait for each other: then there must be only one.
    int64_t writer = -1;
    bool clear = true;
    if (found != writers_.end())
      for (const int64_t program : found->second.programs) {
        if (program == reader || (!interleaved_ && program > reader)) continue;
        clear = !interleaved_ || writer < 0 || writer == program;
        if (!clear) break;
        writer = program;
      }
    if (interleaved_ && (!clear || (writer >= 0 && (!cell.compares || followed_.count(writer))))) unresolved(cell);
    else if (writer < 0) read_[cell.argument].push_back(cell.offset);
    else handed.emplace_back(writer, &cell);
  }
  for (const auto& [writer, cell] : handed)
    if (cell->compares) read.push_back({cell->event, cell->element, {}});
  std::stable_sort(read.begin(), read.end(), [](const auto& a, const auto& b) { return a.event < b.event; });
  if (!read.empty()) {
    Peek peek(read);
    auto stopped = values_.watch(programOf(reader), peek);
    if (!stopped) return failure(std::move(stopped).error());
  }
  std::map<std::pair<uint32_t, int64_t>, std::optional<int64_t>> bits;
  for (const Peek::Wanted& peeked : read) bits[{peeked.event, peeked.element}] = peeked.bits;
  for (const auto& [writer, cell] : handed) {
    if (!cell->compares) {
      pending_[writer].push_back({*cell, {}});
      continue;
    }
    const auto seen = bits[{cell->event, cell->element}];
    if (seen) pending_[writer].push_back({*cell, seen});
    else unresolved(*cell);
  }
  return {};
}

Status Slicing::followWriter(int64_t writer, const std::vector<Handed>& cells) {
  if (followed_.size() >= kMostPrograms || followed_.count(writer)) {
    for (const Handed& handed : cells) unresolved(handed.cell);
    return {};
  }
  std::vector<std::pair<Start, Foreign>> stored;
  std::vector<const Handed*> refused;
  Backwards found(values_.launch(), [&](Backwards& run, Machine& machine) {
    std::vector<Start> starts;
    for (const Handed& handed : cells) {
      const auto start = run.writeTo(machine, handed.cell.address);
      // Another value: it was not this write that was read.
      const bool same = start && (start->atomic || !handed.bits || run.bitsOf(*start) == handed.bits);
      if (!same) {
        refused.push_back(&handed);
        continue;
      }
      starts.push_back(*start);
      stored.emplace_back(*start, handed.cell);
    }
    return starts;
  });
  const auto program = programOf(writer);
  auto stopped = values_.watch(program, found);
  if (!stopped) return failure(std::move(stopped).error());
  for (const Handed* handed : refused) unresolved(handed->cell);
  if (found.tooLong)
    for (const Handed& handed : cells) unresolved(handed.cell);
  if (found.tooLong || stored.empty()) return {};
  std::map<const Instr*, std::vector<std::pair<Start, Foreign>>> byStore;
  for (const auto& pair : stored) byStore[&found.instrOf(pair.first.event)].push_back(pair);
  for (const auto& [instr, pairs] : byStore) slice_.chain.push_back(storeLink(program, found, pairs));
  add(program, found, nullptr);
  return {};
}

Link Slicing::storeLink(std::array<int64_t, 3> program, const Backwards& found, const std::vector<std::pair<Start, Foreign>>& stored) const {
  const Foreign& first = stored.front().second;
  const launch::Argument& argument = values_.launch().arguments[static_cast<size_t>(first.argument)];
  Link link;
  link.program = program;
  link.name = argument.name;
  link.store = true;
  link.site = static_cast<uint32_t>(std::max(values_.table().siteOf(*found.plan, found.instrOf(stored.front().first.event)), 0));
  link.file = values_.sites()[link.site].file;
  link.line = values_.sites()[link.site].line;
  link.shape = argument.view.shape;
  std::vector<int64_t> offsets;
  for (const auto& [start, cell] : stored)
    if (cell.argument == first.argument) offsets.push_back(cell.offset);
  std::sort(offsets.begin(), offsets.end());
  int64_t outside = 0;
  link.elements = regionOfView(argument.view, std::move(offsets), &outside, 2);
  return link;
}

Slice Slicing::take() {
  for (auto& [argument, offsets] : read_) {
    const launch::Argument& a = values_.launch().arguments[static_cast<size_t>(argument)];
    Source source;
    source.argument = static_cast<uint32_t>(argument);
    source.name = a.name;
    std::sort(offsets.begin(), offsets.end());
    source.offsets = std::move(offsets);
    source.region = regionOfView(a.view, source.offsets, &source.outside);
    source.mayHaveChanged = changed_.count(argument) != 0;
    slice_.sources.push_back(std::move(source));
  }
  slice_.scalars.assign(scalars_.begin(), scalars_.end());
  return std::move(slice_);
}

tl::unexpected<Diagnostic> tooLong(const std::array<int64_t, 3>& program) {
  return failure(fmt::format("program ({}) executes more than {} operations: it is too long to be followed", fmt::join(program, ", "), kMostEvents));
}

}  // namespace

Result<Written> followStore(const Values& values, std::array<int64_t, 3> program, uint32_t argument, const std::vector<int64_t>& index) {
  const launch::Argument& a = values.launch().arguments[argument];
  Backwards run(values.launch(), [&](Backwards& r, Machine& machine) -> std::vector<Start> {
    const exec::ViewInfo* view = machine.context().memory->view(static_cast<int32_t>(argument));
    if (!view) return {};
    int64_t address = view->address;
    for (size_t d = 0; d < index.size(); ++d) address += index[d] * view->strides[d] * view->elementBytes;
    const auto start = r.writeTo(machine, address);
    return start ? std::vector<Start>{*start} : std::vector<Start>();
  });
  auto stopped = values.watch(program, run);
  if (!stopped) return failure(std::move(stopped).error());
  if (run.tooLong) return tooLong(program);
  if (run.starts.empty())
    return failure(fmt::format("program ({}) stores nothing to {}[{}]{}", fmt::join(program, ", "), a.name, fmt::join(index, ", "), stopped->empty() ? "" : ": " + *stopped));
  Written written;
  const Start& start = run.starts.front();
  written.atomic = start.atomic;
  const Instr& store = run.instrOf(start.event);
  const int32_t site = values.table().siteOf(*run.plan, store);
  written.site = static_cast<uint32_t>(std::max(site, 0));
  written.element = start.element;
  if (const exec::Shape* shape = operandShape(*run.plan, store, start.number)) written.shape = shape->dims;
  Link stored;
  stored.shape = written.shape;
  Slicing slicing(values, program);
  slicing.add(program, run, &stored);
  TS_CHECK(slicing.continueInOthers());
  written.slice = slicing.take();
  written.iterations = stored.iterations;
  written.text = stored.value;
  written.value = stored.values.nan ? std::numeric_limits<double>::quiet_NaN()
                  : stored.values.positiveInfinity ? std::numeric_limits<double>::infinity()
                  : stored.values.negativeInfinity ? -std::numeric_limits<double>::infinity() : stored.values.mean;
  return written;
}

Result<Slice> followValue(const Values& values, std::array<int64_t, 3> program, int64_t event, unsigned result, int64_t element) {
  Backwards run(values.launch(), [&](Backwards& r, Machine&) -> std::vector<Start> {
    if (event < 0 || static_cast<size_t>(event) >= r.events()) return {};
    return {{static_cast<uint32_t>(event), result, false, element, false}};
  });
  auto stopped = values.watch(program, run);
  if (!stopped) return failure(std::move(stopped).error());
  if (run.tooLong) return tooLong(program);
  if (run.starts.empty()) return failure(fmt::format("program ({}) executes no operation number {}", fmt::join(program, ", "), event));
  Slicing slicing(values, program);
  slicing.add(program, run, nullptr);
  TS_CHECK(slicing.continueInOthers());
  return slicing.take();
}

}  // namespace tilesight::trace
