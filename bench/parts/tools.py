"""examples/triton/attention.py under each tool: is its bug found, is the place named, in what time?"""

import os
import re
import subprocess
import time
from pathlib import Path

from context import HERE, ROOT
from results import table

TITLE = "One buggy program under each tool"


def measure(context):
    script = ROOT / "examples" / "triton" / "attention.py"
    line = script.read_text().splitlines().index("        k = tl.load(k_ptrs)") + 1
    commands = {"Triton's interpreter": [context.python, HERE / "interpret.py", script]}
    if context.tilelens:
        commands["TileLens"] = [Path(context.tilelens).parent / "triton-sanitizer", script]
    commands["Tilesight"] = [context.python, "-m", "tilesight", "run", script]
    numbers = {}
    for tool, command in commands.items():
        environment = {**os.environ, "TRITON_DEFAULT_FP_FUSION": "1"}
        environment.pop("PYTHONPATH", None)
        if tool == "Tilesight":
            environment["PYTHONPATH"] = str(ROOT / "python")
        times = []
        for _ in range(3):
            start = time.perf_counter()
            done = subprocess.run(command, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL)
            times.append(time.perf_counter() - start)
        said = done.stdout + done.stderr
        found = bool(re.search("out.of.bounds|illegal memory access", said, re.IGNORECASE))
        numbers[tool] = {"found": found, "place": found and bool(re.search(rf"attention\.py(:|\D+){line}\b", said)),
                         "witness": found and bool(re.search(r"program \(\d+,\d+,\d+\), iteration", said)),
                         "seconds": min(times), "status": done.returncode, "output": said}
    return numbers


def text(numbers):
    yes = {True: "yes", False: "no"}
    return table([["", "found?", "line named?", "program, element, iteration named?", "seconds"]] +
                 [[tool, yes[got["found"]], yes[got["place"]], yes[got["witness"]], f"{got['seconds']:.1f}"]
                  for tool, got in numbers.items()])
