"""In a process of its own: OpenBLAS's sgemm of 512^3 on as many threads as the argument says, through numpy's own copy of the library, with the
kernels that it picks for this processor. Prints JSON: seconds of the best run, and the core those kernels are for."""

import ctypes
import json
import os
import sys
import time
from pathlib import Path

for name in ("OPENBLAS_CORETYPE", "OMP_NUM_THREADS"):
    os.environ.pop(name, None)
os.environ["OPENBLAS_NUM_THREADS"] = THREADS = sys.argv[1]

import numpy as np  # noqa: E402: reads the environment

SIZE = 512


def core():
    """The core that OpenBLAS chose kernels for; None if numpy has another library."""
    for path in Path(np.__file__).parents[1].glob("numpy.libs/*openblas*"):
        library = ctypes.CDLL(str(path))
        for name in ("scipy_openblas_get_corename64_", "scipy_openblas_get_corename", "openblas_get_corename64_",
                     "openblas_get_corename"):
            if hasattr(library, name):
                function = getattr(library, name)
                function.restype = ctypes.c_char_p
                return function().decode()
    return None


def main():
    found = core()
    if found is None:
        return {"error": "numpy has no OpenBLAS of its own"}
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal((SIZE, SIZE), dtype=np.float32) for _ in range(2))
    c = np.empty_like(a)
    best, begin = float("inf"), time.perf_counter()
    while time.perf_counter() - begin < 2:
        start = time.perf_counter()
        np.matmul(a, b, out=c)
        best = min(best, time.perf_counter() - start)
    return {"seconds": best, "core": found, "threads": int(THREADS)}


if __name__ == "__main__":
    print(json.dumps(main()))
