// Elementwise work: an addition, and dropout with Philox.
#include <cstdint>

#include "limit.h"

namespace limit {
namespace {

/// The first word of Philox 4x32-10 of (offset, 0, 0, 0) under `seed`, as tl.rand takes it.
inline uint32_t philox(uint32_t offset, uint64_t seed) {
  uint32_t c0 = offset, c1 = 0, c2 = 0, c3 = 0;
  uint32_t k0 = static_cast<uint32_t>(seed), k1 = static_cast<uint32_t>(seed >> 32);
#pragma GCC unroll 10
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xD2511F53} * c0, b = uint64_t{0xCD9E8D57} * c2;
    c0 = static_cast<uint32_t>(b >> 32) ^ c1 ^ k0;
    c2 = static_cast<uint32_t>(a >> 32) ^ c3 ^ k1;
    c1 = static_cast<uint32_t>(b);
    c3 = static_cast<uint32_t>(a);
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  return c0;
}

/// [0, 1) of a word, as tl.rand has it.
inline float uniform(uint32_t word) {
  const int32_t x = static_cast<int32_t>(word);
  return static_cast<float>(x < 0 ? -x - 1 : x) * 4.6566127342e-10f;
}

}  // namespace

double vectorAdd() {
  const int n = 1 << 20;
  std::vector<float> x(n, 1.5f), y(n, 2.5f), z(n);
  return secondsOf([&] {
    inParallel(n, [&](int begin, int end) {
      const float *a = x.data(), *b = y.data();
      float* c = z.data();
      for (int i = begin; i < end; ++i) c[i] = a[i] + b[i];
    });
  });
}

double dropout() {
  const int n = 1 << 20;
  const float p = 0.5f;
  std::vector<float> x(n, 1.5f), out(n);
  return secondsOf([&] {
    inParallel(n, [&](int begin, int end) {
      const float* a = x.data();
      float* c = out.data();
      for (int i = begin; i < end; ++i)
        c[i] = uniform(philox(static_cast<uint32_t>(i), 123)) > p ? a[i] / (1 - p) : 0.0f;
    });
  });
}

}  // namespace limit
