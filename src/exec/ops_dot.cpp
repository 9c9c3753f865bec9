// Matrix products: dot with every precision, and dot_scaled.
#include <cmath>
#include <cstring>
#include <limits>

#include "exec/elementwise.h"
#include "exec/machine.h"
#include "exec/shape_ops.h"
#include "plan/classify.h"

namespace tilesight::exec {

namespace {

// Contiguous matrices of f32, batch by batch.
struct Factors {
  const float *a, *b;
  int64_t batches, m, n, k;
};

// d += a * b, an fma chain per element.
void accumulate(const Factors& f, DotPrecision precision, const float* a, const float* b, ElementKind kind, void* d) {
  DotFn fn = kernels().dot(ElementKind::F32, ElementKind::F32, kind, precision);
  DotArgs args{};
  args.m = f.m;
  args.n = f.n;
  args.k = f.k;
  args.aRow = f.k;
  args.aCol = 1;
  args.bRow = f.n;
  args.bCol = 1;
  for (int64_t i = 0; i < f.batches; ++i) {
    args.a = a + i * f.m * f.k;
    args.b = b + i * f.k * f.n;
    args.d = static_cast<uint8_t*>(d) + i * f.m * f.n * ir::elementBytes(kind);
    fn(args);
  }
}

float toTf32(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  if (std::isfinite(x)) bits = (bits + 0x1000) & ~uint32_t{0x1fff};
  std::memcpy(&x, &bits, sizeof bits);
  return x;
}

float toBf16(float x) {
  uint16_t narrow;
  kernels().cast(CastOp::FPTruncRtne, ElementKind::F32, ElementKind::BF16)(&narrow, &x, 1);
  kernels().cast(CastOp::FPExt, ElementKind::BF16, ElementKind::F32)(&x, &narrow, 1);
  return x;
}

// A matrix as the sum of narrower ones: the nearest one, the nearest one of the rest, ..
std::vector<std::vector<float>> parts(const float* x, size_t count, DotPrecision precision) {
  size_t number = precision == DotPrecision::Bf16x6 ? 3 : 2;
  std::vector<std::vector<float>> result(number, std::vector<float>(count));
  for (size_t i = 0; i < count; ++i) {
    float rest = x[i];
    for (size_t p = 0; p < number; ++p) {
      result[p][i] = precision == DotPrecision::Tf32x3 ? toTf32(rest) : toBf16(rest);
      rest -= result[p][i];
    }
  }
  return result;
}

// The products of parts in ascending size, as Triton's accelerate-dot pass emits them: the small ones in
// an accumulator of their own, whose NaNs (of infinities: inf - inf) become 0 before the large one.
void splitDot(const Factors& f, DotPrecision precision, float* d) {
  auto a = parts(f.a, f.batches * f.m * f.k, precision), b = parts(f.b, f.batches * f.k * f.n, precision);
  constexpr int hi = 0, mid = 1, lo = 2;
  std::vector<std::pair<int, int>> small;
  if (precision == DotPrecision::Bf16x6) small = {{mid, mid}, {lo, hi}, {hi, lo}};
  small.insert(small.end(), {{mid, hi}, {hi, mid}});
  std::vector<float> sum(f.batches * f.m * f.n, 0.0f);
  for (auto [x, y] : small) accumulate(f, DotPrecision::Ieee, a[x].data(), b[y].data(), ElementKind::F32, sum.data());
  for (float& x : sum)
    if (x != x) x = 0;
  accumulate(f, DotPrecision::Ieee, a[hi].data(), b[hi].data(), ElementKind::F32, sum.data());
  for (size_t i = 0; i < sum.size(); ++i) d[i] += sum[i];
}

// A dense copy of the accumulator operand.
Tile accumulator(Machine& m, const Instr& instr) {
  const Tile& c = m.in(instr, 2);
  const Shape* shape = m.outShape(instr);
  Tile d = denseTile(m.pool(), m.outKind(instr), shape);
  if (c.isSplat()) {
    kernels().fillSplat(d.elementBytes(), denseData(d), &c.base, shape->numel);
  } else {
    Tile dense = contiguous(m.pool(), c);
    std::memcpy(denseData(d), dense.data(), static_cast<size_t>(shape->numel) * d.elementBytes());
  }
  return d;
}

Factors sizes(const Shape& a, const Shape& d) {
  int rank = d.rank();
  return {nullptr, nullptr, rank == 3 ? d.dims[0] : 1, d.dims[rank - 2], d.dims[rank - 1], a.dims[a.rank() - 1]};
}

constexpr float kE2M1[] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6, -0.0f, -0.5f, -1, -1.5f, -2, -3, -4, -6};

// One side as f32 values, [batch, rows, k] or (b) [batch, k, columns], with its scales applied.
std::vector<float> scaledValues(Machine& m, const Tile& tile, const plan::ScaledSide& side, const Tile* scale,
                                int64_t batches, bool isB) {
  Tile dense = contiguous(m.pool(), tile);
  int64_t rows = side.rows, k = side.k, count = batches * rows * k;
  std::vector<float> values(count);
  if (side.format == ElementKind::F4E2M1FN) {
    // Two elements a byte, the first one in the low bits, along k or along the rows.
    int64_t outer = isB ? k : rows, inner = isB ? rows : k;
    bool innerPacked = side.kPacked != isB;
    for (int64_t i = 0; i < count; ++i) {
      int64_t x = i % inner, y = i / inner % outer, batch = i / (inner * outer);
      int64_t at = innerPacked ? (batch * outer + y) * (inner / 2) + x / 2 : (batch * (outer / 2) + y / 2) * inner + x;
      uint8_t byte = dense.data()[at];
      values[i] = kE2M1[(innerPacked ? x : y) & 1 ? byte >> 4 : byte & 15];
    }
  } else {
    kernels().cast(CastOp::FPExt, side.format, ElementKind::F32)(values.data(), dense.data(), count);
  }
  if (!scale) return values;
  Tile factors = contiguous(m.pool(), *scale);
  int64_t groups = side.scaleShape.back(), each = k / groups;
  std::vector<float> factor(batches * rows * groups);
  if (side.scaleKind == ElementKind::I8) {
    // e8m0: a power of two, 255 is NaN.
    for (size_t i = 0; i < factor.size(); ++i)
      factor[i] = factors.data()[i] == 255 ? std::numeric_limits<float>::quiet_NaN() : std::ldexp(1.0f, factors.data()[i] - 127);
  } else if (side.scaleKind == ElementKind::F32) {
    std::memcpy(factor.data(), factors.data(), factor.size() * sizeof(float));
  } else {
    kernels().cast(CastOp::FPExt, side.scaleKind, ElementKind::F32)(factor.data(), factors.data(), factor.size());
  }
  for (int64_t batch = 0; batch < batches; ++batch)
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t i = 0; i < k; ++i) {
        int64_t at = isB ? (batch * k + i) * rows + r : (batch * rows + r) * k + i;
        values[at] *= factor[(batch * rows + r) * groups + i / each];
      }
  return values;
}

