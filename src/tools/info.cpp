// tilesight info: what a bundle, a trace or a file of IR holds.
#include <algorithm>
#include <bit>
#include <unordered_set>

#include <fmt/format.h>

#include "exec/run.h"
#include "findings/files.h"
#include "findings/format.h"
#include "launch/bundle.h"
#include "record/kept.h"
#include "record/reader.h"
#include "tools/inputs.h"
#include "tools/options.h"
#include "tools/output.h"

namespace tilesight::tools {
namespace {

using findings::counted;
using findings::grouped;
using findings::indexText;
using findings::printable;

constexpr size_t maxTextBytes = 256 << 20;

std::string kernelText(const exec::KernelInfo& info) {
  std::string out = fmt::format("kernel {}\n", printable(info.name));
  out += "  parameters\n";
  for (const auto& parameter : info.parameters)
    out += fmt::format("    {:<20} {}\n", printable(parameter.name), printable(parameter.type));
  out += "  operations\n";
  for (const auto& [name, count] : info.opCounts) out += fmt::format("    {:<28} {}\n", printable(name), count);
  if (info.notExecutable.empty()) return out + "  everything can be executed\n";
  out += "  cannot be executed\n";
  for (const findings::Unknown& unknown : info.notExecutable) {
    const findings::Frame& place = unknown.location;
    out += "    ";
    if (!place.file.empty())
      out += fmt::format("{}:{}:{}: ", printable(place.file), place.line, place.column);
    out += printable(unknown.reason) + "\n";
  }
  return out;
}

std::string scalarText(const launch::Argument& argument) {
  switch (argument.element) {
    case ir::ElementKind::F32:
      return fmt::format("{}", std::bit_cast<float>(static_cast<uint32_t>(argument.bits)));
    case ir::ElementKind::F64: return fmt::format("{}", std::bit_cast<double>(argument.bits));
    default: break;
  }
  if (ir::isIntegerKind(argument.element))
    return fmt::format("{}", static_cast<int64_t>(argument.bits));
  return fmt::format("{:#x}", argument.bits);
}

std::string viewText(const launch::View& view, const launch::Launch& launch) {
  const launch::Storage& storage = launch.storages[view.storage];
  std::string out = fmt::format("{} {}, strides {}, ", view.dtype, indexText(view.shape),
                                indexText(view.strides));
  if (view.offset) out += fmt::format("from byte {} of ", grouped(view.offset));
  out += fmt::format("storage {} ({})", view.storage,
                     counted(static_cast<int64_t>(storage.bytes), "byte"));
  if (view.uninitialized) out += ", no data yet";
  if (storage.withheld) out += ", data not saved";
  return out;
}

std::string argumentText(const launch::Argument& argument, const launch::Launch& launch) {
  switch (argument.kind) {
    case launch::Argument::Kind::Tensor: return viewText(argument.view, launch);
    case launch::Argument::Kind::Descriptor:
      return fmt::format("descriptor of blocks {} over {}", indexText(argument.blockShape),
                         viewText(argument.view, launch));
    case launch::Argument::Kind::Scalar:
      return fmt::format("{} {}", ir::elementName(argument.element), scalarText(argument));
    case launch::Argument::Kind::Specialized: return argument.text + " (specialised)";
  }
  return {};
}

std::string launchText(const launch::Launch& launch) {
  std::string out = fmt::format("launch {}: {}, grid ({},{},{})", launch.index, printable(launch.kernel),
                                launch.grid[0], launch.grid[1], launch.grid[2]);
  if (!launch.tritonVersion.empty()) out += ", Triton " + printable(launch.tritonVersion);
  if (!launch.target.empty()) out += ", target " + printable(launch.target);
  out += "\n";
  for (const launch::Argument& argument : launch.arguments)
    out += fmt::format("    {:<20} {}\n", printable(argument.name), printable(argumentText(argument, launch)));
  if (!launch.config.empty()) out += fmt::format("    configuration        {}\n", printable(launch.config));
  return out;
}

Status printKernel(const std::string& text, const std::string& name) {
  const auto kernel = exec::compile(text, name);
  if (!kernel) return failure(kernel.error());
  printOut(kernelText(exec::info(**kernel)));
  return {};
}

Status infoBundle(const std::string& path) {
  const Result<launch::BundleReader> bundle = launch::BundleReader::open(path);
  if (!bundle) return failure(bundle.error());
  printOut(fmt::format("{}: {}\n", path, counted(static_cast<int64_t>(bundle->launches()), "launch")));
  std::unordered_set<std::string> seen;
  for (size_t i = 0; i < bundle->launches(); ++i) {
    const Result<launch::Launch> launch = bundle->launch(i);
    if (!launch) return failure(launch.error());
    printOut("\n" + launchText(*launch));
    if (seen.insert(launch->irText).second) TS_CHECK(printKernel(launch->irText, launch->irName));
  }
  return {};
}

/// The tables of a trace: a line a launch.
Status infoTables(const std::string& path) {
  const auto trace = record::Trace::open(path);
  if (!trace) return failure(trace.error());
  std::string lines;
  int64_t launches = 0, findings = 0;
  const arrow::Schema& schema = record::schemaOf(record::Table::Launches);
  const auto column = [&](const arrow::Batch& batch, std::string_view name) -> const arrow::Values& {
    size_t i = 0;
    while (schema.fields[i].name != name) ++i;
    return batch.columns[i];
  };
  TS_CHECK(trace->each(record::Table::Launches, [&](const arrow::Batch& batch) -> Status {
    for (size_t i = 0; i < static_cast<size_t>(batch.rows); ++i)
      lines += fmt::format("  launch {}: {}, {}, {}, {}\n", column(batch, "launch").ints[i], printable(column(batch, "kernel").texts[i]),
                           counted(column(batch, "programs").ints[i], "program"),
                           fmt::format("{} access{}", grouped(column(batch, "accesses").ints[i]), column(batch, "accesses").ints[i] == 1 ? "" : "es"),
                           printable(column(batch, "verdict").texts[i]));
    launches += batch.rows;
    return {};
  }));
  TS_CHECK(trace->each(record::Table::Findings, [&](const arrow::Batch& batch) -> Status {
    findings += batch.rows;
    return {};
  }));
  printOut(fmt::format("{}: a trace of {}, {}\n{}", path, counted(launches, "launch"), counted(findings, "finding"), lines));
  return {};
}

Status infoText(const std::string& path) {
  const Result<std::string> text = findings::readFile(path, maxTextBytes);
  if (!text) return failure(text.error());
  Status printed = printKernel(*text, path);
  if (!printed && printed.error().remedy.empty())
    printed.error().remedy = "as it is no bundle, the file was read as IR text";
  return printed;
}

Status infoOf(const std::string& path) {
  const Result<InputKind> kind = inputKind(path);
  if (!kind) return failure(kind.error());
  if (*kind == InputKind::Text) return infoText(path);
  if (*kind == InputKind::Trace) {
    TS_CHECK(infoTables(path));
    if (record::bundlesOf(path).empty()) return {};
    printOut("\n");
  }
  const Result<std::vector<std::string>> bundles = bundlesAt(path);
  if (!bundles) return failure(bundles.error());
  for (const std::string& bundle : *bundles) TS_CHECK(infoBundle(bundle));
  return {};
}

}  // namespace

int info(const InfoOptions& options) {
  int status = 0;
  for (const std::string& path : options.files) {
    const Status done = infoOf(path);
    if (done) continue;
    printError(done.error());
    status = 2;
  }
  return status;
}

}  // namespace tilesight::tools
