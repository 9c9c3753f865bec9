#include "arrow/file_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "support/open_flags.h"
#include "support/path.h"
#include "support/system.h"

namespace tilesight::arrow {

namespace {

bool isQuota(int error) {
#if defined(EDQUOT)
  return error == EDQUOT;
#else
  return error < 0;
#endif
}

tl::unexpected<Diagnostic> notWritten(const std::string& path) {
  const int error = errno;
  return failure(Diagnostic{path, 0, 0, fmt::format("cannot be written: {}", std::strerror(error)),
                            error == ENOSPC || error == EFBIG || isQuota(error)
                                ? "make room or write elsewhere; the segments that are complete can be read"
                                : ""});
}

}  // namespace

Result<FileWriter> FileWriter::open(const std::string& path, const Schema& schema) {
  FileWriter file;
  file.path_ = path;
  const std::filesystem::path whole = support::pathOf(path);
  file.temporary_ = support::textOf(whole.parent_path() / support::pathOf("." + support::textOf(whole.filename()) + ".part"));
  file.fd_ = ::open(file.temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_BINARY, 0666);
  if (file.fd_ < 0) return notWritten(path);
  file.footer_.schema = schema;
  std::vector<uint8_t> start(kMagic, kMagic + 6);
  start.resize(8);
  const std::vector<uint8_t> head = envelope(schemaMetadata(schema));
  start.insert(start.end(), head.begin(), head.end());
  TS_CHECK(file.write(start));
  return file;
}

FileWriter::FileWriter(FileWriter&& other) noexcept
    : path_(std::move(other.path_)), temporary_(std::move(other.temporary_)), fd_(std::exchange(other.fd_, -1)),
      offset_(other.offset_), footer_(std::move(other.footer_)) {}

FileWriter& FileWriter::operator=(FileWriter&& other) noexcept {
  if (this == &other) return *this;
  drop();
  path_ = std::move(other.path_);
  temporary_ = std::move(other.temporary_);
  fd_ = std::exchange(other.fd_, -1);
  offset_ = other.offset_;
  footer_ = std::move(other.footer_);
  return *this;
}

FileWriter::~FileWriter() { drop(); }

void FileWriter::drop() {
  if (fd_ < 0) return;
  ::close(std::exchange(fd_, -1));
  ::unlink(temporary_.c_str());
}

Status FileWriter::write(std::span<const uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t done = ::write(fd_, bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return notWritten(path_);
    bytes = bytes.subspan(static_cast<size_t>(done));
    offset_ += done;
  }
  return {};
}

Status FileWriter::append(const Message& batch) { return append(batch.bytes, batch.metadataLength, batch.bodyLength); }

Status FileWriter::append(std::span<const uint8_t> bytes, int32_t metadataLength, int64_t bodyLength) {
  const Block block{offset_, metadataLength, bodyLength};
  TS_CHECK(write(bytes));
  footer_.batches.push_back(block);
  return {};
}

Status FileWriter::finish(const std::vector<Names>& names, Packer& packer) {
  for (size_t i = 0; i < footer_.schema.fields.size(); ++i) {
    if (footer_.schema.fields[i].type != Type::Name) continue;
    const Message message = encodeDictionary(static_cast<int64_t>(i), names[i].texts(), packer);
    footer_.dictionaries.push_back({offset_, message.metadataLength, message.bodyLength});
    TS_CHECK(write(message.bytes));
  }
  std::vector<uint8_t> tail{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0};
  const std::vector<uint8_t> footer = footerMetadata(footer_);
  tail.insert(tail.end(), footer.begin(), footer.end());
  const auto length = static_cast<int32_t>(footer.size());
  const auto* bytes = reinterpret_cast<const uint8_t*>(&length);
  tail.insert(tail.end(), bytes, bytes + 4);
  tail.insert(tail.end(), kMagic, kMagic + 6);
  TS_CHECK(write(tail));
  const int closed = ::close(std::exchange(fd_, -1));
  const Status replaced = closed == 0 ? support::replaceFile(temporary_, path_) : Status();
  if (closed != 0 || !replaced) {
    const auto error = closed != 0 ? notWritten(path_)
                                   : failure(Diagnostic{path_, 0, 0, "cannot be written: " + replaced.error().message, {}});
    ::unlink(temporary_.c_str());
    return error;
  }
  return {};
}

}  // namespace tilesight::arrow
