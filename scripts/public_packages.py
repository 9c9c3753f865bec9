#!/usr/bin/env python3
"""Runs the operators of liger-kernel, conch-triton-kernels and flag-gems under `tilesight run` (the cases of
tests/with_torch/public_packages), and writes the figures of docs/public-packages.md.

    scripts/public_packages.py PYTHON...            prints them
    scripts/public_packages.py --write PYTHON...    writes them into the page

Each PYTHON has torch, Triton and some of the packages (`pip install --no-deps liger-kernel conch-triton-kernels`;
flag-gems needs block pointers, which Triton 3.9 has no more). The status is 1 if a case fails, or a finding or an
unknown appears, that JUDGED does not explain.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CASES = ROOT / "tests" / "with_torch" / "public_packages" / "run_cases.py"
PAGE = ROOT / "docs" / "public-packages.md"
BEGIN, END = "<!-- figures: scripts/public_packages.py --write -->\n", "<!-- end of figures -->\n"

PACKAGES = {"liger-kernel": "liger_cases", "conch-triton-kernels": "conch_cases", "flag-gems": "gems_cases"}

# What was looked at by hand: (package, kernel, kind) or (package, case) -> "confirmed" or "false", and why.
JUDGED = {
    ("conch-triton-kernels", "_gemm_kernel", "out-of-bounds", 332): (
        "confirmed", "`scaled_gemm` passes a tensor of no elements, and the kernel loads its first. Nothing uses the "
        "value, so the compiler removes the load: a warning is right"),
    ("conch-triton-kernels", "_gemm_kernel", "out-of-bounds", 344): (
        "confirmed", "B (64 x 33 bytes) is loaded without a mask on its columns: the last row's element 33 is byte "
        "63 * 33 + 33 = 2112, the first behind it. The store is masked, so the result is right wherever the memory "
        "behind B may be read"),
    ("flag-gems", "_gather_flaggems_jit_function", "out-of-view", 50): (
        "false", "the launcher hands over a view with the index's shape and a stride of 0, and adds `index * stride` to "
        "it: the addresses are right, the view does not describe them. Right as a description, false as a defect"),
    ("flag-gems", "batch_norm"): (
        "confirmed", "without running statistics it passes the input in their place, and the kernel writes them: the "
        "input's first elements are overwritten. Every store is within bounds, so only the comparison says so"),
}


def versions(python):
    """The versions of torch, Triton and of those packages that this Python has."""
    code = ("import json\nfrom importlib.metadata import version, PackageNotFoundError\nfound = {}\n"
            f"for name in {['torch', 'triton', *PACKAGES]!r}:\n"
            "    try: found[name] = version(name)\n    except PackageNotFoundError: pass\n"
            "print(json.dumps(found))")
    return json.loads(subprocess.run([python, "-c", code], check=True, capture_output=True, text=True).stdout)


def run(python, package, folder):
    """{"cases", "uncompared", "report", "seconds"} of one package."""
    report, results = folder / f"{package}.json", folder / f"{package}.results"
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python"), "TILESIGHT_CACHE_DIR": str(folder / "cache"),
                   "FLAGGEMS_CACHE_DIR": str(folder / "flaggems"), "PYTHONWARNINGS": "ignore"}
    start = time.monotonic()
    done = subprocess.run([python, "-m", "tilesight", "run", "--json", str(report), str(CASES),
                           PACKAGES[package], str(results)], env=environment, text=True, capture_output=True)
    seconds = time.monotonic() - start
    if not report.exists() or not results.exists():
        sys.exit(f"{package}: no results (status {done.returncode})\n{done.stdout}{done.stderr}")
    return {**json.loads(results.read_text()), "report": json.loads(report.read_text()), "seconds": seconds}


def place(finding):
    """(file, line) of a finding or an unknown."""
    location = finding.get("location") or {}
    return Path(location.get("file") or "").name, location.get("line")


def rows(package, got):
    """[(what, verdict, why)] of all findings, unknowns and cases that fail; verdict None if nobody looked yet."""
    for finding in got["report"]["findings"]:
        file, line = place(finding)
        what = f"{finding['severity']} `{finding['kind']}` in `{finding['kernel']}` ({file}:{line})"
        yield (what, *JUDGED.get((package, finding["kernel"], finding["kind"], line), (None, "")))
    for unknown in got["report"]["unknowns"]:
        yield (f"unknown in `{unknown['kernel']}`: {unknown['reason']}",
               *JUDGED.get((package, unknown["kernel"], "unknown"), (None, "")))
    for name, wrong in got["cases"].items():
        if wrong:
            first = wrong.splitlines()[0]
            yield f"case `{name}` fails: {first}", *JUDGED.get((package, name), (None, ""))


def figures(results):
    lines = ["| package | Triton, torch | cases | compared | as expected | kernels | launches | findings | unknown | "
             "seconds in all, in launches |", "|---|---|---|---|---|---|---|---|---|---|"]
    for package, (found, got) in results.items():
        report, cases = got["report"], got["cases"]
        launches = sum(kernel["launches"] for kernel in report["kernels"])
        executed = sum(kernel["seconds"] for kernel in report["kernels"])
        lines.append(f"| {package} {found[package]} | {found['triton']}, {found['torch'].split('+')[0]} | {len(cases)} | "
                     f"{len(cases) - len(got['uncompared'])} | {sum(not wrong for wrong in cases.values())} | "
                     f"{len(report['kernels'])} | {launches} | {len(report['findings'])} | {len(report['unknowns'])} | "
                     f"{got['seconds']:.0f}, {executed:.1f} |")
    lines += ["", "| what | package | verdict | why |", "|---|---|---|---|"]
    for package, (_, got) in results.items():
        lines += [f"| {what} | {package} | {verdict or 'not looked at'} | {why} |"
                  for what, verdict, why in rows(package, got)]
    return "\n".join(lines) + "\n"


def main(arguments):
    write = arguments[:1] == ["--write"]
    pythons = arguments[1:] if write else arguments
    if not pythons:
        sys.exit(__doc__)
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        for python in pythons:
            found = versions(python)
            for package in PACKAGES:
                if package in found and package not in results and not (
                        package == "flag-gems" and found["triton"] >= "3.9"):
                    results[package] = found, run(python, package, Path(folder))
    text = figures(results)
    if write:
        before, rest = PAGE.read_text().split(BEGIN)
        PAGE.write_text(before + BEGIN + text + END + rest.split(END)[1])
    else:
        print(text, end="")
    return any(verdict is None for package, (_, got) in results.items() for _, verdict, _ in rows(package, got))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
