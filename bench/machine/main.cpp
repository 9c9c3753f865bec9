// The machine's limit: the work of the measured kernels as loops fused by hand, compiled for this machine.
// `bench_machine [THREADS]` prints seconds per run (the least of several) as one JSON object, and how it was
// compiled.
#include <cstdio>
#include <cstdlib>

#include "limit.h"

int main(int argc, char** argv) {
  if (argc > 1) limit::threads = std::atoi(argv[1]);
  std::printf("{\"compiler\": \"%s\", \"flags\": \"%s\", \"threads\": %d", BENCH_COMPILER, BENCH_FLAGS, limit::threads);
  const struct {
    const char* name;
    double (*seconds)();
  } workloads[] = {{"vector_add", limit::vectorAdd}, {"softmax", limit::softmax}, {"layer_norm", limit::layerNorm},
                   {"dropout", limit::dropout},      {"matmul", limit::matmul},  {"attention", limit::attention}};
  for (const auto& workload : workloads) std::printf(", \"%s\": %.9f", workload.name, workload.seconds());
  std::printf("}\n");
}
