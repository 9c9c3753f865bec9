#include "server/workspace.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "launch/bundle.h"

namespace tilesight::server {

namespace {

std::string stamp(const std::string& path) {
  std::error_code error;
  const auto time = std::filesystem::last_write_time(path, error);
  if (error) return "gone";
  const auto size = std::filesystem::is_regular_file(path, error) ? std::filesystem::file_size(path, error) : 0;
  return fmt::format("{} {}", time.time_since_epoch().count(), size);
}

bool isWhole(const std::string& bundle) {
  const auto reader = launch::BundleReader::open(bundle);
  return reader && reader->launches();
}

}  // namespace

Workspace::Workspace(const std::vector<std::string>& bundles) : bundles_(bundles) {
  scan();
  reader_ = std::thread([this] { read(); });
  worker_ = std::thread([this] { work(); });
}

void Workspace::scan() {
  entries_.clear();
  wanted_.clear();
  unread_.clear();
  kept_.clear();
  stamps_.clear();
  seen_.assign(bundles_.size(), {});
  for (const std::string& bundle : bundles_) {
    stamps_.push_back(stamp(bundle));
    const auto reader = launch::BundleReader::open(bundle);
    if (!reader || !reader->launches()) {
      Entry entry{.bundle = bundle, .state = Entry::State::Failed};
      entry.error = reader ? "it has no launches" : reader.error().str();
      entry.unreadable = true;
      entries_.push_back(std::move(entry));
      continue;
    }
    for (size_t i = 0; i < reader->launches(); ++i) {
      Entry entry{.bundle = bundle, .index = i};
      if (auto name = reader->kernelName(i)) entry.kernel = *name;
      if (auto number = reader->launchNumber(i)) entry.number = *number;
      wanted_.push_back(entries_.size());
      entries_.push_back(std::move(entry));
    }
  }
}

uint64_t Workspace::refresh() {
  const std::lock_guard lock(mutex_);
  bool changed = false;
  for (size_t i = 0; i < bundles_.size() && !changed; ++i) {
    std::string now = stamp(bundles_[i]);
    if (now == stamps_[i] || now == "gone") continue;  // what is shown of a file that is gone stays
    changed = now == seen_[i] || isWhole(bundles_[i]);
    seen_[i] = std::move(now);
  }
  if (changed) {
    scan();
    current_ = ++version_;
    changed_.notify_all();
  }
  return version_;
}

Workspace::~Workspace() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  reader_.join();
  worker_.join();
}

Workspace::Listing Workspace::listing() const {
  const std::lock_guard lock(mutex_);
  return {entries_, version_};
}

std::shared_ptr<const Loaded> Workspace::get(size_t launch, uint64_t version) {
  const std::lock_guard lock(mutex_);
  if (version != version_ || launch >= entries_.size()) return nullptr;
  Entry& entry = entries_[launch];
  if (entry.state == Entry::State::Failed) return nullptr;
  const auto loaded = kept(launch);
  if (loaded && (loaded->surveyed() || entry.state == Entry::State::Running)) return loaded;
  if (entry.state != Entry::State::Running) {
    std::erase(wanted_, launch);
    wanted_.push_front(launch);
    entry.state = Entry::State::Waiting;
  }
  if (!loaded) {
    std::erase(unread_, launch);
    unread_.push_front(launch);
  }
  changed_.notify_all();
  return loaded;
}

std::shared_ptr<Loaded> Workspace::kept(size_t launch) {
  const auto found = std::find_if(kept_.begin(), kept_.end(), [&](const auto& entry) { return entry.first == launch; });
  if (found == kept_.end()) return nullptr;
  std::rotate(found, found + 1, kept_.end());  // the last one to be dropped
  return kept_.back().second;
}

std::shared_ptr<Loaded> Workspace::keep(size_t launch, std::shared_ptr<Loaded> loaded) {
  if (auto other = kept(launch)) return other;
  kept_.emplace_back(launch, std::move(loaded));
  if (kept_.size() > kKept) kept_.pop_front();
  return kept_.back().second;
}

