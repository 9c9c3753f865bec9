"""Workloads like those of upstream's bench_sanitizer, written anew, against TileLens's sanitizer in one environment."""

import json
import math
import sys
import tempfile
import time

from context import checked
from results import duration, goal, table

TITLE = "Against TileLens's sanitizer"
STRIDED = "strided view"
NAMES = ["gemm", "indirect load", "nested loops", "block-pointer loop", "jsd, 4 rows", "jsd, 512 rows", "layer norm",
         "swiglu", "cross entropy", STRIDED]
ROUNDS, SECONDS = 20, 8.0  # after the first round: so many, or until so much time has passed
LIMIT = 60                 # seconds for a process of TileLens


def measure(context):
    python = context.tilelens
    numbers = {"versions": context.child("versions", python=python)}
    for name in NAMES:
        with tempfile.TemporaryDirectory() as cache:  # nothing of earlier runs
            def ours():
                return checked(context.child("parts.upstream", "tilesight", name, python=python, TILESIGHT_CACHE_DIR=cache))
            def lens():
                return context.child("parts.upstream", "tilelens", name, python=python, timeout=LIMIT)

            # In turns, and the least of two of each, since other work on the machine comes and goes.
            first, theirs, again = ours(), lens(), ours()
            if "error" not in theirs and theirs["seconds"] < 30:
                theirs = {**theirs, "seconds": min(theirs["seconds"], lens().get("seconds", theirs["seconds"]))}
            alone = checked(context.child("parts.upstream", "addresses", name, python=python, TILESIGHT_CACHE_DIR=cache))
        numbers[name] = {"tilesight": {**first, "seconds": min(first["seconds"], again["seconds"])}, "addresses": alone,
                         "tilelens": theirs}
    return numbers


def main(side, name):
    import torch
    import lens_workloads
    launches = lens_workloads.WORKLOADS[name](torch)
    if side == "tilelens":
        import tilelens
        from measure import forget
        from tilelens.clients import Sanitizer
        traced = {kernel: tilelens.trace(Sanitizer(abort_on_error=True))(kernel) for kernel, *_ in launches}
    else:
        import tilesight as ts
        ts.config.threads, ts.config.on_finding, ts.config.address_only = 2, "raise", side == "addresses"
        forget = lambda: None
        traced = {kernel: ts.trace(client="sanitizer")(kernel) for kernel, *_ in launches}

    def all_launches():
        forget()
        start = time.perf_counter()
        for kernel, grid, arguments, constants in launches:
            traced[kernel][grid](*arguments, **constants)
        return time.perf_counter() - start

    before = [[a.clone() if isinstance(a, torch.Tensor) else a for a in arguments] for _, _, arguments, _ in launches]
    first = all_launches()
    if side != "tilelens":
        if bad := [report for report in ts.launches if report.verdict != "ok"]:
            raise SystemExit(f"{bad[0].verdict}: {bad[0].unknowns}")
        if side == "tilesight" and (bad := [said for launch, old in zip(launches, before) if (said := lens_workloads.wrong(torch, launch, old))]):
            raise SystemExit(bad[0])
    times = [all_launches()]
    while len(times) < ROUNDS and sum(times) < SECONDS:
        times.append(all_launches())
    print(json.dumps({"seconds": min(times), "first": first, "launches": len(launches)}))


def text(numbers):
    rows = [["", "launches", "Tilesight", "TileLens", "ratio", "goal", "first round: Tilesight", "TileLens", "addresses only", "ratio"]]
    ratios = []
    for name in NAMES:
        ours, theirs, alone = numbers[name]["tilesight"], numbers[name]["tilelens"], numbers[name]["addresses"]["seconds"]
        row = [name, ours["launches"], duration(ours["seconds"])]
        least = 10_000 if name == STRIDED else 30
        if "error" in theirs:
            rows.append([*row, theirs["error"], "", f">= {least}x, not known", duration(ours["first"]), "", duration(alone), ""])
            continue
        ratio = theirs["seconds"] / ours["seconds"]
        if name != STRIDED:
            ratios.append(ratio)
        rows.append([*row, duration(theirs["seconds"]), f"{ratio:.0f}x", goal(f">= {least}x", ratio >= least),
                     duration(ours["first"]), duration(theirs["first"]), duration(alone), f"{theirs['seconds'] / alone:.0f}x"])
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else 0
    rows.append([f"geometric mean of all but the {STRIDED}", "", "", "", f"{mean:.0f}x", goal(">= 100x", mean >= 100), "", "", "", ""])
    versions = numbers["versions"]
    return (f"{table(rows)}\n\nThe sanitizer alone on both sides, both in one Python {versions['python']} with Triton "
            f"{versions['triton']} and torch {versions['torch']} tensors; TileLens {versions['tilelens']}, z3 {versions['z3-solver']}. "
            "All launches of a row one after another, the launch from Python counted; the least of several rounds after a first "
            "one, which compiles. What TileLens keeps of earlier launches is dropped before each round, since it would skip "
            "launches that it has seen. It reasons about one program with a solver, whatever the grid, and leaves outputs as they are; "
            "Tilesight runs every program, and the outputs are compared with torch's after the first round. The last two columns: "
            "with `address_only`, which computes only what addresses and masks come of, every program too. Tilesight has two threads; "
            "TileLens's programs run one after another. `jsd, 512 rows`: TileLens does not see the 512 rows, Tilesight computes 4.8 "
            "million elements with two exponentials and a logarithm each.")


if __name__ == "__main__":
    main(*sys.argv[1:])
