#include "exec/collector.h"

#include <algorithm>

#include "findings/sentence.h"

namespace tilesight::exec {

findings::Finding* Collector::find(const FindingKey& key) {
  auto it = entries_.find(key);
  return it == entries_.end() ? nullptr : &it->second.finding;
}

findings::Finding& Collector::add(const FindingKey& key, findings::Finding finding) {
  Entry entry;
  entry.finding = std::move(finding);
  entry.order = entries_.size();
  return entries_.emplace(key, std::move(entry)).first->second.finding;
}

void Collector::count(const FindingKey& key, int64_t elements, int64_t linear) {
  auto it = entries_.find(key);
  if (it == entries_.end()) return;
  Entry& entry = it->second;
  entry.finding.countElements += elements;
  if (entry.lastProgram != linear) {
    entry.lastProgram = linear;
    ++entry.finding.countPrograms;
  }
}

void Collector::addConsequence(const plan::Instr* instr, Of of, const std::string& text) {
  std::vector<std::string>& texts = consequences_[{instr, of}];
  if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(text);
}

// Nothing comes of an access that takes effect all the same.
bool Collector::tellsOf(const std::string& kind, Of of) {
  if (of == Of::Promises) return kind == "hint-violation";
  return kind != "hint-violation" && kind != "out-of-view" && kind != "misaligned";
}

void Collector::addUnknown(findings::Unknown unknown) {
  for (const auto& seen : unknowns_)
    if (seen.reason == unknown.reason && seen.location.line == unknown.location.line &&
        seen.location.file == unknown.location.file)
      return;
  unknowns_.push_back(std::move(unknown));
}

void Collector::merge(Collector&& later) {
  std::vector<std::pair<const FindingKey*, Entry*>> order;
  for (auto& [key, entry] : later.entries_) order.emplace_back(&key, &entry);
  std::sort(order.begin(), order.end(), [](auto& a, auto& b) { return a.second->order < b.second->order; });
  for (auto& [key, entry] : order) {
    auto it = entries_.find(*key);
    if (it == entries_.end()) {
      size_t at = entries_.size();
      entry->order = at;
      entries_.emplace(*key, std::move(*entry));
      continue;
    }
    // Ranges are of different programs.
    it->second.finding.countPrograms += entry->finding.countPrograms;
    findings::merge(it->second.finding, entry->finding);
  }
  for (const auto& [place, texts] : later.consequences_)
    for (const std::string& text : texts) addConsequence(place.first, place.second, text);
  for (auto& unknown : later.unknowns_) addUnknown(std::move(unknown));
  reads_.merge(later.reads_);
  work_.add(later.work_);
}

std::vector<findings::Finding> Collector::takeFindings() {
  for (auto& [key, entry] : entries_)
    for (Of of : {Of::Faults, Of::Promises})
      if (auto texts = consequences_.find({key.instr, of}); tellsOf(key.kind, of) && texts != consequences_.end())
        for (const std::string& text : texts->second) findings::addConsequence(entry.finding, text);
  std::vector<Entry*> order;
  for (auto& [key, entry] : entries_) order.push_back(&entry);
  std::sort(order.begin(), order.end(), [](auto* a, auto* b) { return a->order < b->order; });
  std::vector<findings::Finding> result;
  for (Entry* entry : order) result.push_back(std::move(entry->finding));
  return result;
}

}  // namespace tilesight::exec
