#include "record/recorder.h"

#include <algorithm>
#include <atomic>
#include <chrono>

#include <fmt/format.h>

#include "record/launch_rows.h"
#include "record/range.h"

namespace tilesight::record {

namespace {

/// What the launch under way is gathered in: `self` of the client.
struct State {
  explicit State(const LaunchRecording& launch) : range(launch, true) {}
  Range range;
  Folder* folder = nullptr;
  LaunchRecording* recording = nullptr;
  const launch::Launch* launch = nullptr;
  arrow::Rows* tensors = nullptr;
  int64_t programs = 0;
  Status status;

  void handOn() {
    const uint32_t number = recording->names.launch;
    const Status done = range.handOn([&](const arrow::Message& batch) { return folder->append(Table::Accesses, batch, number); },
                                     [&](const arrow::Message& batch) { return folder->append(Table::Programs, batch, number); });
    if (status && !done) status = done;
    if (!status) *recording->failed = true;
  }
};

struct Part {
  explicit Part(const State& whole) : range(*whole.recording, false) {}
  Range range;
};

void onArgument(void* self, const ts_argument* argument) {
  State& state = *static_cast<State*>(self);
  if (!argument->is_tensor) return;
  state.recording->names.addresses[argument->index] = static_cast<int64_t>(argument->address);
  addTensor(*state.tensors, state.recording->names.launch, *state.launch, *argument);
}

void onAccess(void* self, const ts_access* access) {
  Part& part = *static_cast<Part*>(self);
  part.range.access(exec::host(), *access);
}

const ts_client& table() {
  static const ts_client client = [] {
    ts_client c{};
    c.size = sizeof c;
    c.abi = TS_CLIENT_ABI;
    c.name = "tracer";
    c.needs = TS_NEED_ADDRESSES | TS_NEED_COMPUTE;
    c.argument = onArgument;
    c.fork = [](void* self) -> void* { return new Part(*static_cast<State*>(self)); };
    c.discard = [](void*, void* part) { delete static_cast<Part*>(part); };
    c.merge = [](void* self, void* taken) {
      State& whole = *static_cast<State*>(self);
      const std::unique_ptr<Part> part(static_cast<Part*>(taken));
      if (*whole.recording->failed) return;
      whole.range.merge(part->range);
      whole.handOn();
    };
    c.launch_end = [](void* self, const ts_summary* summary) { static_cast<State*>(self)->programs = summary->programs; };
    c.on_load = c.on_store = c.on_atomic = c.on_copy = onAccess;
    c.on_dot = [](void* part, const ts_compute* compute) { static_cast<Part*>(part)->range.dot(*compute); };
    c.on_reduce = [](void* part, const ts_compute* compute) { static_cast<Part*>(part)->range.reduce(*compute); };
    return c;
  }();
  return client;
}

}  // namespace

struct Recorder::Impl {
  std::unique_ptr<Folder> folder;
  RecorderOptions options;
  FixedNames fixed;
  arrow::Rows launches{schemaOf(Table::Launches)}, tensors{schemaOf(Table::Tensors)}, findings{schemaOf(Table::Findings)};
  LaunchRecording recording;
  Kept kept;
  std::chrono::steady_clock::time_point written = std::chrono::steady_clock::now();  // when segments were closed last
  std::unique_ptr<State> state;  // of the launch under way
  std::shared_ptr<const exec::Kernel> kernel;
  launch::Launch launch;
  std::atomic<bool> failed{false};
  Status status;
  uint32_t number = 0;
  Totals totals;

