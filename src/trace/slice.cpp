#include "trace/slice.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <unordered_map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "exec/observer.h"
#include "exec/report.h"
#include "trace/dependence.h"
#include "trace/sites.h"

namespace tilesight::trace {

namespace {

using exec::Instr;
using exec::Machine;
using exec::Opcode;
using exec::Tile;

constexpr size_t kMaxEvents = 20'000'000;

// Who made an operand: the event and which of its results; none: it was there before (constants, parameters).
struct Maker {
  uint32_t event = UINT32_MAX;
  uint32_t result = 0;
};

struct Event {
  const Instr* instr = nullptr;
  uint32_t makers = 0;     // of its operands, from here on
  uint32_t deciding = 0;   // index + 1, or 0
};

// The value that a slice starts from: a result, or what a store writes.
struct Start {
  uint32_t event = 0;
  unsigned number = 0;     // result, or operand
  bool operand = false;
  int64_t element = 0;
};

// Used elements of a result of an event.
struct Used {
  uint32_t event = 0;
  unsigned result = 0;
  ElementSet elements;
};

class Recorder : public exec::Observer {
 public:
  /// `start`, called when the program has ended, says where to begin; false: nowhere.
  using FindStart = std::function<bool(Recorder&, Machine&, Start*)>;
  Recorder(const launch::Launch& launch, FindStart findStart)
      : launch_(launch), findStart_(std::move(findStart)) {}

  void before(Machine& machine, const Instr& instr) override {
    if (events_.size() >= kMaxEvents) {
      tooLong = true;
      return machine.finish();
    }
    if (makerOfSlot_.empty()) makerOfSlot_.resize(machine.context().plan->program.slots.size());
    Event& event = events_.emplace_back();
    event.instr = &instr;
    event.makers = static_cast<uint32_t>(makers_.size());
    for (unsigned i = 0; i < instr.inCount; ++i) {
      const uint32_t slot = machine.inSlot(instr, i);
      makers_.push_back(slot == plan::kNoSlot ? Maker{} : makerOfSlot_[slot]);
    }
    const uint32_t bits = decidingOperands(instr);
    if (!bits) return;
    Deciding& tiles = deciding_.emplace_back(instr.inCount);
    for (unsigned i = 0; i < instr.inCount; ++i)
      if (i < 32 ? bits >> i & 1 : bits >> 31) tiles[i] = machine.in(instr, i);
    event.deciding = static_cast<uint32_t>(deciding_.size());
  }
  void after(Machine& machine, const Instr& instr) override {
    const auto event = static_cast<uint32_t>(events_.size() - 1);
    if (instr.op != Opcode::Mark)
      for (unsigned i = 0; i < instr.outCount; ++i) makerOfSlot_[machine.outSlot(instr, i)] = {event, i};
    if (isAccess(instr)) accesses_.push_back(event);
  }
  void finished(Machine& machine) override {
    Start from;
    if (!tooLong && findStart_(*this, machine, &from)) {
      found = true;
      start = from;
      follow(machine, from);
    }
    deciding_.clear();
    cells_.clear();
  }

  /// The last write to an address, at or before event `from`.
  bool writeTo(Machine& machine, int64_t address, uint32_t from, Start* start, bool* atomic) {
    for (size_t a = accesses_.size(); a-- > 0;) {
      const uint32_t event = accesses_[a];
      if (event >= from) continue;
      const Written& written = writtenBy(machine, event);
      const auto cell = written.elements.find(address);
      if (cell == written.elements.end()) continue;
      *start = {event, static_cast<unsigned>(written.value), true, cell->second};
      *atomic = written.atomic;
      return true;
    }
    return false;
  }
  const Event& event(uint32_t number) const { return events_[number]; }
  size_t events() const { return events_.size(); }

