"""Saving and loading a bundle with a large storage, against a plain file of the same bytes."""

import json
import subprocess
import tempfile

from results import duration, goal, size, table

TITLE = "Bundles"
MEGABYTES, ROUNDS = 256, 5
GOAL = 500e6  # bytes a second


def measure(context):
    """The least seconds of each, over processes."""
    found = []
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory() as folder:
            found.append(json.loads(subprocess.run([context.program("bench_bundles"), folder, str(MEGABYTES)], text=True,
                                                   capture_output=True, check=True).stdout))
    return {key: min(row[key] for row in found) for key in found[0]}


def text(numbers):
    rows = [["", "time", "rate", "goal"]]
    for key, title in (("written", "plain file, written"), ("saved", "bundle, saved"), ("read", "plain file, read"),
                       ("used", "bundle, loaded and compared with memory")):
        rate = numbers["bytes"] / numbers[key]
        rows.append([title, duration(numbers[key]), f"{size(rate)}/s",
                     goal(">= 500 MB/s", rate >= GOAL) if key in ("saved", "used") else ""])
    return (f"{table(rows)}\n\nOne storage of {size(numbers['bytes'])} of noise, through the page cache, the least of {ROUNDS}. "
            f"Loading alone takes {duration(numbers['loaded'])} and touches {size(numbers['touched'])} of memory: "
            + ("large storages are mapped, and read when they are used." if numbers["touched"] < numbers["bytes"] / 4 else
               "every storage is read (goal: lazily for large storages, **not reached**)."))
