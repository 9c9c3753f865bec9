#include <fmt/format.h>

#include "launch/archive.h"
#include "launch/bundle.h"
#include "launch/manifest.h"
#include "launch/memory.h"

namespace tilesight::launch {
namespace {

constexpr uint64_t maxManifestBytes = 256 << 20;
constexpr uint64_t maxIrBytes = 256 << 20;
constexpr uint64_t maxSourceBytes = 64 << 20;

// Storages from this size on are mapped, not read: their checksums are not compared.
constexpr uint64_t lazyBytes = 4 << 20;

constexpr const char* manifestName = "bundle.json";

/// Overwrites `memory` with the pieces of `content`.
Status readPieces(Archive& archive, const Content& content, uint8_t* memory) {
  if (content.pieces.empty()) return {};
  const Result<uint64_t> bytes = archive.size(content.file);
  if (!bytes) return failure(bytes.error());
  uint64_t wanted = 0;
  for (const Piece& piece : content.pieces) wanted += piece.bytes;
  if (wanted != *bytes)
    return failure(archive.error(fmt::format("{} has {} bytes, its pieces {}", content.file, *bytes,
                                             wanted)));
  const std::optional<FilePlace> place = *bytes >= lazyBytes ? archive.place(content.file) : std::nullopt;
  if (place && place->offset % entryAlignment == 0) {
    uint64_t at = place->offset;
    for (const Piece& piece : content.pieces) {
      if (const Status mapped = mapFile(memory + piece.offset, place->file->number(), at, piece.bytes); !mapped)
        return failure(archive.error(fmt::format("{}: {}", content.file, mapped.error().message), mapped.error().remedy));
      at += piece.bytes;
    }
    return {};
  }
  Result<std::unique_ptr<EntryReader>> file = archive.reader(content.file);
  if (!file) return failure(file.error());
  for (const Piece& piece : content.pieces)
    TS_CHECK((*file)->read({memory + piece.offset, piece.bytes}));
  return (*file)->finish();
}

}  // namespace

struct BundleReader::Impl {
  std::unique_ptr<Archive> archive;
  BundleManifest manifest;

  Result<LaunchManifest> launchManifest(size_t index) const {
    const std::string& file = manifest.launches.at(index);
    const Result<std::string> text = archive->text(file, maxManifestBytes);
    if (!text) return failure(text.error());
    Result<LaunchManifest> parsed = parseLaunchManifest(*text, manifest);
    if (!parsed) return failure(archive->error(fmt::format("{}: {}", file, parsed.error().message)));
    return parsed;
  }

  Result<std::shared_ptr<uint8_t>> memoryOf(const Content& content) const {
    const Content* root =
        content.base >= 0 ? &manifest.contents[static_cast<size_t>(content.base)] : &content;
    Result<std::shared_ptr<uint8_t>> memory = allocate(content.bytes, root->fill);
    if (!memory) return failure(archive->error(memory.error().message, memory.error().remedy));
    TS_CHECK(readPieces(*archive, *root, memory->get()));
    if (root != &content) TS_CHECK(readPieces(*archive, content, memory->get()));
    return memory;
  }
};

BundleReader::BundleReader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
BundleReader::BundleReader(BundleReader&&) noexcept = default;
BundleReader& BundleReader::operator=(BundleReader&&) noexcept = default;
BundleReader::~BundleReader() = default;

Result<BundleReader> BundleReader::over(Result<std::unique_ptr<Archive>> archive) {
  if (!archive) return failure(archive.error());
  auto impl = std::make_unique<Impl>();
  impl->archive = std::move(*archive);
  if (!impl->archive->size(manifestName))
    return failure(impl->archive->error("is no bundle: it has no bundle.json",
                                        "a bundle is written by tilesight run --save"));
  const Result<std::string> text = impl->archive->text(manifestName, maxManifestBytes);
  if (!text) return failure(text.error());
  Result<BundleManifest> manifest = parseBundleManifest(*text);
  if (!manifest)
    return failure(
        impl->archive->error(fmt::format("{}: {}", manifestName, manifest.error().message)));
  impl->manifest = std::move(*manifest);
  return BundleReader(std::move(impl));
}

Result<BundleReader> BundleReader::open(const std::string& path) {
  return over(Archive::open(path));
}

Result<BundleReader> BundleReader::openBytes(std::span<const uint8_t> bytes,
                                             const std::string& name) {
  return over(Archive::openBytes(bytes, name));
}

size_t BundleReader::launches() const { return impl_->manifest.launches.size(); }

Result<std::string> BundleReader::kernelName(size_t index) const {
  const Result<LaunchManifest> parsed = impl_->launchManifest(index);
  if (!parsed) return failure(parsed.error());
  return parsed->launch.kernel;
}

Result<uint32_t> BundleReader::launchNumber(size_t index) const {
  const Result<LaunchManifest> parsed = impl_->launchManifest(index);
  if (!parsed) return failure(parsed.error());
  return parsed->launch.index;
}

Result<Launch> BundleReader::launch(size_t index) const {
  Archive& archive = *impl_->archive;
  Result<LaunchManifest> parsed = impl_->launchManifest(index);
  if (!parsed) return failure(parsed.error());
  Launch launch = std::move(parsed->launch);
  Result<std::string> ir = archive.text(parsed->irFile, maxIrBytes);
  if (!ir) return failure(ir.error());
  launch.irText = std::move(*ir);
  for (const uint32_t number : parsed->sources) {
    const SourceFile& source = impl_->manifest.sources[number];
    Result<std::string> content = archive.text(source.file, maxSourceBytes);
    if (!content) return failure(content.error());
    launch.sources[source.path] = std::move(*content);
  }
  for (size_t i = 0; i < launch.storages.size(); ++i) {
    Storage& storage = launch.storages[i];
    Result<std::shared_ptr<uint8_t>> memory =
        impl_->memoryOf(impl_->manifest.contents[parsed->contents[i]]);
    if (!memory) return failure(memory.error());
    storage.data = memory->get();
    storage.owner = std::move(*memory);
  }
  return launch;
}

Result<std::vector<Launch>> readBundle(const std::string& path) {
  const Result<BundleReader> reader = BundleReader::open(path);
  if (!reader) return failure(reader.error());
  std::vector<Launch> launches;
  for (size_t i = 0; i < reader->launches(); ++i) {
    Result<Launch> launch = reader->launch(i);
    if (!launch) return failure(launch.error());
    launches.push_back(std::move(*launch));
  }
  return launches;
}

}  // namespace tilesight::launch
