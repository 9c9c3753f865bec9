"""In which representations tiles reach the clients, over all examples."""

import json
import os
import subprocess
import tempfile
from pathlib import Path

from context import ROOT
from results import table

TITLE = "Representations of tiles"
FORMS = ["splat", "affine", "separable", "dense"]


def measure(context):
    """Runs every example with --save-all and counts the forms of its accesses."""
    kernels = {}
    with tempfile.TemporaryDirectory() as folder:
        for example in sorted((ROOT / "examples" / "triton").glob("*.py")):
            bundle = Path(folder) / f"{example.stem}.tsb"
            done = subprocess.run([context.python, "-m", "tilesight", "run", "--save", bundle, "--save-all", example],
                                  env={**os.environ, "PYTHONPATH": str(ROOT / "python")}, capture_output=True, text=True,
                                  stdin=subprocess.DEVNULL)
            if done.returncode > 1 or not bundle.exists():
                raise SystemExit(f"{example.name}: {done.stderr.strip()}")
            done = subprocess.run([context.program("bench_forms"), bundle], capture_output=True, text=True, check=True)
            kernels[example.name] = [json.loads(line) for line in done.stdout.splitlines()]
    return kernels


def text(numbers):
    rows = [["example", "programs", "accesses", "addresses: " + " / ".join(FORMS), "masks: " + " / ".join(FORMS),
             "tracer, bytes an operation"]]
    for name, kernels in numbers.items():
        rows += [[name, f"{kernel['programs']:,}", f"{sum(kernel['addresses']):,}",
                  " / ".join(f"{n:,}" for n in kernel["addresses"]), " / ".join(f"{n:,}" for n in kernel["masks"]),
                  f"{kernel['bytes'] / max(kernel['records'], 1):.0f}"] for kernel in kernels]
    return table(rows)