bool splitPrecision(DotPrecision precision) {
  return precision != DotPrecision::Ieee && precision != DotPrecision::Tf32;
}

void execSplitDot(Machine& m, const Instr& instr) {
  const Tile &a = m.in(instr, 0), &b = m.in(instr, 1);
  if (m.outKind(instr) != ElementKind::F32) return m.noKernel(instr);
  Tile left = contiguous(m.pool(), a), right = contiguous(m.pool(), b), d = accumulator(m, instr);
  Factors f = sizes(*a.shape, *d.shape);
  f.a = reinterpret_cast<const float*>(left.data());
  f.b = reinterpret_cast<const float*>(right.data());
  splitDot(f, static_cast<DotPrecision>(instr.sub), reinterpret_cast<float*>(denseData(d)));
  m.set(instr, std::move(d));
}

}  // namespace

void execDot(Machine& m, const Instr& instr) {
  if (!m.announce(instr)) return;
  if (splitPrecision(static_cast<DotPrecision>(instr.sub))) return execSplitDot(m, instr);
  const Tile& a = m.in(instr, 0);
  const Tile& b = m.in(instr, 1);
  Tile& c = m.slot(m.inSlot(instr, 2));
  DotFn fn = kernels().dot(a.kind, b.kind, m.outKind(instr), static_cast<DotPrecision>(instr.sub));
  if (!fn) return m.noKernel(instr);
  int rank = a.rank();
  if (rank != 2 && rank != 3) return m.noKernel(instr);
  auto operand = [&](const Tile& t) { return t.form == Form::Dense ? t : contiguous(m.pool(), t); };
  Tile left = operand(a), right = operand(b);
  // The accumulator is updated in place when this is its last use.
  Tile d;
  if (((instr.dying >> 2) & 1) && isContiguous(c) && c.buffer.unique() && c.data() == c.buffer.bytes()) {
    auto taint = c.taint;
    d = std::move(c);
    c.taint = std::move(taint);  // read once more, when taint is passed on
  } else {
    d = denseTile(m.pool(), m.outKind(instr), m.outShape(instr));
    if (!c.isSplat()) {
      Tile dense = contiguous(m.pool(), c);
      std::memcpy(denseData(d), dense.data(), static_cast<size_t>(d.numel()) * d.elementBytes());
    }
  }
  int64_t batches = rank == 3 ? a.shape->dims[0] : 1;
  const int64_t first = c.base;
  DotArgs args{};
  if (c.isSplat()) args.start = &first;
  args.m = a.shape->dims[rank - 2];
  args.k = a.shape->dims[rank - 1];
  args.n = b.shape->dims[rank - 1];
  args.aRow = left.stride[rank - 2];
  args.aCol = left.stride[rank - 1];
  args.bRow = right.stride[rank - 2];
  args.bCol = right.stride[rank - 1];
  for (int64_t i = 0; i < batches; ++i) {
    args.a = left.data() + (rank == 3 ? i * left.stride[0] * left.elementBytes() : 0);
    args.b = right.data() + (rank == 3 ? i * right.stride[0] * right.elementBytes() : 0);
    args.d = denseData(d) + i * args.m * args.n * d.elementBytes();
    fn(args);
  }
  d.taint = nullptr;
  m.set(instr, std::move(d));
}

