#include <atomic>
#include <cstdio>
#include <filesystem>
#include <map>

#include <fmt/format.h>

#include "launch/archive.h"
#include "launch/bundle.h"
#include "launch/contents.h"
#include "launch/manifest.h"
#include "launch/memory.h"
#include "launch/zip_files.h"
#include "support/system.h"

namespace tilesight::launch {
namespace {

namespace fs = std::filesystem;

Diagnostic cannotWrite(const std::string& path, const std::string& reason) {
  return {path, 0, 0, "cannot be written: " + reason, "choose another place, or make room"};
}

Status writeFile(const std::string& path, const std::string& text) {
  std::FILE* file = std::fopen(path.c_str(), "wbx");
  bool good = file && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (file) good = std::fclose(file) == 0 && good;
  if (!good) return failure(cannotWrite(path, "no room or no permission"));
  return {};
}

/// Which storages hold integers, as far as the arguments say.
std::vector<bool> holdIndices(const Launch& launch) {
  std::vector<bool> result(launch.storages.size());
  for (const Argument& argument : launch.arguments)
    if (argument.kind == Argument::Kind::Tensor || argument.kind == Argument::Kind::Descriptor)
      result[argument.view.storage] = result[argument.view.storage] || ir::isIntegerKind(argument.view.element);
  return result;
}

/// Puts zeros in the place of the data that the bundle is not to carry.
Status withhold(Launch& launch, BundleWriter::Data data) {
  if (data == BundleWriter::Data::All) return {};
  const std::vector<bool> kept =
      data == BundleWriter::Data::Indices ? holdIndices(launch) : std::vector<bool>(launch.storages.size());
  for (size_t i = 0; i < launch.storages.size(); ++i) {
    if (kept[i]) continue;
    Storage& storage = launch.storages[i];
    Result<std::shared_ptr<uint8_t>> zeros = allocate(storage.bytes);
    if (!zeros) return failure(zeros.error());
    storage.data = zeros->get();
    storage.owner = *zeros;
    storage.pager.reset();
    storage.withheld = true;
  }
  return {};
}

}  // namespace

struct BundleWriter::Impl {
  std::string path;
  Layout layout = Layout::Zip;
  std::string folder;  // the parts, until finish
  ContentStore contents{""};
  BundleManifest manifest;
  std::vector<std::string> files;                                     // in the order of writing
  std::map<std::string, std::string> irFiles;                         // text -> file
  std::map<std::pair<std::string, std::string>, uint32_t> sources;    // path, text -> number
  uint64_t textBytes = 0;
  bool failed = false;

  ~Impl() {
    std::error_code ignored;
    if (!folder.empty()) fs::remove_all(folder, ignored);
  }

  Status put(const std::string& name, const std::string& text) {
    TS_CHECK(writeFile(folder + "/" + name, text));
    files.push_back(name);
    textBytes += text.size();
    return {};
  }

  Status add(Launch launch, Data data) {
    TS_CHECK(validate(launch));
    TS_CHECK(withhold(launch, data));
    LaunchManifest out;
    auto ir = irFiles.find(launch.irText);
    if (ir == irFiles.end()) {
      const std::string name = fmt::format("ir/{}.ttir", irFiles.size());
      TS_CHECK(put(name, launch.irText));
      ir = irFiles.emplace(launch.irText, name).first;
    }
    out.irFile = ir->second;
    for (const auto& [sourcePath, text] : launch.sources) {
      const auto number = static_cast<uint32_t>(manifest.sources.size());
      const auto [place, isNew] = sources.try_emplace({sourcePath, text}, number);
      if (isNew) {
        const std::string name = fmt::format("sources/{}.py", number);
        TS_CHECK(put(name, text));
        manifest.sources.push_back({sourcePath, name});
      }
      out.sources.push_back(place->second);
    }
    for (const Storage& storage : launch.storages) {
      const size_t before = contents.contents().size();
      const Result<uint32_t> number = contents.add(storage);
      if (!number) return failure(number.error());
      out.contents.push_back(*number);
      if (contents.contents().size() > before && !contents.contents().back().file.empty())
        files.push_back(contents.contents().back().file);
    }
    out.launch = launch;
    const size_t index = manifest.launches.size();
    std::error_code error;
    fs::create_directory(fmt::format("{}/launches/{}", folder, index), error);
    const std::string name = fmt::format("launches/{}/launch.json", index);
    TS_CHECK(put(name, writeManifest(out)));
    manifest.launches.push_back(name);
    return {};
  }

  Status writeZip() {
    const std::string temporary = folder + ".zip";
    Status status = zipFiles(temporary, folder, files);
    if (status && !support::replaceFile(temporary, path)) status = failure("it cannot be renamed into place");
    if (!status) {
      std::remove(temporary.c_str());
      return failure(cannotWrite(path, status.error().message));
    }
    return {};
  }

  Status writeDirectory() {
    contents.unmap();  // Windows renames no folder of which a file is in use
    if (std::rename(folder.c_str(), path.c_str()) != 0)
      return failure(cannotWrite(path, "it exists already, or cannot be renamed into place"));
    folder.clear();
    return {};
  }
};

BundleWriter::BundleWriter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
BundleWriter::BundleWriter(BundleWriter&&) noexcept = default;
BundleWriter& BundleWriter::operator=(BundleWriter&&) noexcept = default;
BundleWriter::~BundleWriter() = default;

Result<BundleWriter> BundleWriter::open(const std::string& path, Layout layout) {
  static std::atomic<unsigned> counter{0};
  auto impl = std::make_unique<Impl>();
  impl->path = path;
  while (impl->path.size() > 1 && impl->path.ends_with('/')) impl->path.pop_back();
  impl->layout = layout;
  std::error_code error;
  if (fs::is_directory(impl->path, error) || (layout == Layout::Directory && fs::exists(impl->path)))
    return failure(cannotWrite(impl->path, "there is something of that name"));
  // Next to the result, so that renaming never crosses file systems.
  const std::string folder =
      fmt::format("{}.part-{}-{}", impl->path, support::processId(), counter.fetch_add(1));
  if (!fs::create_directory(folder, error) || error)
    return failure(cannotWrite(path, error ? error.message() : "a part of it is in the way"));
  impl->folder = folder;
  for (const char* part : {"launches", "ir", "storages", "sources"}) {
    fs::create_directory(fmt::format("{}/{}", folder, part), error);
    if (error) return failure(cannotWrite(path, error.message()));
  }
  impl->contents = ContentStore(folder);
  return BundleWriter(std::move(impl));
}

Status BundleWriter::add(const Launch& launch, Data data) {
  if (impl_->failed) return failure(cannotWrite(impl_->path, "an earlier launch failed"));
  Status status = impl_->add(launch, data);
  if (!status) impl_->failed = true;
  return status;
}

uint64_t BundleWriter::bytes() const { return impl_->textBytes + impl_->contents.storedBytes(); }

Status BundleWriter::finish() {
  Impl& impl = *impl_;
  if (impl.failed) return failure(cannotWrite(impl.path, "an earlier launch failed"));
  impl.manifest.contents = impl.contents.contents();
  TS_CHECK(impl.put("bundle.json", writeManifest(impl.manifest)));
  impl.failed = true;  // finished: nothing can be added
  return impl.layout == Layout::Zip ? impl.writeZip() : impl.writeDirectory();
}

}  // namespace tilesight::launch
