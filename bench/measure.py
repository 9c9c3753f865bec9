"""Measures one side in this process: `measure.py SIDE WORKLOAD`; prints JSON.

SIDE is tilesight, interpreter, tilelens-sanitizer or tilelens-tracer. Given are the seconds of a
launch from Python, the launch's Python part included: the least of several, after a first launch
that compiles and checks the result.
"""

import json
import os
import sys
import time

LEAST_SECONDS = 2.0  # measured for at least so long,
LEAST_ROUNDS = 3     # and so often


def best_of(launch, least_rounds=LEAST_ROUNDS):
    times = []
    while len(times) < least_rounds or sum(times) < LEAST_SECONDS:
        start = time.perf_counter()
        launch()
        times.append(time.perf_counter() - start)
    return {"seconds": min(times), "rounds": len(times)}


def launcher(workload, as_tensor, kernel=None):
    import numpy as np
    kernel = kernel or workload.kernel
    arguments = [as_tensor(a) if isinstance(a, np.ndarray) else a for a in workload.arguments]

    def launch():
        kernel[workload.grid](*arguments, **workload.constants)
    return launch


def measure_tilesight(make):
    import tilesight as ts
    ts.config.threads = 2
    ts.config.on_finding = "raise"
    workload = make()
    launch = launcher(workload, lambda array: array,
                      ts.trace(client=["sanitizer", "tracer"])(workload.kernel))
    launch()
    workload.check()
    result = best_of(launch)
    if ts.launches[-1].verdict != "ok":
        raise SystemExit(f"verdict {ts.launches[-1].verdict}: {ts.launches[-1].unknowns}")
    result["engine_seconds"] = min(report.seconds for report in ts.launches)
    return result


def measure_interpreter(make):
    from tensor import Tensor
    workload = make()
    launch = launcher(workload, Tensor)
    launch()
    workload.check()
    return best_of(launch, least_rounds=2)


def measure_tilelens(make, client):
    import tilelens
    import torch
    workload = make()
    launch = launcher(workload, torch.from_numpy, tilelens.trace(client)(workload.kernel))
    launch()
    return best_of(lambda: (forget(), launch()), least_rounds=2)


def forget():
    """Drops what TileLens keeps of earlier launches: its sanitizer skips what it has seen with the same shapes."""
    import tilelens
    from tilelens.clients.sanitizer import sanitizer
    tilelens.clear()
    sanitizer._fn_symbolic_cache_set.clear()


def main(side, name):
    if side == "interpreter":
        os.environ["TRITON_INTERPRET"] = "1"
    os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")  # else Triton 3.9 warns
    import workloads
    make = workloads.WORKLOADS[name]
    if side == "tilesight":
        result = measure_tilesight(make)
    elif side == "interpreter":
        result = measure_interpreter(make)
    else:
        result = measure_tilelens(make, side.split("-")[1])
    import triton
    result["triton"] = triton.__version__
    print(json.dumps(result))


if __name__ == "__main__":
    main(*sys.argv[1:])
