"""What a trace costs: time beside a run without one, bytes on disk, memory; and beside TileLens's tracer."""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from results import duration, goal, size, table

TITLE = "Recording a trace"

# name -> programs, turns, elements of an access: what `many` below does
SMALL = {"1.6 million accesses of 64 elements": (16_000, 100, 64), "0.4 million accesses of 1,024 elements": (4_000, 100, 1024)}
LARGE = (1_000_000, 99, 64)  # 10^8 accesses
UPSTREAM = {"softmax": "softmax 1024²", "matmul": "matmul 512³"}
ROUNDS = 3


def timed(*command):
    """Seconds and peak memory of a process."""
    start = time.perf_counter()
    process = subprocess.Popen([str(part) for part in command], stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{command[0]} failed")
    return time.perf_counter() - start, usage.ru_maxrss * 1024


def folder_size(folder):
    return sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())


def measure(context):
    tool = context.program("tilesight")
    numbers = {"cost": {}, "size": {}, "upstream": {}}
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)

        def bundle(name, *what):
            got = context.child("parts.recording", "bundle", folder / f"{name}.tsb", *what)
            if "error" in got:
                raise SystemExit(got["error"])
            return folder / f"{name}.tsb"

        def traced(path, *options):
            target = folder / f"trace-{len(list(folder.iterdir()))}"
            seconds, memory = timed(tool, "trace", path, "-o", target, "--threads", 2, "--quiet", *options)
            return {"seconds": seconds, "memory": memory, "bytes": folder_size(target)}

        for name, (programs, turns, block) in SMALL.items():
            path = bundle(f"small{block}", "many", programs, turns, block)
            # In turns, so that what else the machine does hits both alike.
            plain, with_trace = [], []
            for _ in range(ROUNDS):
                plain.append(timed(tool, "check", path, "--threads", 2, "--quiet")[0])
                with_trace.append(traced(path)["seconds"])
            accesses = programs * (turns + 1)
            copy = context.child("parts.recording", "copy", programs * block * 4)["seconds"]
            numbers["cost"][name] = {"plain": min(plain), "traced": min(with_trace), "copy": copy, "accesses": accesses}
        numbers["size"]["matmul 4096³ in 128×128×64"] = {**traced(bundle("matmul", "matmul"), "--address-only"), "limit": 1e6}
        programs, turns, block = LARGE
        numbers["size"]["10⁸ accesses"] = {**traced(bundle("large", "many", programs, turns, block)), "limit": 1e9}
    for name in UPSTREAM:
        ours = context.child("parts.recording", "launch", name, "tilesight")
        theirs = context.child("parts.recording", "launch", name, "tilelens", python=context.tilelens) if context.tilelens else None
        numbers["upstream"][name] = {"tilesight": ours, "tilelens": theirs}
    return numbers


def text(numbers):
    cost = [["launch", "untraced", "an access of it", "traced", "ratio, less a copy of what is overwritten", "goal"]]
    for name, got in numbers["cost"].items():
        ratio = (got["traced"] - got["copy"]) / got["plain"]
        cost.append([name, duration(got["plain"]), duration(2 * got["plain"] / got["accesses"]), duration(got["traced"]),
                     f"{ratio:.2f}", goal("at most 1.2", ratio <= 1.2)])
    sizes = [["trace", "on disk", "goal", "peak memory", "goal", "seconds"]]
    for name, got in numbers["size"].items():
        sizes.append([name, size(got["bytes"]), goal(f"under {size(got['limit'])}", got["bytes"] < got["limit"]),
                      size(got["memory"]), goal("under 500 MB", got["memory"] < 500e6), f"{got['seconds']:.1f}"])
    upstream = [["launch with the tracer on", "Tilesight", "TileLens", "ratio", "goal", "memory", "TileLens's"]]
    for name, got in numbers["upstream"].items():
        ours, theirs = got["tilesight"], got["tilelens"]
        if not theirs or "error" in theirs:
            upstream.append([UPSTREAM[name], duration(ours["seconds"]), theirs["error"] if theirs else "not given", "", "",
                             size(ours["memory"]), ""])
            continue
        ratio = theirs["seconds"] / ours["seconds"]
        upstream.append([UPSTREAM[name], duration(ours["seconds"]), duration(theirs["seconds"]), f"{ratio:.0f}×",
                         goal("at least 500×", ratio >= 500), size(ours["memory"]), size(theirs["memory"])])
    return ("`tilesight trace` and `tilesight check` on the same bundle, two threads, the whole command; *an access of it* is the "
            "time of one thread.\n\n" + table(cost) + "\n\n" + table(sizes) +
            "\n\nA launch from Python with the tracer, the least of several; memory is what the process grows by.\n\n" + table(upstream))


def write_bundle(path, what, *sizes):
    import numpy as np
    import triton
    import triton.language as tl

    import tilesight as ts
    import workloads

    global many

    @triton.jit
    def many(x_ptr, y_ptr, n, BLOCK: tl.constexpr, TURNS: tl.constexpr):
        offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        acc = tl.zeros((BLOCK,), tl.float32)
        for i in range(TURNS):
            acc += tl.load(x_ptr + (offs + i * 8) % n)
        tl.store(y_ptr + offs, acc, mask=offs < n)

    # The launch is saved as it was before it ran, so it need not run long.
    ts.config.timeout = 0.05
    ts.config.keep_inputs = "2G"
    ts.config.on_finding = "collect"
    if what == "matmul":
        a, b = (np.zeros((4096, 4096), np.float16) for _ in range(2))
        c = np.zeros((4096, 4096), np.float32)
        ts.check(workloads.matmul_kernel)[(32, 32)](a, b, c, 4096, 4096, 4096, 4096, 1, 4096, 1, 4096, 1, 128, 128, 64)
    else:
        programs, turns, block = map(int, sizes)
        x, y = (np.zeros(programs * block, np.float32) for _ in range(2))
        ts.check(many)[(programs,)](x, y, programs * block, BLOCK=block, TURNS=turns)
    ts.save(path)
    print(json.dumps({}))


def copy(count):
    import numpy as np
    source, target = np.ones(int(count), np.uint8), np.zeros(int(count), np.uint8)
    times = []
    for _ in range(5):
        start = time.perf_counter()
        target[:] = source
        times.append(time.perf_counter() - start)
    print(json.dumps({"seconds": min(times)}))


def launch(name, side):
    import measure as sides
    import workloads
    workload = workloads.WORKLOADS[name]()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    if side == "tilesight":
        import tilesight as ts
        ts.config.threads = 2
        run = sides.launcher(workload, lambda array: array, ts.trace(client="tracer")(workload.kernel))
        run()
        result = sides.best_of(run)
    else:
        import tilelens
        import torch
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        run = sides.launcher(workload, torch.from_numpy, tilelens.trace("tracer")(workload.kernel))
        run()
        result = sides.best_of(lambda: (sides.forget(), run()), least_rounds=1)
    result["memory"] = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    print(json.dumps(result))


if __name__ == "__main__":
    {"bundle": write_bundle, "copy": copy, "launch": launch}[sys.argv[1]](*sys.argv[2:])
