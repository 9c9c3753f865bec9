#include "tilesight/tilesight.h"

#include <exception>
#include <memory>
#include <new>
#include <string>

#include "clients/registry.h"
#include "exec/run.h"
#include "findings/session.h"
#include "ir/verifier.h"
#include "text/text.h"
#include "tools/tools.h"

struct tilesight_text {
  std::string text;
};

struct tilesight_kernel {
  std::shared_ptr<const tilesight::exec::Kernel> kernel;
};

struct tilesight_launch {
  tilesight::launch::Launch launch;
};

namespace tilesight {
namespace {

enum { kGood = 0, kWrong = 2, kInternal = 4 };

tilesight_text* textOf(std::string text) { return new tilesight_text{std::move(text)}; }

/// Runs `work` and turns what it throws, which would be no memory, into a status.
template <class Work>
int guarded(tilesight_text** out, Work work) {
  *out = nullptr;
  try {
    return work();
  } catch (const std::exception& error) {
    try {
      *out = textOf(std::string("internal error: ") + error.what());
    } catch (...) {
    }
  } catch (...) {
  }
  return kInternal;
}

ir::ElementKind elementNamed(const char* name) {
  for (int kind = 1; kind <= static_cast<int>(ir::ElementKind::Pointer); ++kind)
    if (std::string(ir::elementName(static_cast<ir::ElementKind>(kind))) == name) return static_cast<ir::ElementKind>(kind);
  return ir::ElementKind::Invalid;
}

}  // namespace
}  // namespace tilesight

using namespace tilesight;

const char* tilesight_version(void) { return TILESIGHT_VERSION; }

int tilesight_main(int count, char** arguments) { return tools::main(count, arguments); }

const char* tilesight_text_bytes(const tilesight_text* text) { return text->text.c_str(); }
size_t tilesight_text_size(const tilesight_text* text) { return text->text.size(); }
void tilesight_text_free(tilesight_text* text) { delete text; }

int tilesight_print(const char* ir, size_t bytes, const char* name, uint32_t flags, tilesight_text** out) {
  return guarded(out, [&] {
    ir::Context context;
    const Result<ir::Module> module = text::parse({ir, bytes}, name, context);
    const Status valid = module ? ir::verify(*module) : Status(failure(module.error()));
    if (!valid) {
      *out = textOf(valid.error().str());
      return kWrong;
    }
    *out = textOf(text::print(*module, {.locations = !(flags & TILESIGHT_NO_LOCATIONS), .generic = (flags & TILESIGHT_GENERIC) != 0}));
    return kGood;
  });
}

int tilesight_compile(const char* ir, size_t bytes, const char* name, tilesight_kernel** kernel, tilesight_text** error) {
  *kernel = nullptr;
  return guarded(error, [&] {
    auto compiled = exec::compile(std::string(ir, bytes), name);
    if (!compiled) {
      *error = textOf(compiled.error().str());
      return kWrong;
    }
    *kernel = new tilesight_kernel{std::move(*compiled)};
    return kGood;
  });
}

void tilesight_kernel_free(tilesight_kernel* kernel) { delete kernel; }

tilesight_launch* tilesight_launch_new(const char* kernel, int64_t x, int64_t y, int64_t z) {
  auto* made = new (std::nothrow) tilesight_launch;
  if (!made) return nullptr;
  made->launch.kernel = kernel;
  made->launch.grid = {x, y, z};
  return made;
}

int tilesight_launch_tensor(tilesight_launch* launch, const char* name, const char* element, void* data, uint64_t bytes,
                            uint32_t rank, const int64_t* shape, const int64_t* strides) {
  launch::Argument argument;
  argument.name = name;
  argument.kind = launch::Argument::Kind::Tensor;
  argument.view.element = elementNamed(element);
  if (argument.view.element == ir::ElementKind::Invalid) return kWrong;
  argument.view.shape.assign(shape, shape + rank);
  argument.view.strides.assign(strides, strides + rank);
  argument.view.storage = static_cast<uint32_t>(launch->launch.storages.size());
  launch::Storage storage;
  storage.data = static_cast<uint8_t*>(data);
  storage.bytes = bytes;
  storage.recordedBase = reinterpret_cast<uintptr_t>(data);
  storage.name = name;
  launch->launch.storages.push_back(std::move(storage));
  launch->launch.arguments.push_back(std::move(argument));
  return kGood;
}

int tilesight_launch_scalar(tilesight_launch* launch, const char* name, const char* element, uint64_t bits) {
  launch::Argument argument;
  argument.name = name;
  argument.element = elementNamed(element);
  if (argument.element == ir::ElementKind::Invalid) return kWrong;
  argument.bits = bits;
  launch->launch.arguments.push_back(std::move(argument));
  return kGood;
}

void tilesight_launch_free(tilesight_launch* launch) { delete launch; }

int tilesight_run(const tilesight_kernel* kernel, const tilesight_launch* launch, const ts_client* client, uint32_t threads,
                  tilesight_text** out) {
  return guarded(out, [&] {
    exec::RunOptions options;
    options.threads = threads;
    options.clients.push_back({.table = client ? client : clients::find("sanitizer"), .foreign = client != nullptr});
    Status valid = launch::validate(launch->launch);
    Result<findings::LaunchReport> report =
        valid ? exec::run(*kernel->kernel, launch->launch, options) : Result<findings::LaunchReport>(failure(valid.error()));
    if (!report) {
      *out = textOf(report.error().str());
      return static_cast<int>(kWrong);
    }
    report->clients.emplace_back(options.clients[0].table->name);
    findings::Session session;
    session.add(std::move(*report));
    *out = textOf(session.json());
    return session.exitStatus();
  });
}
