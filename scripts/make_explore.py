"""Makes the traces of examples/explore anew, from the programs there: `.venv/bin/python scripts/make_explore.py`.

Paths in them are relative to this repository, and to what is installed for Python, so that a trace says nothing of the
machine that it was made on. Needs Triton and a built tool (scripts/build).
"""

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "examples" / "explore"


def programs():
    return sorted(FOLDER.glob("*.py"))


def prefixes():
    """What is taken away from the front of paths."""
    import triton

    installed = {Path(triton.__file__).resolve().parent.parent, Path(sysconfig.get_path("purelib"))}
    return sorted((f"{folder}/" for folder in {ROOT, *installed}), key=len, reverse=True)


def with_relative_paths(bundle, made):
    """Writes `made`, the bundle with the prefixes taken away from its texts."""
    with zipfile.ZipFile(bundle) as old, zipfile.ZipFile(made, "w") as new:
        for entry in old.infolist():
            data = old.read(entry)
            if entry.filename.endswith((".ttir", ".json")):
                for prefix in prefixes():
                    data = data.replace(prefix.encode(), b"")
            new.writestr(entry, data)


def tilesight(*arguments, cwd):
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    done = subprocess.run([sys.executable, "-m", "tilesight", *map(str, arguments)], env=environment, cwd=cwd,
                          capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stdout + done.stderr)


def make(program, trace):
    """The trace of one of the programs, which are clean."""
    with tempfile.TemporaryDirectory() as folder:
        saved, named = Path(folder) / "saved.tsb", f"{program.stem}.tsb"
        tilesight("run", "--save-all", "--save", saved, program, cwd=folder)
        with_relative_paths(saved, Path(folder) / named)
        tilesight("trace", named, "-o", trace, "--data", "all", cwd=folder)  # a trace says what it was made of


if __name__ == "__main__":
    for program in programs():
        trace = program.with_suffix(".trace")
        shutil.rmtree(trace, ignore_errors=True)
        make(program, trace)
        print(f"{trace.relative_to(ROOT)}: {sum(file.stat().st_size for file in trace.rglob('*') if file.is_file()):,} bytes")
