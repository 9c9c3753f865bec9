"""What `tilesight run` adds to a small script: one kernel, one launch of 1,000 elements, with numpy and Triton.

Three processes, the best of several each: the script's imports alone under plain Python; `tilesight run` with the
launch and nothing in the cache; the same with the kernel's text in the cache. Seconds of the clock, and of the
processor, which other programs disturb less.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import processor

ROOT = Path(__file__).resolve().parent.parent
GOAL = 0.3  # seconds that `tilesight run` may add, first launch included

IMPORTS = "import numpy as np\nimport triton\nimport triton.language as tl\n"
LAUNCH = """
@triton.jit
def add(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    tl.store(y_ptr + offs, tl.load(x_ptr + offs, mask=mask) + 1, mask=mask)

x, y = np.zeros(1000, np.float32), np.zeros(1000, np.float32)
add[(4,)](x, y, 1000, BLOCK=256)
assert (y == 1).all()
"""


def best(command, environment, repeat, before=lambda: None):
    """(clock, processor): the fewest seconds of each."""
    times = []
    for _ in range(repeat):
        before()
        start, used = time.perf_counter(), processor.children()
        subprocess.run(command, env=environment, check=True, stdin=subprocess.DEVNULL, capture_output=True)
        times.append((time.perf_counter() - start, processor.children() - used))
    return tuple(map(min, zip(*times)))


def measure(python, repeat=7):
    """{"imports", "cold", "warm"}: (clock, processor), seconds."""
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        (folder / "imports.py").write_text(IMPORTS)
        (folder / "launch.py").write_text(IMPORTS + LAUNCH)
        cache = folder / "cache"
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "python"), "TILESIGHT_CACHE_DIR": str(cache)}
        run = [python, "-m", "tilesight", "run", str(folder / "launch.py")]

        def forget():
            subprocess.run(["rm", "-rf", str(cache)], check=True)

        return {"imports": best([python, str(folder / "imports.py")], environment, repeat),
                "cold": best(run, environment, repeat, forget), "warm": best(run, environment, repeat)}


def report(python):
    """Prints what `measure` gives, and returns it."""
    got = measure(python)
    for i, clock in enumerate(("clock", "processor")):
        plain, cold, warm = (got[name][i] for name in ("imports", "cold", "warm"))
        print(f"{clock}: the script's imports {plain:.2f} s; tilesight run adds {cold - plain:.2f} s with an empty cache, "
              f"{warm - plain:.2f} s with the kernel's text in it (goal: under {GOAL} s)")
    return got


if __name__ == "__main__":
    report(sys.argv[1] if len(sys.argv) > 1 else sys.executable)
