"""Checking the addresses of a product, every program of it, without computing it."""

import json
import sys
import time

from context import checked
from results import duration, goal, size, table

TITLE = "Addresses only: matmul in 128x128x64 tiles"
SIZES = (512, 1024, 2048, 4096, 8192)
GOAL_SIZE, GOAL_SECONDS, GOAL_BYTES = 4096, 0.15, 50e6
TILE_M, TILE_N, TILE_K = 128, 128, 64


def accesses(n):
    """Loads and stores of tiles, by all programs."""
    return (n // TILE_M) * (n // TILE_N) * (2 * n // TILE_K + 1)


def measure(context):
    return {n: checked(context.child("parts.address_only", n)) for n in SIZES}


def main(n):
    import memory
    import numpy as np
    import tilesight as ts
    import workloads
    n = int(n)
    ts.config.threads, ts.config.address_only = 2, True
    # Untouched pages of zeros take no memory: what is counted is the tool's.
    a, b, c = np.zeros((n, n), np.float16), np.zeros((n, n), np.float16), np.zeros((n, n), np.float32)
    kernel = ts.trace(client="sanitizer")(workloads.matmul_kernel)

    def launch(grid):
        start = time.perf_counter()
        kernel[grid](a, b, c, n, n, n, n, 1, n, 1, n, 1, BLOCK_M=TILE_M, BLOCK_N=TILE_N, BLOCK_K=TILE_K)
        report = ts.launches[-1]
        if report.verdict != "ok":
            raise SystemExit(f"verdict {report.verdict}: {report.unknowns}")
        return time.perf_counter() - start

    launch((1,))  # compiles
    grid = (n // TILE_M, n // TILE_N)
    taken = memory.peak(lambda: launch(grid))
    times = [launch(grid) for _ in range(5)]
    print(json.dumps({"seconds": min(times), "bytes": taken, "accesses": accesses(n)}))


def text(numbers):
    rows = [["size", "tile accesses", "time", "an access", "memory beyond the arguments", "goal"]]
    for n, got in numbers.items():
        met = got["seconds"] <= GOAL_SECONDS and got["bytes"] <= GOAL_BYTES
        rows.append([f"{n}^3", f"{got['accesses']:,}", duration(got["seconds"]), duration(got["seconds"] / got["accesses"]),
                     size(got["bytes"]), goal("<= 0.15 s, <= 50 MB", met) if n == GOAL_SIZE else ""])
    return (f"{table(rows)}\n\nThe sanitizer, `address_only`, every program checked, the launch from Python included, the least of "
            "five. The arguments are zeros that nothing has touched. Time is linear in the accesses where `an access` does "
            "not grow.")


if __name__ == "__main__":
    main(*sys.argv[1:])