  bool tooLong = false, found = false;
  Start start;
  std::vector<Used> used;  // latest first
  std::map<int32_t, std::vector<int64_t>> read;  // argument -> offsets in elements, of what was there before the program
  std::set<int32_t> changed;
  std::set<std::string> scalars;
  int64_t unknown = 0;

 private:
  struct Written {
    std::unordered_map<int64_t, int64_t> elements;  // address -> element of the tile
    int value = -1;
    bool atomic = false;
  };

  const Written& writtenBy(Machine& machine, uint32_t event) {
    auto [found, fresh] = cells_.try_emplace(event);
    Written& written = found->second;
    if (!fresh) return written;
    const Event& e = events_[event];
    const Cells cells = cellsOf(*machine.context().plan, *e.instr, deciding_[e.deciding - 1]);
    if (!cells.writes) return written;
    written.value = cells.value;
    written.atomic = cells.reads;
    for (size_t i = 0; i < cells.address.size(); ++i)
      if (cells.active[i]) written.elements[cells.address[i]] = static_cast<int64_t>(i);
    return written;
  }

  void need(Machine& machine, uint32_t event, unsigned operand, const ElementSet& elements) {
    if (elements.empty()) return;
    const Event& e = events_[event];
    const Maker maker = makers_[e.makers + operand];
    if (maker.event == UINT32_MAX) return parameter(machine, machine.inSlot(*e.instr, operand));
    auto& results = needed_[maker.event];
    if (results.empty()) results.resize(events_[maker.event].instr->outCount);
    ElementSet& set = results[maker.result];
    if (!set.size()) set = ElementSet(elements.size());
    set.add(elements);
  }

  void parameter(Machine& machine, uint32_t slot) {
    const auto& parameters = machine.context().plan->program.parameters;
    for (size_t p = 0; p < parameters.size(); ++p) {
      if (parameters[p] != slot) continue;
      const int32_t argument = machine.context().argumentOfParameter[p];
      if (argument < 0) return;
      const launch::Argument& a = launch_.arguments[static_cast<size_t>(argument)];
      if (a.kind == launch::Argument::Kind::Scalar) scalars.insert(a.name);
    }
  }

  // Elements of a read that were in memory: either the program's own earlier writes, or inputs.
  void readMemory(Machine& machine, uint32_t event, const ElementSet& want) {
    const Event& e = events_[event];
    const Cells cells = cellsOf(*machine.context().plan, *e.instr, deciding_[e.deciding - 1]);
    if (!cells.reads) return;
    want.each([&](int64_t i) {
      const auto at = static_cast<size_t>(i);
      if (at >= cells.address.size() || !cells.active[at]) return;
      cell(machine, cells.address[at], cells.origin[at], event);
    });
  }

  void cell(Machine& machine, int64_t address, int32_t origin, uint32_t event) {
    const exec::LaunchMemory& memory = *machine.context().memory;
    if (origin < 0 || !memory.view(origin)) {
      origin = -1;
      for (size_t a = 0; a < launch_.arguments.size() && origin < 0; ++a)
        if (const exec::ViewInfo* view = memory.view(static_cast<int32_t>(a)); view && address >= view->low && address < view->high)
          origin = static_cast<int32_t>(a);
    }
    if (origin < 0) {
      ++unknown;
      return;
    }
    const exec::ViewInfo& view = *memory.view(origin);
    if (machine.context().mayChange.size() > view.storage && machine.context().mayChange[view.storage]) {
      Start writer;
      bool atomic = false;
      if (writeTo(machine, address, event, &writer, &atomic)) {
        const exec::Shape* shape = operandShape(*machine.context().plan, *events_[writer.event].instr, writer.number);
        ElementSet one(shape ? shape->numel : 1);
        one.add(std::min(writer.element, one.size() - 1));
        need(machine, writer.event, writer.number, one);
        usedStores.insert(writer.event);
        if (!atomic) return;
      }
      changed.insert(origin);
    }
    const int64_t bytes = address - view.address, size = std::max<int64_t>(view.elementBytes, 1);
    read[origin].push_back(bytes / size - (bytes % size < 0));
  }

