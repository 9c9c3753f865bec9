// Chooses the kernel set, once. This file is compiled for the baseline machine.
#include "exec/kernels/kernels.h"

#include <cstdio>
#include <cstdlib>

namespace tilesight::exec {

#if defined(__x86_64__)
namespace v3 { const KernelSet& kernelSet(); }
namespace v4 { const KernelSet& kernelSet(); }
#elif defined(__aarch64__)
namespace a64 { const KernelSet& kernelSet(); }
#else
#error "Tilesight runs on x86-64 and aarch64"
#endif

namespace {

#if defined(__x86_64__) && defined(__clang__)
// Clang before 19 does not know the levels by name. What it cannot ask for (F16C, LZCNT, MOVBE), all machines with these have.
bool runsV3() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
}
bool runsV4() {
  return runsV3() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
#elif defined(__x86_64__)
bool runsV3() { return __builtin_cpu_supports("x86-64-v3"); }
bool runsV4() { return __builtin_cpu_supports("x86-64-v4"); }
#endif

KernelSets findRunnable() {
  KernelSets found{{}, 0};
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (runsV3()) found.sets[found.count++] = &v3::kernelSet();
  if (runsV4()) found.sets[found.count++] = &v4::kernelSet();
#else
  found.sets[found.count++] = &a64::kernelSet();
#endif
  return found;
}

[[noreturn]] void fail(const std::string& message) {
  std::fprintf(stderr, "tilesight: error: %s\n", message.c_str());
  std::exit(2);
}

const KernelSet& choose() {
  const KernelSets runnable = runnableKernelSets();
  if (runnable.count == 0) fail(machineError());
  const char* wanted = std::getenv("TILESIGHT_ISA");
  if (wanted == nullptr || *wanted == '\0') return *runnable.sets[runnable.count - 1];
  std::string names;
  for (size_t i = 0; i < runnable.count; ++i) {
    if (runnable.sets[i]->name == wanted) return *runnable.sets[i];
    names += (i > 0 ? ", " : "") + std::string(runnable.sets[i]->name);
  }
  fail("TILESIGHT_ISA=" + std::string(wanted) + " is no instruction set of this machine (it has: " + names + ")");
}

}  // namespace

KernelSets runnableKernelSets() {
  static const KernelSets sets = findRunnable();
  return sets;
}

bool machineSupported() { return runnableKernelSets().count > 0; }

std::string machineError() {
  if (machineSupported()) return {};
  return "this processor lacks x86-64-v3 (AVX2, FMA, F16C and BMI2: Intel Haswell or AMD Excavator and later), "
         "which Tilesight's kernels need";
}

const KernelSet& kernels() {
  static const KernelSet& chosen = choose();
  return chosen;
}

}  // namespace tilesight::exec
