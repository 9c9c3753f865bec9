"""Runs programs one after another, each as `python PROGRAM` would: what test_programs.py gives to
`tilesight run`, so that Python and Triton start once for many.

Says after each how it ended: `program NAME: passed`, or its traceback.
"""

import runpy
import sys
import time
import traceback

for path in sys.argv[1:]:
    sys.argv[:] = [path]
    start = time.perf_counter()
    try:
        runpy.run_path(path, run_name="__main__")
        said = "passed"
    except BaseException:  # the next program runs all the same
        traceback.print_exc(file=sys.stdout)
        said = "failed"
    print(f"program {path}: {said} after {time.perf_counter() - start:.2f} s", flush=True)
