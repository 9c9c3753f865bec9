#include "support/conversation.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

namespace tilesight::support {

namespace {

constexpr size_t kHead = 1 + sizeof(uint64_t);
constexpr uint64_t kMost = uint64_t{4} << 30;
constexpr double kStart = 30;

}  // namespace

std::string packed(Message kind, const std::string& bytes) {
  std::string all(kHead, static_cast<char>(kind));
  const uint64_t size = bytes.size();
  std::memcpy(all.data() + 1, &size, sizeof size);
  return all + bytes;
}

Conversation::Conversation(double seconds, bool starts) : seconds_(seconds) { wait(starts ? std::max(seconds, kStart) : seconds); }

void Conversation::wait(double seconds) { deadline_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds)); }

std::optional<Result<std::string>> Conversation::outcome() {
  while (bytes_.size() >= kHead) {
    uint64_t size = 0;
    std::memcpy(&size, bytes_.data() + 1, sizeof size);
    const auto kind = static_cast<Message>(bytes_[0]);
    if ((kind != Message::Begins && kind != Message::Result && kind != Message::Threw) || size > kMost)
      return failure(fmt::format("{} sent what is no answer", doing_));
    if (bytes_.size() - kHead < size) return std::nullopt;
    std::string said = bytes_.substr(kHead, size);
    bytes_.erase(0, kHead + size);
    if (kind == Message::Result) return said;
    if (kind == Message::Threw) return failure(fmt::format("{} threw an exception: {}", doing_, said));
    doing_ = std::move(said);
    wait(seconds_);
  }
  return std::nullopt;
}

int64_t Conversation::millisecondsLeft() const { return std::chrono::duration_cast<std::chrono::milliseconds>(deadline_ - Clock::now()).count(); }

tl::unexpected<Diagnostic> Conversation::isLate() const { return failure(fmt::format("{} did not return within {:g} s and was stopped", doing_, seconds_)); }

tl::unexpected<Diagnostic> Conversation::ended(const std::string& how) const { return failure(fmt::format("{} {}", doing_, how)); }

}  // namespace tilesight::support