void Workspace::failed(size_t launch, const Diagnostic& error) {
  entries_[launch].state = Entry::State::Failed;
  entries_[launch].error = error.str();
}

std::shared_ptr<const Loaded> Workspace::wait(size_t launch) {
  for (;;) {
    if (auto loaded = get(launch, listing().version); loaded && loaded->surveyed()) return loaded;
    std::unique_lock lock(mutex_);
    if (launch >= entries_.size() || entries_[launch].state == Entry::State::Failed) return nullptr;
    changed_.wait_for(lock, std::chrono::milliseconds(100));
  }
}

void Workspace::expect(Expectation expectation, std::optional<size_t> launch) {
  const std::lock_guard lock(mutex_);
  std::erase_if(expectations_, [&](const auto& e) { return e.first == launch && e.second->tensor == expectation.tensor && e.second->array.shape == expectation.array.shape; });
  expectations_.emplace_back(launch, std::make_shared<const Expectation>(std::move(expectation)));
}

std::shared_ptr<const Expectation> Workspace::expected(size_t launch, const launch::Argument& tensor) const {
  const std::lock_guard lock(mutex_);
  for (size_t i = expectations_.size(); i-- > 0;) {
    const auto& [number, expectation] = expectations_[i];
    if ((!number || *number == launch) && expectation->tensor == tensor.name && expectation->array.shape == tensor.view.shape) return expectation;
  }
  return nullptr;
}

void Workspace::read() {
  std::unique_lock lock(mutex_);
  while (!ends_) {
    if (unread_.empty()) {
      changed_.wait(lock);
      continue;
    }
    const size_t launch = unread_.front();
    unread_.pop_front();
    if (kept(launch) || entries_[launch].state == Entry::State::Failed) continue;
    const Entry entry = entries_[launch];
    const uint64_t version = version_;
    lock.unlock();
    auto loaded = Loaded::open(entry.bundle, entry.index);
    lock.lock();
    if (version != version_) continue;  // of files that have changed since
    if (loaded) keep(launch, std::move(*loaded));
    else failed(launch, loaded.error());
    changed_.notify_all();
  }
}

void Workspace::work() {
  std::unique_lock lock(mutex_);
  while (!ends_) {
    if (wanted_.empty()) {
      changed_.wait(lock);
      continue;
    }
    const size_t launch = wanted_.front();
    wanted_.pop_front();
    if (entries_[launch].state == Entry::State::Failed) continue;
    entries_[launch].state = Entry::State::Running;
    const Entry entry = entries_[launch];
    const uint64_t version = version_;
    auto loaded = kept(launch);
    if (!loaded) {
      lock.unlock();
      auto opened = Loaded::open(entry.bundle, entry.index);
      lock.lock();
      if (version != version_) continue;  // of files that have changed since
      if (!opened) {
        failed(launch, opened.error());
        changed_.notify_all();
        continue;
      }
      loaded = keep(launch, std::move(*opened));
    }
    lock.unlock();
    const Result<bool> ran = loaded->survey([&] { return ends_ || current_ != version; });
    lock.lock();
    if (version != version_ || ends_) continue;
    if (!ran) {
      failed(launch, ran.error());
    } else {
      keep(launch, loaded);
      const Surveyed& surveyed = *loaded->surveyed();
      Entry& done = entries_[launch];
      done.state = Entry::State::Ready;
      done.kernel = loaded->launch().kernel;
      done.grid = loaded->launch().grid;
      done.seconds = surveyed.report.seconds;
      done.errors = done.warnings = done.notes = 0;
      for (const findings::Finding& finding : surveyed.session.findings())
        ++(finding.severity == findings::Severity::Error     ? done.errors
           : finding.severity == findings::Severity::Warning ? done.warnings
                                                             : done.notes);
      done.unknowns = static_cast<uint32_t>(surveyed.session.unknowns().size());
    }
    changed_.notify_all();
  }
}

}  // namespace tilesight::server