void execDotScaled(Machine& m, const Instr& instr) {
  if (!m.announce(instr)) return;
  ElementKind kind = m.outKind(instr);
  if (!kernels().dot(ElementKind::F32, ElementKind::F32, kind, DotPrecision::Ieee)) return m.noKernel(instr);
  plan::ScaledShape s = plan::scaledShape(*instr.source);
  Tile d = accumulator(m, instr);
  Factors f = sizes(*d.shape, *d.shape);
  f.k = s.k;
  std::vector<float> values[2];
  for (int i = 0; i < 2; ++i) {
    const plan::ScaledSide& side = s.sides[i];
    const Tile* scale = side.scale ? &m.in(instr, static_cast<unsigned>(side.scale)) : nullptr;
    if (side.format != ElementKind::F4E2M1FN && !kernels().cast(CastOp::FPExt, side.format, ElementKind::F32)) return m.noKernel(instr);
    if (scale && side.scaleKind != ElementKind::I8 && side.scaleKind != ElementKind::F32 &&
        !kernels().cast(CastOp::FPExt, side.scaleKind, ElementKind::F32))
      return m.noKernel(instr);
    values[i] = scaledValues(m, m.in(instr, static_cast<unsigned>(i)), side, scale, f.batches, i == 1);
  }
  accumulate(f, DotPrecision::Ieee, values[0].data(), values[1].data(), kind, denseData(d));
  m.set(instr, std::move(d));
}

}  // namespace tilesight::exec