  void follow(Machine& machine, const Start& from) {
    const exec::CompiledPlan& plan = *machine.context().plan;
    const Instr& first = *events_[from.event].instr;
    if (from.operand) {
      const exec::Shape* shape = operandShape(plan, first, from.number);
      if (!shape) return;
      ElementSet one(shape->numel);
      one.add(std::min(from.element, shape->numel - 1));
      need(machine, from.event, from.number, one);
    } else {
      auto& results = needed_[from.event];
      results.resize(first.outCount);
      results[from.number] = ElementSet(resultShape(plan, first, from.number)->numel);
      results[from.number].add(from.element);
    }
    while (!needed_.empty()) {
      auto last = std::prev(needed_.end());
      const uint32_t event = last->first;
      std::vector<ElementSet> results = std::move(last->second);
      needed_.erase(last);
      const Event& e = events_[event];
      const Instr& instr = *e.instr;
      static const Deciding none;
      for (unsigned r = 0; r < results.size(); ++r) {
        if (results[r].empty()) continue;
        if (isAccess(instr)) readMemory(machine, event, results[r]);
        std::vector<ElementSet> operands;
        for (unsigned i = 0; i < instr.inCount; ++i) {
          const exec::Shape* shape = operandShape(plan, instr, i);
          operands.emplace_back(shape ? shape->numel : 0);
        }
        dependences(plan, instr, r, results[r], e.deciding ? deciding_[e.deciding - 1] : none, operands);
        for (unsigned i = 0; i < operands.size(); ++i) need(machine, event, i, operands[i]);
        used.push_back({event, r, std::move(results[r])});
      }
    }
  }

 public:
  std::set<uint32_t> usedStores;

