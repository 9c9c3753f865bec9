"""How time and memory grow with the grid, the tile, the trips of a loop and the number of clients."""

import json
import sys

import plot
from context import HERE, checked
from results import duration, size, table

TITLE = "Growth"
PLOT = "growth.svg"
READING = """Seconds in the engine, two threads, the least of five launches or more. Linear where the third column does not
grow; `each more` is the slope from the row before. By itself a launch costs some 10 µs, and a second thread joins where more than
0.3 ms of work is left. Arguments take 12 bytes an element: the last row of the grid has 201 MB, which come from memory and no
longer from caches, so that elements cost more there, in any program (numpy's add on one thread: 29 GB/s on 12 MB, 8 GB/s on
201 MB). The store of each program is kept, in 128 bytes, until the two threads' stores are compared; a tile beyond the caches'
size costs memory for the tiles themselves. A loop's trips take none. Clients here are Python's; each counts the active elements
of loads and stores, and all hear of the same accesses, one after another."""
# axis -> title, what one unit is, sizes
AXES = {"grid": ("programs, add in tiles of 256", "a program", [2 ** n for n in range(4, 17, 2)]),
        "tile": ("elements of a tile, add, 64 programs", "an element", [2 ** n for n in range(4, 17, 2)]),
        "trips": ("trips of a loop that loads 256 elements, 64 programs", "a trip", [2 ** n for n in range(2, 13, 2)]),
        "clients": ("clients, add in 1,024 tiles of 256", "a client", [1, 2, 4, 8, 16])}


def measure(context):
    return {axis: {value: checked(context.child("parts.growth", axis, value)) for value in values}
            for axis, (_, _, values) in AXES.items()}


def _case(axis, value):
    """(kernel, grid, arguments, constants, clients)"""
    import numpy as np
    import tilesight as ts
    from lens_workloads import nested_kernel
    from workloads import add_kernel
    clients = ["sanitizer"]
    if axis == "trips":
        x, out = np.ones(256 * value, np.float32), np.ones(64 * 256, np.float32)
        return nested_kernel, (64,), [x, out, 1, value, 256], {"BLOCK": 256}, clients
    programs, tile = {"grid": (value, 256), "tile": (64, value), "clients": (1024, 256)}[axis]
    if axis == "clients":
        class Counter(ts.Client):
            seen = 0

            def on_load(self, batch):
                self.seen += int(batch.active.sum())

            on_store = on_load
        clients = [Counter() for _ in range(value)]
    arrays = [np.ones(programs * tile, np.float32) for _ in range(3)]
    return add_kernel, (programs,), [*arrays, programs * tile], {"BLOCK": tile}, clients


def main(axis, value):
    import memory
    import tilesight as ts
    kernel, grid, arguments, constants, clients = _case(axis, int(value))
    ts.config.threads = 2
    kernel = ts.trace(client=clients)(kernel)

    def launch(grid):
        kernel[grid](*arguments, **constants)
        if ts.launches[-1].verdict != "ok":
            raise SystemExit(f"verdict {ts.launches[-1].verdict}: {ts.launches[-1].unknowns}")
        return ts.launches[-1].seconds

    launch((1,))
    taken = memory.peak(lambda: launch(grid))
    times = []
    while len(times) < 5 or sum(times) < 0.3:
        times.append(launch(grid))
    print(json.dumps({"seconds": min(times), "bytes": taken}))


def text(numbers):
    said = []
    for axis, (title, unit, _) in AXES.items():
        rows = [[title, "time", unit, "each more", "memory beyond the arguments"]]
        before = None
        for value, got in numbers[axis].items():
            more = duration((got["seconds"] - before[1]) / (value - before[0])) if before else ""
            rows.append([f"{value:,}", duration(got["seconds"]), duration(got["seconds"] / value), more, size(got["bytes"])])
            before = value, got["seconds"]
        said.append(table(rows))
    plot.write(HERE / PLOT, [(axis, title.split(",")[0], [(value, got["seconds"]) for value, got in numbers[axis].items()])
                             for axis, (title, _, _) in AXES.items()])
    return "\n\n".join([*said, f"![time against size]({PLOT})", READING])


if __name__ == "__main__":
    main(*sys.argv[1:])
