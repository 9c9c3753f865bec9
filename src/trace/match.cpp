#include "trace/match.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "exec/kernel.h"
#include "exec/report.h"
#include "findings/nearest.h"
#include "trace/names.h"

namespace tilesight::trace {

namespace {

bool isLibrary(const std::string& path) {
  return path.find("triton/language/") != std::string::npos || path.find("triton/experimental/") != std::string::npos;
}

// "b/c.py" is the end of "/a/b/c.py".
bool endsIn(const std::string& path, const std::string& end) {
  return path.size() >= end.size() && path.compare(path.size() - end.size(), end.size(), end) == 0 &&
         (path.size() == end.size() || path[path.size() - end.size() - 1] == '/');
}

std::string kernelFile(const Values& values) {
  const ir::Operation* entry = values.kernel().source().entry();
  return entry ? placeOf(*entry, values.kernel().source().fileName).file : std::string();
}

bool inFile(const std::string& path, const Query& query, const std::string& own) {
  return query.file.empty() ? path == own : endsIn(path, query.file);
}

bool hasName(const Named& value, const std::string& name) {
  return name[0] == '%' ? value.ssa == name : value.name == name || (!value.ssa.empty() && value.ssa.compare(1, std::string::npos, name) == 0);
}

// All of them: a name that is left out may be the one that is looked for.
template <typename Items>
std::string listed(const Items& items) {
  return fmt::format("{}", fmt::join(items, ", "));
}

// "a, acc, b; did you mean acc?"
std::string listedWithNearest(const std::string& name, const std::set<std::string>& names) {
  const std::vector<std::string_view> candidates(names.begin(), names.end());
  return listed(names) + (names.size() > 1 ? findings::didYouMean(name, candidates) : std::string());
}

std::string fileName(const std::string& path) { return path.substr(path.rfind('/') + 1); }

Diagnostic diagnostic(std::string message, std::string remedy = {}) { return Diagnostic{{}, 0, 0, std::move(message), std::move(remedy)}; }

// No value of this name at this line: what is there instead.
Diagnostic unknownName(const Values& values, const Query& query, const std::string& own) {
  std::set<std::string> onLine, files;
  std::set<uint32_t> lines, all;
  for (const Site& site : values.sites())
    for (const Named& value : site.values) {
      files.insert(value.file);
      if (!inFile(value.file, query, own)) continue;
      if (!value.name.empty() && value.line == query.line) onLine.insert(value.name);
      if (!value.name.empty()) all.insert(value.line);
      if (!query.name.empty() && hasName(value, query.name)) lines.insert(value.line);
    }
  if (!query.file.empty() && std::none_of(files.begin(), files.end(), [&](const std::string& f) { return endsIn(f, query.file); })) {
    std::set<std::string> own;
    for (const std::string& f : files)
      if (!isLibrary(f)) own.insert(fileName(f));
    return diagnostic(fmt::format("the kernel has no line of {}: its lines are of {}", query.file, listed(own)));
  }
  const std::string where = fmt::format("line {} of {}", query.line, fileName(query.file.empty() ? own : query.file));
  if (query.name.empty()) return diagnostic(fmt::format("no value is made on {}", where), fmt::format("lines with variables: {}", listed(all)));
  if (!onLine.empty())
    return diagnostic(fmt::format("no \"{}\" gets a value on {}: there are {}", query.name, where, lines.empty() ? listedWithNearest(query.name, onLine) : listed(onLine)),
                      lines.empty() ? std::string() : fmt::format("it gets one on line {}", listed(lines)));
  if (!lines.empty() && query.line) return diagnostic(fmt::format("\"{}\" gets no value on {}, but on line {}", query.name, where, listed(lines)));
  if (query.line)
    return diagnostic(fmt::format("no variable gets a value on {}", where), fmt::format("lines with variables: {}", listed(all)));
  std::set<std::string> names;
  for (const Site& site : values.sites())
    for (const Named& value : site.values)
      if (!value.name.empty() && inFile(value.file, query, own)) names.insert(value.name);
  return diagnostic(fmt::format("the kernel has no variable \"{}\": it has {}", query.name, listedWithNearest(query.name, names)));
}

}  // namespace

const std::string& LoopsSeen::nameOf(exec::Machine& machine, const exec::Instr& loop) {
  auto [found, fresh] = names_.try_emplace(&loop);
  if (fresh) {
    bool downwards = false;
    found->second = exec::loopName(machine, loop, &downwards);
    if (found->second.empty()) found->second = "while";
  }
  return found->second;
}

void LoopsSeen::add(exec::Machine& machine) {
  for (const exec::LoopRecord& loop : machine.loops()) {
    Range& range = trips_[nameOf(machine, *loop.loop)];
    range.lowest = std::min(range.lowest, loop.trip);
    range.highest = std::max(range.highest, loop.trip);
  }
}

bool fits(exec::Machine& machine, const std::vector<Query::Trip>& trips, LoopsSeen& seen) {
  if (trips.empty()) return true;
  const bool byValue = std::any_of(trips.begin(), trips.end(), [](const Query::Trip& trip) { return trip.isValue; });
  const std::vector<Iteration> iterations = byValue ? machine.iterations() : std::vector<Iteration>();
  for (const Query::Trip& trip : trips) {
    bool found = false;
    for (size_t i = 0; i < machine.loops().size() && !found; ++i) {
      const exec::LoopRecord& loop = machine.loops()[i];
      found = seen.nameOf(machine, *loop.loop) == trip.loop &&
              (trip.isValue ? iterations[i].value : loop.trip) == trip.number;
    }
    if (!found) return false;
  }
  return true;
}

Result<Candidates> candidatesOf(const Values& values, const Query& query) {
  Candidates candidates;
  const std::vector<Site>& sites = values.sites();
  if (query.op) {
    bool known = false;
    std::string what;
    size_t results = 0, operands = 0;
    for (uint32_t s = 0; s < sites.size(); ++s) {
      const Site& site = sites[s];
      if (site.op != *query.op) continue;
      known = true;
      what = site.operation;
      results = std::max(results, site.values.size());
      operands = std::max(operands, site.operands.size());
      if (query.operand) {
        if (*query.operand < site.operands.size()) candidates.add(s, {true, *query.operand});
      } else if (query.result < site.values.size()) {
        candidates.add(s, {false, query.result});
      }
    }
    if (!candidates.empty()) return candidates;
    if (!known) {
      const ir::Operation* op = values.kernel().operation(*query.op);
      if (!op) return failure(fmt::format("the kernel has no operation {}", *query.op));
      return failure(diagnostic(fmt::format("operation {} ({}) has no values of its own", *query.op, op->name),
                                "operations of a combine function are seen through the reduction; of branches and yields, through what they end"));
    }
    if (query.operand) return failure(fmt::format("operation {} ({}) has {} operands", *query.op, what, operands));
    if (!results)
      return failure(diagnostic(fmt::format("operation {} ({}) has no result", *query.op, what),
                                fmt::format("ask for one of its {} operands: operand=0", operands)));
    return failure(fmt::format("operation {} ({}) has {} results", *query.op, what, results));
  }
  if (query.name.empty()) return failure(diagnostic("which value? give a name, or the number of an operation (op)"));
  const std::string own = kernelFile(values);
  for (uint32_t s = 0; s < sites.size(); ++s)
    for (uint32_t i = 0; i < sites[s].values.size(); ++i) {
      const Named& value = sites[s].values[i];
      if (!hasName(value, query.name) || (query.line && value.line != query.line)) continue;
      if (!inFile(value.file, query, own)) continue;
      candidates.add(s, {false, i});
    }
  if (candidates.empty()) return failure(unknownName(values, query, own));
  return candidates;
}

Diagnostic notFound(const Values& values, const Query& query, const Candidates& candidates, const LoopsSeen& loops,
                    int64_t count, const std::string& stopped) {
  (void)values;
  (void)candidates;
  const std::string program = fmt::format("program ({})", fmt::join(query.program, ", "));
  const std::string value = query.op ? fmt::format("operation {}", *query.op) : fmt::format("\"{}\"", query.name);
  const std::string ended = stopped.empty() ? std::string() : fmt::format("the program could not be followed to its end: {}", stopped);
  if (count && query.occurrence)
    return diagnostic(fmt::format("{} comes to {} {} times, so there is no occurrence {}", program, value, count, *query.occurrence), ended);
  for (const Query::Trip& trip : query.trips) {
    const auto seen = loops.trips().find(trip.loop);
    if (loops.trips().empty()) break;
    if (seen == loops.trips().end()) {
      std::set<std::string> names;
      for (const auto& [name, range] : loops.trips()) names.insert(name);
      return diagnostic(fmt::format("{} is in no loop over \"{}\"", value, trip.loop), fmt::format("its loops are {}", listedWithNearest(trip.loop, names)));
    }
    if (!trip.isValue && (trip.number < seen->second.lowest || trip.number > seen->second.highest))
      return diagnostic(fmt::format("{} comes to {} in turns {} to {} of {}, not in turn {}", program, value, seen->second.lowest,
                                    seen->second.highest, trip.loop, trip.number), ended);
    if (trip.isValue) return diagnostic(fmt::format("{} does not come to {} with {} = {}", program, value, trip.loop, trip.number), ended);
  }
  if (!query.trips.empty() && loops.trips().empty() && stopped.empty())
    return diagnostic(fmt::format("{} does not come to {} in a loop", program, value));
  return diagnostic(fmt::format("{} does not come to {}", program, value),
                    ended.empty() ? "it takes another branch: ask for another program" : ended);
}

std::map<uint32_t, std::vector<std::string>> namesByLine(const Values& values, const std::string& file) {
  std::map<uint32_t, std::vector<std::string>> result;
  const std::string own = kernelFile(values);
  Query query;
  query.file = file;
  for (const Site& site : values.sites())
    for (const Named& value : site.values) {
      if (value.name.empty() || !inFile(value.file, query, own)) continue;
      auto& names = result[value.line];
      if (std::find(names.begin(), names.end(), value.name) == names.end()) names.push_back(value.name);
    }
  return result;
}

}  // namespace tilesight::trace
