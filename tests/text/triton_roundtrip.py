#!/usr/bin/env python3
"""Triton reads what our printer writes, and prints for it what it prints for its own text.

    triton_roundtrip.py --printer build/tests/text/text_print [--python PYTHON ...]

PYTHON is an interpreter that has Triton; several may be given, also in TILESIGHT_TRITON_PYTHONS
(separated by colons). Each checks the dumps of its own release in tests/data/ttir, raw and inlined,
in custom and in generic form. Releases that no interpreter has are skipped, and named.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

DATA = pathlib.Path(__file__).resolve().parent.parent / "data" / "ttir"

# Runs under an interpreter with Triton: pairs of files in, what differs out.
WORKER = r"""
import json, os, sys
os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")
from triton._C.libtriton import ir
from triton.backends.compiler import GPUTarget
from triton.compiler import make_backend
backend = make_backend(GPUTarget("cuda", 90, 32))
def text(path):
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    return ir.parse_mlir_module(path, context).str()
wrong = []
for original, ours in json.load(sys.stdin):
    try:
        expected = text(original).splitlines()
    except Exception as problem:
        wrong.append([original, "Triton does not read its own text: " + str(problem)])
        continue
    try:
        found = text(ours).splitlines()
    except Exception as problem:
        wrong.append([ours, "Triton does not read ours: " + str(problem)])
        continue
    if found != expected:
        at = next((i for i, (a, b) in enumerate(zip(expected, found)) if a != b), min(len(expected), len(found)))
        line = lambda lines: lines[at] if at < len(lines) else "<end>"
        wrong.append([ours, "line %d\n    expected %s\n    found    %s" % (at + 1, line(expected), line(found))])
print(json.dumps(wrong))
"""


def release_of(python):
    """"3.9" for an interpreter with Triton 3.9.x, else None."""
    code = "import importlib.metadata as m; print(m.version('triton'))"
    try:
        done = subprocess.run([python, "-c", code], capture_output=True, text=True, timeout=60)
    except OSError:
        return None
    return ".".join(done.stdout.split(".")[:2]) if done.returncode == 0 else None


def check(python, release, printer, folder):
    """The number of files that do not survive."""
    files = sorted((DATA / release).glob("*.ttir"))
    pairs = []
    for form, options in (("custom", []), ("generic", ["--generic"])):
        output = pathlib.Path(folder) / release / form
        subprocess.run([printer, *options, "--output-dir", output, *files], check=True)
        pairs += [(str(file), str(output) + str(file)) for file in files]
    done = subprocess.run([python, "-W", "ignore", "-c", WORKER], input=json.dumps(pairs), capture_output=True, text=True)
    if done.returncode != 0:
        print(f"Triton {release}: the check stopped\n{done.stderr[-2000:]}")
        return len(pairs)
    wrong = json.loads(done.stdout)
    for file, what in wrong[:10]:
        print(f"Triton {release}: {file}: {what}")
    print(f"Triton {release}: {len(pairs) - len(wrong)} of {len(pairs)} texts read and printed alike")
    if not pairs:
        print(f"Triton {release}: no dumps")
    return len(wrong) if pairs else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--printer", required=True, help="the text_print program")
    parser.add_argument("--python", action="append", default=[], help="an interpreter that has Triton")
    arguments = parser.parse_args()
    pythons = arguments.python + [p for p in os.environ.get("TILESIGHT_TRITON_PYTHONS", "").split(":") if p]

    by_release = {}
    for python in pythons:
        release = release_of(python)
        if release is None:
            print(f"{python}: no Triton there")
        else:
            by_release.setdefault(release, python)
    wrong, checked = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for release in sorted(path.name for path in DATA.iterdir() if path.is_dir()):
            if release not in by_release:
                print(f"Triton {release}: skipped, no interpreter with it was given")
                continue
            checked += 1
            wrong += check(by_release[release], release, arguments.printer, folder)
    if not checked:
        print("nothing was checked")
        return 77  # what ctest counts as skipped
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
