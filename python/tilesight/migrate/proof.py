"""Runs a program before and after its migration, and compares all launches."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path


def prove(path, after, library, arguments):
    """(exit status, what to say). The new text runs from a file beside the old one, under another name, so that it
    imports what the old one imports; nothing is left there."""
    with tempfile.TemporaryDirectory(prefix="tilesight-migrate-") as folder:
        folder = Path(folder)
        (folder / "library").mkdir()
        (folder / "library" / "block_ptr.py").write_text(library, encoding="utf-8")
        first, second = folder / "before.tsb", folder / "after.tsb"
        problem = _run(path, arguments, first)
        if problem:
            return 3, f"not proved: before the migration, {problem}"
        handle, copy = tempfile.mkstemp(prefix=f"{path.stem}_migrated_", suffix=".py", dir=path.parent)
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
                file.write(after)
            problem = _run(copy, arguments, second, str(folder / "library"))
        finally:
            os.unlink(copy)
        if problem:
            return 1, f"not proved: after the migration, {problem}"
        done = subprocess.run([sys.executable, "-m", "tilesight", "diff", str(first), str(second)],
                              capture_output=True, text=True)
    said = (done.stdout + done.stderr).strip()
    if done.returncode == 0:
        return 0, "proved: every launch computes the same before and after"
    return (1 if done.returncode == 1 else 3), f"not proved: `tilesight diff` says:\n{said}"


def _run(path, arguments, bundle, libraries=None):
    """None, or why there is no bundle of what a program launched."""
    environment = dict(os.environ)
    if libraries:  # behind everything else: a block_ptr.py beside the file goes first
        paths = [environment.get("PYTHONPATH"), libraries]
        environment["PYTHONPATH"] = os.pathsep.join(place for place in paths if place)
    done = subprocess.run([sys.executable, "-m", "tilesight", "run", "--save-all", "--save", str(bundle),
                           "--fail-on", "never", str(path), *arguments],
                          env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode not in (0, 3):
        last = (done.stderr.strip().splitlines() or ["nothing said"])[-1]
        return f"the program ended with {done.returncode}: {last}"
    return None if bundle.exists() else "no kernel was launched"
