"""Start-up: of the native tool, of `import tilesight`, and what `tilesight run` adds to a small script.

Each is the best of several processes; seconds of the clock, and of the processor, which other programs disturb less.
"""

import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import processor
from context import ROOT
from results import duration, goal, table

TITLE = "Start-up"
REPEAT = 9

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


def _best(commands, environment, before=lambda: None):
    """name of a command -> (clock, processor), the fewest seconds of each; the commands take turns."""
    times = {name: [] for name in commands}
    for _ in range(REPEAT):
        for name, command in commands.items():
            before()
            start, used = time.perf_counter(), processor.children()
            subprocess.run(command, env=environment, check=True, stdin=subprocess.DEVNULL, capture_output=True)
            times[name].append((time.perf_counter() - start, processor.children() - used))
    return {name: tuple(map(min, zip(*found))) for name, found in times.items()}


def measure(context):
    python, tool = context.python, context.program("tilesight")
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        (folder / "imports.py").write_text(IMPORTS)
        (folder / "launch.py").write_text(IMPORTS + LAUNCH)
        cache = folder / "cache"
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "python"), "TILESIGHT_CACHE_DIR": str(cache)}
        bundle = str(folder / "launch.tsb")
        run = [python, "-m", "tilesight", "run"]
        subprocess.run([*run, "--save", bundle, "--save-all", str(folder / "launch.py")], env=environment, check=True,
                       stdin=subprocess.DEVNULL, capture_output=True)
        native = _best({"nothing": ["true"], "version": [tool, "--version"], "info": [tool, "info", bundle],
                        "check": [tool, "check", bundle]}, environment)
        imports = _best({name: [python, "-c", code] for name, code in (
            ("numpy", "import numpy"), ("package", "import numpy, tilesight"),
            ("decorator", "import numpy, tilesight; tilesight.check"))}, environment)
        script = {**_best({"imports": [python, str(folder / "imports.py")]}, environment),
                  **_best({"cold": [*run, str(folder / "launch.py")]}, environment,
                          lambda: shutil.rmtree(cache, ignore_errors=True)),
                  **_best({"warm": [*run, str(folder / "launch.py")]}, environment)}
    return {"native": native, "imports": imports, "script": script}


def text(numbers):
    native, imports, script = numbers["native"], numbers["imports"], numbers["script"]
    rows = [["", "clock", "processor", "goal (clock)"]]

    def row(title, got, less, most):
        clock, used = (got[i] - less[i] for i in range(2))
        rows.append([title, duration(max(clock, 0)), duration(max(used, 0)),
                     goal(f"<= {duration(most)}", clock <= most) if most else ""])

    nothing = (0, 0)
    row("a process that does nothing (`true`)", native["nothing"], nothing, None)
    row("`tilesight --version`", native["version"], nothing, 20e-3)
    row("`tilesight info` of a small bundle", native["info"], nothing, 20e-3)
    row("`tilesight check` of a small bundle", native["check"], nothing, None)
    row("`import tilesight`, beyond numpy", imports["package"], imports["numpy"], 100e-3)
    row("and its names taken (`tilesight.check`), beyond numpy", imports["decorator"], imports["numpy"], 100e-3)
    row("`tilesight run`, beyond the script's imports, nothing cached", script["cold"], script["imports"], 0.3)
    row("the same, the kernel's text cached", script["warm"], script["imports"], 0.3)
    return (f"{table(rows)}\n\nBest of {REPEAT} processes. The script imports numpy and Triton and launches one kernel on "
            f"1,000 elements; its imports alone take {duration(script['imports'][0])}.")
