"""Tables, and RESULTS.md: one section a part, replaced as a whole by the run that measured it."""

import platform
import re
import subprocess
import time

from context import HERE, ROOT

FILE = HERE / "RESULTS.md"

HEAD = """# Results

Written by `bench/run PARTS --write`, one section a part; nothing here is copied by hand. All numbers of a table come from
one run on one machine, and what counts is ratios in it. Sanitizer and tracer are on and the engine has two threads
where nothing else is said. What a row misses and why is in [rationale/engine.md](../docs/rationale/engine.md).
"""


def table(rows):
    """Markdown of `rows`, the first of which is the head; columns are aligned for readers of the text."""
    rows = [[str(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows)]
    lines = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |" for row in rows]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)


def duration(seconds):
    """Three digits, with the unit that suits them."""
    for unit, size in (("s", 1), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}" if seconds < 1000 * size else f"{seconds / size:.0f} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def size(count):
    """Bytes, in the unit that suits them."""
    for unit, step in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if abs(count) >= step:
            return f"{count / step:.3g} {unit}"
    return f"{count:.0f} B"


def goal(text, reached):
    """The cell of a goal."""
    return text if reached else f"{text}, **not reached**"


def _line(*command):
    try:
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def _processor():
    try:
        with open("/proc/cpuinfo") as file:
            text = file.read()
    except OSError:
        return platform.processor()
    model = re.search(r"model name\s*: (.*)", text)
    return f"{model.group(1).strip() if model else platform.machine()}, {len(re.findall(r'^processor', text, re.MULTILINE))} cores"


def circumstances(context):
    """Machine, compilers, versions and commit, in one paragraph."""
    cache = (context.build / "CMakeCache.txt").read_text()
    flags = " ".join(re.search(rf"^{name}:\w+=(.*)$", cache, re.MULTILINE).group(1)
                     for name in ("CMAKE_CXX_FLAGS", "CMAKE_CXX_FLAGS_RELEASE")).strip()
    machine = context.child("versions")
    commit = _line("git", "rev-parse", "--short", "HEAD") + ("" if not _line("git", "status", "--porcelain", "-uno", "src",
                                                                             "python", "include") else " with changes")
    with open("/proc/loadavg") as file:
        load = file.read().split()[0]
    return (f"{time.strftime('%Y-%m-%d', time.gmtime())}, commit `{commit}`, {_processor()}, load {load} at the start. The engine: "
            f"{_line('c++', '--version').splitlines()[0]}, `{flags}`. Python {machine['python']}, Triton {machine['triton']}, "
            f"numpy {machine['numpy']}.")


def sections():
    """title -> text of RESULTS.md's sections, in its order."""
    if not FILE.exists():
        return {}
    pieces = re.split(r"^## (.*)\n", FILE.read_text(), flags=re.MULTILINE)[1:]
    return {title: text.strip() for title, text in zip(pieces[::2], pieces[1::2])}


def write(measured, order):
    """Puts `measured` (title -> text) into RESULTS.md; sections of other parts stay. `order` has all titles."""
    known = {**sections(), **measured}
    FILE.write_text(HEAD + "".join(f"\n## {title}\n\n{known[title]}\n" for title in order if title in known))
