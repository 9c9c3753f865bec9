#include "plugins/sha256.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#include <fmt/format.h>

namespace tilesight::plugins {

namespace {

/// The first 32 bits of the fractional part of the cube or square root of the n-th prime.
struct Constants {
  std::array<uint32_t, 64> rounds;
  std::array<uint32_t, 8> start;
  Constants() {
    size_t found = 0;
    for (uint32_t n = 2; found < 64; ++n) {
      bool prime = true;
      for (uint32_t d = 2; d * d <= n; ++d) prime = prime && n % d;
      if (!prime) continue;
      rounds[found] = fraction(n, 3);
      if (found < 8) start[found] = fraction(n, 2);
      ++found;
    }
  }
  /// floor(root * 2^32) mod 2^32, by search, since doubles are too short to trust the last bit.
  static uint32_t fraction(uint32_t n, int root) {
    using Wide = unsigned __int128;
    uint64_t low = 0, high = uint64_t{1} << 37;  // root < 2^5
    while (high - low > 1) {
      const uint64_t middle = low + (high - low) / 2;
      // middle^root <= n * 2^(32 root)
      const bool fits = root == 2 ? static_cast<Wide>(middle) * middle <= (static_cast<Wide>(n) << 64)
                                  : static_cast<Wide>(middle) * middle <= (static_cast<Wide>(n) << 96) / middle;
      (fits ? low : high) = middle;
    }
    return static_cast<uint32_t>(low);
  }
};

}  // namespace

std::string sha256(std::string_view bytes) {
  static const Constants constants;
  std::array<uint32_t, 8> hash = constants.start;
  std::string tail(bytes.substr(bytes.size() / 64 * 64));
  tail += '\x80';
  tail.append((120 - tail.size() % 64) % 64, '\0');
  const uint64_t bits = static_cast<uint64_t>(bytes.size()) * 8;
  for (int shift = 56; shift >= 0; shift -= 8) tail += static_cast<char>(bits >> shift);

  const auto block = [&](const char* data) {
    std::array<uint32_t, 64> w;
    for (size_t i = 0; i < 16; ++i) {
      w[i] = 0;
      for (size_t j = 0; j < 4; ++j) w[i] = w[i] << 8 | static_cast<uint8_t>(data[4 * i + j]);
    }
    for (size_t i = 16; i < 64; ++i) {
      const uint32_t a = w[i - 15], b = w[i - 2];
      w[i] = w[i - 16] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ (a >> 3)) + w[i - 7] + (std::rotr(b, 17) ^ std::rotr(b, 19) ^ (b >> 10));
    }
    auto [a, b, c, d, e, f, g, h] = hash;
    for (size_t i = 0; i < 64; ++i) {
      const uint32_t first = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) + ((e & f) ^ (~e & g)) + constants.rounds[i] + w[i];
      const uint32_t second = (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
      h = g, g = f, f = e, e = d + first, d = c, c = b, b = a, a = first + second;
    }
    const uint32_t now[] = {a, b, c, d, e, f, g, h};
    for (size_t i = 0; i < 8; ++i) hash[i] += now[i];
  };
  for (size_t at = 0; at + 64 <= bytes.size(); at += 64) block(bytes.data() + at);
  for (size_t at = 0; at < tail.size(); at += 64) block(tail.data() + at);
  std::string text;
  for (uint32_t word : hash) text += fmt::format("{:08x}", word);
  return text;
}

}  // namespace tilesight::plugins
