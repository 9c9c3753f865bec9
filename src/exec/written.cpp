#include "exec/written.h"

#include "exec/kernel.h"

namespace tilesight::exec {

std::vector<bool> mayWrite(const Kernel& kernel, const launch::Launch& launch) {
  const plan::Effects& effects = kernel.effects();
  const std::vector<bool> all(launch.storages.size(), true);
  if (effects.unknown) return all;
  std::vector<bool> written(launch.storages.size(), false);
  const auto& parameters = kernel.common().entry()->regions[0]->blocks[0]->arguments;
  size_t parameter = 0;
  for (const launch::Argument& argument : launch.arguments) {
    if (argument.kind == launch::Argument::Kind::Specialized) continue;
    if (parameter >= parameters.size() || parameter >= effects.stored.size()) return all;
    const bool stored = effects.stored[parameter++];
    if (argument.kind == launch::Argument::Kind::Scalar) continue;
    if (argument.view.storage >= written.size()) return all;
    if (stored) written[argument.view.storage] = true;
    if (argument.kind != launch::Argument::Kind::Descriptor) continue;
    // Sizes and strides of a descriptor are parameters of their own.
    for (size_t extra = 0; extra < 2 * argument.view.shape.size(); ++extra) ++parameter;
    while (parameter < parameters.size() && parameters[parameter]->name.starts_with(argument.name + ".")) ++parameter;
  }
  return parameter == parameters.size() ? written : all;
}

}  // namespace tilesight::exec
