#include "record/spool.h"

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

#include "support/system.h"

namespace tilesight::record {

namespace {

tl::unexpected<Diagnostic> problem(const std::string& folder, const char* what) {
  return failure(Diagnostic{folder, 0, 0, fmt::format("a temporary file cannot be {}: {}", what, std::strerror(errno)), {}});
}

}  // namespace

Status Spool::add(arrow::Message message) {
  inMemory_ += message.bytes.size();
  messages_.push_back(std::move(message));
  if (inMemory_ <= kInMemory) return {};
  return spill();
}

Status Spool::spill() {
  if (!file_) file_.reset(support::temporaryFile(folder_));
  if (!file_) return problem(folder_, "made");
  for (; spilled_ < messages_.size(); ++spilled_) {
    std::vector<uint8_t>& bytes = messages_[spilled_].bytes;
    if (std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) != bytes.size()) return problem(folder_, "written");
    bytes = {};
  }
  inMemory_ = 0;
  if (std::fflush(file_.get()) != 0) return problem(folder_, "written");
  return {};
}

Status Spool::drain(const std::function<Status(const arrow::Message&)>& take) {
  if (file_) std::rewind(file_.get());
  for (size_t i = 0; i < messages_.size(); ++i) {
    arrow::Message& message = messages_[i];
    if (i < spilled_) {
      message.bytes.resize(static_cast<size_t>(message.metadataLength) + static_cast<size_t>(message.bodyLength));
      if (std::fread(message.bytes.data(), 1, message.bytes.size(), file_.get()) != message.bytes.size())
        return problem(folder_, "read");
    }
    TS_CHECK(take(message));
    message.bytes = {};
  }
  messages_.clear();
  spilled_ = inMemory_ = 0;
  file_.reset();
  return {};
}

}  // namespace tilesight::record
