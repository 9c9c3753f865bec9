// Any text that compiles also runs without a crash, whatever its arguments point to.
#include <cstdint>
#include <string>
#include <vector>

#include "clients/registry.h"
#include "exec/kernel.h"
#include "exec/run.h"

using namespace tilesight;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto kernel = exec::compile(std::string(reinterpret_cast<const char*>(data), size), "fuzz.ttir");
  if (!kernel) return 0;
  exec::info(**kernel);

  launch::Launch launch;
  launch.kernel = "fuzz";
  launch.grid = {2, 1, 2};
  const ir::Operation* entry = (*kernel)->common().entry();
  std::vector<std::vector<uint8_t>> memory;
  const auto& parameters = entry->regions[0]->blocks[0]->arguments;
  memory.reserve(parameters.size());
  for (size_t i = 0; i < parameters.size(); ++i) {
    ir::Type type = parameters[i]->type;
    launch::Argument argument;
    argument.name = "p" + std::to_string(i);
    bool view = type.kind() == ir::TypeKind::View;
    if (type.isPointer() || view) {
      memory.emplace_back(256, static_cast<uint8_t>(i * 37 + size));
      launch::Storage storage;
      storage.data = memory.back().data();
      storage.bytes = memory.back().size();
      launch.storages.push_back(storage);
      argument.kind = view ? launch::Argument::Kind::Descriptor : launch::Argument::Kind::Tensor;
      argument.view.element = ir::ElementKind::I32;
      size_t rank = view ? type->shape.size() : 1;
      argument.view.shape.assign(rank, 2);
      argument.view.strides.assign(rank, rank > 4 ? 1 : 3);
      argument.view.storage = static_cast<uint32_t>(launch.storages.size() - 1);
      if (view) i += 2 * rank;  // its sizes and strides
    } else {
      argument.element = exec::machineKind(type);
      argument.bits = static_cast<uint64_t>(i * 5 + 1);
    }
    launch.arguments.push_back(std::move(argument));
  }
  for (bool addressOnly : {false, true}) {
    exec::RunOptions options;
    options.clients.push_back({clients::find("sanitizer")});
    options.clients.push_back({clients::find("tracer")});
    options.threads = 1;
    options.addressOnly = addressOnly;
    options.iterationLimit = 200;
    (void)exec::run(**kernel, launch, options);
  }
  return 0;
}