 private:
  const launch::Launch& launch_;
  FindStart findStart_;
  std::vector<Maker> makerOfSlot_, makers_;
  std::vector<Event> events_;
  std::vector<Deciding> deciding_;
  std::vector<uint32_t> accesses_;
  std::unordered_map<uint32_t, Written> cells_;
  std::map<uint32_t, std::vector<ElementSet>> needed_;
};

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

int64_t numberOf(const std::vector<int64_t>& shape) {
  int64_t count = 1;
  for (int64_t size : shape) count *= size;
  return count;
}

Slice sliceOf(const Values& values, std::array<int64_t, 3> program, const SiteTable& table, const exec::CompiledPlan& plan, Recorder& recorder,
              Link* stored) {
  Slice slice;
  slice.program = program;
  // One link a variable of a line: its last event, and how often that operation mattered.
  std::map<std::tuple<std::string, uint32_t, std::string>, size_t> known;
  std::vector<const Used*> last;
  std::map<const Instr*, int64_t> times;
  for (const Used& used : recorder.used) ++times[recorder.event(used.event).instr];
  for (const Used& used : recorder.used) {
    const Instr& instr = *recorder.event(used.event).instr;
    const int32_t site = table.siteOf(plan, instr);
    if (site < 0) continue;
    const Site& of = values.sites()[static_cast<size_t>(site)];
    if (used.result >= of.values.size()) continue;
    const Named& named = of.values[used.result];
    if (named.name.empty() || named.type.find("tt.ptr") != std::string::npos) continue;
    if (!known.try_emplace({named.file, named.line, named.name}, last.size()).second) continue;
    last.push_back(&used);
    Link& link = slice.chain.emplace_back();
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
  for (size_t i = 0; i < last.size(); ++i) wanted.push_back({last[i]->event, last[i]->result, false, &last[i]->elements, &slice.chain[i]});
  ElementSet one;
  if (stored) {
    one = ElementSet(std::max<int64_t>(1, numberOf(stored->shape)));
    one.add(recorder.start.element);
    wanted.push_back({recorder.start.event, recorder.start.number, true, &one, stored});
  }
  if (!wanted.empty()) {
    Looking looking(std::move(wanted));
    (void)values.watch(program, looking);
  }
  for (auto& [argument, offsets] : recorder.read) {
    const launch::Argument& a = values.launch().arguments[static_cast<size_t>(argument)];
    Source source;
    source.argument = static_cast<uint32_t>(argument);
    source.name = a.name;
    std::sort(offsets.begin(), offsets.end());
    source.offsets = std::move(offsets);
    source.region = regionOfView(a.view, source.offsets, &source.outside);
    source.mayHaveChanged = recorder.changed.count(argument) != 0;
    slice.sources.push_back(std::move(source));
  }
  slice.scalars.assign(recorder.scalars.begin(), recorder.scalars.end());
  slice.unknown = recorder.unknown;
  return slice;
}

}  // namespace

Result<Written> followStore(const Values& values, std::array<int64_t, 3> program, uint32_t argument, const std::vector<int64_t>& index) {
  const launch::Argument& a = values.launch().arguments[argument];
  bool atomic = false;
  const exec::CompiledPlan* plan = nullptr;
  Recorder recorder(values.launch(), [&](Recorder& r, Machine& machine, Start* start) {
    plan = machine.context().plan;
    const exec::ViewInfo* view = machine.context().memory->view(static_cast<int32_t>(argument));
    if (!view) return false;
    int64_t address = view->address;
    for (size_t d = 0; d < index.size(); ++d) address += index[d] * view->strides[d] * view->elementBytes;
    return r.writeTo(machine, address, UINT32_MAX, start, &atomic);
  });
  auto stopped = values.watch(program, recorder);
  if (!stopped) return failure(std::move(stopped).error());
  if (recorder.tooLong) return failure(fmt::format("program ({}) executes more than {} operations: it is too long to be followed", fmt::join(program, ", "), kMaxEvents));
  if (!recorder.found)
    return failure(fmt::format("program ({}) stores nothing to {}[{}]{}", fmt::join(program, ", "), a.name, fmt::join(index, ", "), stopped->empty() ? "" : ": " + *stopped));
  Written written;
  written.atomic = atomic;
  const Instr& store = *recorder.event(recorder.start.event).instr;
  const int32_t site = values.table().siteOf(*plan, store);
  written.site = static_cast<uint32_t>(std::max(site, 0));
  written.element = recorder.start.element;
  if (const exec::Shape* shape = operandShape(*plan, store, recorder.start.number)) written.shape = shape->dims;
  Link stored;
  stored.shape = written.shape;
  written.slice = sliceOf(values, program, values.table(), *plan, recorder, &stored);
  written.iterations = stored.iterations;
  written.text = stored.value;
  written.value = stored.values.nan ? std::numeric_limits<double>::quiet_NaN()
                  : stored.values.positiveInfinity ? std::numeric_limits<double>::infinity()
                  : stored.values.negativeInfinity ? -std::numeric_limits<double>::infinity() : stored.values.mean;
  return written;
}

Result<Slice> followValue(const Values& values, std::array<int64_t, 3> program, int64_t event, unsigned result, int64_t element) {
  const exec::CompiledPlan* plan = nullptr;
  Recorder recorder(values.launch(), [&](Recorder& r, Machine& machine, Start* start) {
    plan = machine.context().plan;
    *start = {static_cast<uint32_t>(event), result, false, element};
    return event >= 0 && static_cast<size_t>(event) < r.events();
  });
  auto stopped = values.watch(program, recorder);
  if (!stopped) return failure(std::move(stopped).error());
  if (recorder.tooLong) return failure(fmt::format("program ({}) executes more than {} operations: it is too long to be followed", fmt::join(program, ", "), kMaxEvents));
  if (!recorder.found) return failure(fmt::format("program ({}) executes no operation number {}", fmt::join(program, ", "), event));
  return sliceOf(values, program, values.table(), *plan, recorder, nullptr);
}

}  // namespace tilesight::trace
