// Micro-benchmarks of the kernels, for every set of this machine (-DTILESIGHT_BENCH=ON):
//   kernels_bench --benchmark_filter='v4/exp'
// Elementwise ones report time per element over spans that fit the first cache.
#include <benchmark/benchmark.h>

#include <functional>
#include <string>

#include "support.h"

namespace tilesight::exec {
namespace {

constexpr size_t kCount = 4096;

using Body = std::function<void()>;

void add(const std::string& name, size_t elements, Body body) {
  benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) {
    for (auto _ : state) {
      body();
      benchmark::ClobberMemory();
    }
    // Inverted rate: seconds per element.
    state.counters["per_element"] = benchmark::Counter(
        double(elements), benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
  });
}

/// Values of ordinary size, so that no slow path is timed by accident.
std::shared_ptr<Span> ordinary(ElementKind kind, size_t n) {
  auto span = std::make_shared<Span>(kind, n);
  for (size_t i = 0; i < n; ++i) {
    const float value = 0.37f + float(i % 1000) * 0.003f;
    switch (kind) {
      case ElementKind::F32: span->set(i, toBits(value)); break;
      case ElementKind::F64: span->set(i, toBits(double(value))); break;
      case ElementKind::BF16: span->set(i, toBits(value) >> 16); break;
      case ElementKind::F16: span->set(i, 0x3800 + i % 0x800); break;
      case ElementKind::I1: span->set(i, i % 3 == 0); break;
      default: span->set(i, 1 + i % 100); break;
    }
  }
  return span;
}

void registerElementwise(const KernelSet& set, const std::string& prefix) {
  const auto scratch = std::make_shared<Span>(ElementKind::F64, kCount);
  const auto binary = [&](const std::string& name, BinaryForms forms, ElementKind kind) {
    const auto a = ordinary(kind, kCount), b = ordinary(kind, kCount);
    add(prefix + name + "/" + nameOf(kind), kCount, [=] { forms.vv(scratch->data(), a->data(), b->data(), kCount); });
  };
  using enum ElementKind;
  for (ElementKind kind : {F32, F64, F16, BF16, F8E4M3FN}) {
    binary("addf", set.binary(BinaryOp::AddF, kind), kind);
    binary("divf", set.binary(BinaryOp::DivF, kind), kind);
    binary("maximumf", set.binary(BinaryOp::MaximumF, kind), kind);
    binary("cmpf_olt", set.compareF(CmpFOp::Olt, kind), kind);
  }
  for (ElementKind kind : {I8, I32, I64}) {
    binary("addi", set.binary(BinaryOp::AddI, kind), kind);
    binary("muli", set.binary(BinaryOp::MulI, kind), kind);
    binary("divs", set.binary(BinaryOp::DivS, kind), kind);
    binary("remu", set.binary(BinaryOp::RemU, kind), kind);
    binary("shl", set.binary(BinaryOp::Shl, kind), kind);
    binary("cmpi_slt", set.compareI(CmpIOp::Slt, kind), kind);
  }
  binary("mulhiu", set.binary(BinaryOp::MulHiU, I32), I32);
  const char* names[] = {"exp", "exp2", "log", "log2", "sin", "cos", "tanh", "sqrt", "rsqrt", "erf", "floor", "ceil"};
  for (ElementKind kind : {F32, F64, F16})
    for (size_t i = 0; i < kMathOps.size(); ++i) {
      const auto a = ordinary(kind, kCount);
      const UnaryFn function = set.unary(kMathOps[i], kind);
      add(prefix + names[i] + "/" + nameOf(kind), kCount, [=] { function(scratch->data(), a->data(), kCount); });
    }
  const auto cast = [&](const std::string& name, CastOp op, ElementKind from, ElementKind to) {
    const auto a = ordinary(from, kCount);
    const UnaryFn function = set.cast(op, from, to);
    add(prefix + "cast/" + name + "/" + nameOf(from) + "_" + nameOf(to), kCount, [=] { function(scratch->data(), a->data(), kCount); });
  };
  for (ElementKind narrow : {F16, BF16, F8E4M3FN, F8E5M2}) {
    cast("extf", CastOp::FPExt, narrow, F32);
    cast("truncf", CastOp::FPTruncRtne, F32, narrow);
  }
  cast("truncf", CastOp::FPTruncRtne, F64, F32);
  cast("sitofp", CastOp::SIToFP, I32, F32);
  cast("sitofp", CastOp::SIToFP, I64, F32);
  cast("sitofp", CastOp::SIToFP, I32, F16);
  cast("fptosi", CastOp::FPToSI, F32, I32);
  cast("fptosi", CastOp::FPToSI, F32, I8);
  cast("fptosi", CastOp::FPToSI, F32, I64);
  cast("fptoui", CastOp::FPToUI, F32, I32);
  cast("sext", CastOp::SExt, I32, I64);
  cast("trunc", CastOp::Trunc, I64, I32);
  for (ElementKind kind : {I1, I32, F64}) {
    const auto condition = ordinary(I1, kCount), a = ordinary(kind, kCount), b = ordinary(kind, kCount);
    const SelectForms forms = set.select(bytesOf(kind));
    add(prefix + "select/" + nameOf(kind), kCount, [=] { forms.vv(scratch->data(), condition->data(), a->data(), b->data(), kCount); });
  }
  const auto a = ordinary(F32, kCount), b = ordinary(F32, kCount), mask = ordinary(I1, kCount), wide = ordinary(I64, kCount);
  add(prefix + "fma/f32", kCount, [=, f = set.fma(F32)] { f(scratch->data(), a->data(), b->data(), a->data(), kCount); });
  add(prefix + "fillAffine/i32", kCount, [=, f = set.fillAffine] { f(I32, scratch->data(), 5, 3, kCount); });
  add(prefix + "fillSplat/4", kCount, [=, f = set.fillSplat] { f(4, scratch->data(), a->data(), kCount); });
  add(prefix + "gatherStrided/4", kCount / 4, [=, f = set.gatherStrided] { f(4, scratch->data(), a->data(), 16, kCount / 4); });
  add(prefix + "gatherOffsets/4", kCount, [=, f = set.gatherOffsets] { f(4, scratch->data(), static_cast<const uint8_t*>(a->data()), static_cast<const int64_t*>(wide->data()), kCount); });
  add(prefix + "widen/i32", kCount, [=, f = set.widen] { f(I32, static_cast<int64_t*>(scratch->data()), a->data(), kCount); });
  add(prefix + "minMaxI64", kCount, [=, f = set.minMaxI64] { int64_t low, high; f(static_cast<const int64_t*>(wide->data()), kCount, &low, &high); benchmark::DoNotOptimize(low + high); });
  add(prefix + "countNonZero", kCount, [=, f = set.countNonZero] { benchmark::DoNotOptimize(f(static_cast<const uint8_t*>(mask->data()), kCount)); });
}

void registerReductions(const KernelSet& set, const std::string& prefix) {
  const auto reduce = [&](const std::string& name, BinaryOp op, ElementKind kind, size_t outer, size_t length, size_t inner) {
    const auto in = ordinary(kind, outer * length * inner);
    const auto out = std::make_shared<Span>(kind, outer * inner);
    add(prefix + "reduce/" + name + "/" + nameOf(kind) + "/" + std::to_string(outer) + "x" + std::to_string(length) + "x" + std::to_string(inner),
        outer * length * inner, [=, f = set.reduce(op, kind)] { f(out->data(), in->data(), outer, length, inner); });
  };
  using enum ElementKind;
  reduce("add", BinaryOp::AddF, F32, 1, 1024, 1);
  reduce("add", BinaryOp::AddF, F32, 1, 65536, 1);
  reduce("add", BinaryOp::AddF, F32, 64, 64, 1);
  reduce("add", BinaryOp::AddF, F32, 256, 16, 1);
  reduce("add", BinaryOp::AddF, F32, 1024, 4, 1);
  reduce("add", BinaryOp::AddF, F32, 1, 64, 64);
  reduce("add", BinaryOp::AddF, F32, 1, 1024, 64);
  reduce("maxnum", BinaryOp::MaxNumF, F32, 64, 64, 1);
  reduce("maximum", BinaryOp::MaximumF, F32, 1, 1024, 1);
  reduce("add", BinaryOp::AddF, F16, 64, 64, 1);
  reduce("add", BinaryOp::AddI, I32, 64, 64, 1);
  reduce("or", BinaryOp::Or, I1, 64, 64, 1);
}

void registerDots(const KernelSet& set, const std::string& prefix) {
  const auto dot = [&](ElementKind in, ElementKind acc, int64_t m, int64_t n, int64_t k, bool turned, DotPrecision precision = DotPrecision::Ieee) {
    const auto a = ordinary(in, m * k), b = ordinary(in, k * n);
    const auto d = std::make_shared<Span>(acc, m * n);
    const DotFn function = set.dot(in, in, acc, precision);
    const DotArgs args{a->data(), k, 1, b->data(), turned ? 1 : n, turned ? k : 1, d->data(), m, n, k};
    const std::string name = prefix + "dot/" + nameOf(in) + "_" + nameOf(acc) + (precision == DotPrecision::Tf32 ? "_tf32" : "") +
                             "/" + std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k) + (turned ? "T" : "");
    benchmark::RegisterBenchmark(name.c_str(), [=, keep = std::pair(a, b)](benchmark::State& state) {
      for (auto _ : state) {
        std::memset(d->data(), 0, d->bytes.size());
        function(args);
      }
      state.counters["flops"] = benchmark::Counter(double(2 * m * n * k), benchmark::Counter::kIsIterationInvariantRate);
    });
  };
  using enum ElementKind;
  dot(F16, F32, 64, 64, 32, false);
  dot(F16, F32, 64, 64, 32, true);
  dot(F16, F16, 64, 64, 32, false);
  dot(F16, F32, 128, 128, 64, false);
  dot(F16, F32, 16, 16, 16, false);
  dot(BF16, F32, 64, 64, 32, false);
  dot(F32, F32, 64, 64, 32, false);
  dot(F32, F32, 64, 64, 32, true);
  dot(F32, F32, 64, 64, 32, false, DotPrecision::Tf32);
  dot(F64, F64, 64, 64, 32, false);
  dot(F8E4M3FN, F32, 64, 64, 32, false);
  dot(I8, I32, 64, 64, 32, false);
  dot(I8, I32, 64, 64, 32, true);
}

}  // namespace
}  // namespace tilesight::exec

int main(int argc, char** argv) {
  using namespace tilesight::exec;
  for (const KernelSet* set : allSets()) {
    const std::string prefix = std::string(set->name) + "/";
    registerElementwise(*set, prefix);
    registerReductions(*set, prefix);
    registerDots(*set, prefix);
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