  Status write(Table table, arrow::Rows& rows) {
    if (!rows.size()) return {};
    folder->names(table) = rows.names();
    TS_CHECK(folder->append(table, rows.encode(folder->packer()), number));
    rows.clear();
    return {};
  }
};

Recorder::Recorder(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Recorder::~Recorder() = default;

Result<std::unique_ptr<Recorder>> Recorder::open(const std::string& path, const RecorderOptions& options) {
  auto folder = Folder::create(path, options.shared);
  if (!folder) return failure(std::move(folder).error());
  auto impl = std::make_unique<Impl>();
  impl->folder = std::move(*folder);
  impl->options = options;
  impl->fixed = fixedNames(impl->folder->names(Table::Accesses));
  return std::unique_ptr<Recorder>(new Recorder(std::move(impl)));
}

Result<exec::ClientInstance> Recorder::begin(std::shared_ptr<const exec::Kernel> kernel, const launch::Launch& launch,
                                            uint32_t number) {
  __int128 programs = 1;
  for (int64_t size : launch.grid) programs *= std::max<int64_t>(0, size);
  if (programs > UINT32_MAX)
    return failure(fmt::format("{}: a grid of more than {} programs cannot be traced", launch.kernel, UINT32_MAX));
  Impl& impl = *impl_;
  impl.kernel = std::move(kernel);
  impl.launch = launch;
  impl.number = number;
  impl.recording = {impl.fixed, launchNames(impl.folder->names(Table::Accesses), *impl.kernel, launch, number),
                    impl.folder->path(), impl.options.elements, &impl.failed};
  impl.state = std::make_unique<State>(impl.recording);
  impl.state->folder = impl.folder.get();
  impl.state->recording = &impl.recording;
  impl.state->launch = &impl.launch;
  impl.state->tensors = &impl.tensors;
  return exec::ClientInstance{&table(), "", impl.state.get()};
}

Status Recorder::keep(const launch::Launch& before, launch::BundleWriter::Data data) {
  Impl& impl = *impl_;
  TS_CHECK(impl.status);
  impl.status = impl.kept.add(impl.folder->path(), impl.number, before, data);
  impl.failed = !impl.status;
  return impl.status;
}

Status Recorder::end(const findings::LaunchReport* report, const std::string& bundle) {
  Impl& impl = *impl_;
  const std::unique_ptr<State> state = std::move(impl.state);
  if (!report) {
    impl.tensors.clear();
    return {};
  }
  // A launch that ended early has rows for the programs that ran.
  const bool ran = report->unknowns.empty();
  state->range.end(ran ? state->programs : 0);
  if (!impl.failed) state->handOn();
  if (!state->status) return impl.status = state->status;
  if (!impl.status) return impl.status;
  const int64_t programs = state->range.programs();
  addLaunch(impl.launches, impl.number, impl.launch, *report, bundle, programs, state->range.accesses());
  addFindings(impl.findings, impl.number, *report);
  impl.totals.launches += 1;
  impl.totals.programs += static_cast<uint64_t>(programs);
  impl.totals.accesses += static_cast<uint64_t>(state->range.accesses());
  impl.totals.findings += report->findings.size();
  impl.status = [&]() -> Status {
    TS_CHECK(impl.write(Table::Launches, impl.launches));
    TS_CHECK(impl.write(Table::Tensors, impl.tensors));
    TS_CHECK(impl.write(Table::Findings, impl.findings));
    const auto now = std::chrono::steady_clock::now();
    const bool late = impl.options.shared && now - impl.written >= std::chrono::seconds(1);
    if (late) impl.written = now;
    if (late || impl.kept.launches() >= kMaxLaunches || impl.kept.open() > uint64_t{kWorthOne}) TS_CHECK(impl.kept.close());
    return impl.folder->endLaunch(late);
  }();
  impl.failed = !impl.status;
  return impl.status;
}

bool Recorder::failed() const { return impl_->failed; }

Status Recorder::finish() {
  TS_CHECK(impl_->status);
  impl_->status = impl_->kept.close();
  TS_CHECK(impl_->status);
  return impl_->status = impl_->folder->finish(impl_->number);
}

Recorder::Totals Recorder::totals() const {
  Totals totals = impl_->totals;
  totals.bytes = impl_->folder->bytes() + impl_->kept.bytes();
  return totals;
}

}  // namespace tilesight::record
