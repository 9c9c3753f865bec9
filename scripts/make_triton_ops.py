"""Makes docs/triton-ops.md: every operation of Triton's IR, the functions of device libraries and the PTX
instructions, from the tables of src/ and from what the tests executed.

`make_triton_ops.py --record PYTHON..` runs tests/language, tests/twins and tests/tutorials with each of these
Pythons (one a Triton release) and writes what they executed to tests/data/operations.tsv. `page()` is the page;
scripts/make_docs.py writes it.
"""

import os
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RECORD = ROOT / "tests" / "data" / "operations.tsv"
RELEASES = ["3.6", "3.7", "3.8", "3.9"]
SUITES = ["tests/language", "tests/twins", "tests/tutorials"]

# What has no executor of its own, and why.
STRUCTURE = {
    "tt.func": "expanded into the kernel's program", "tt.call": "expanded at its site", "tt.return": "ends a function",
    "tt.reduce.return": "ends the combine function", "tt.scan.return": "ends the combine function",
    "tt.map_elementwise.return": "ends the function",
}


def record(pythons):
    rows = defaultdict(set)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "record"
        for python in pythons:
            environment = {**os.environ, "TILESIGHT_RECORD_OPERATIONS": str(path)}
            subprocess.run([python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not slow", *SUITES],
                           cwd=ROOT, env=environment, check=True)
        for line in path.read_text().splitlines():
            release, test, operations = line.split("\t")
            for operation in operations.split():
                rows[operation].add((test, release))
    known = {name for name, *_ in table("dialects/tt.def", "TS_OP")}
    lines = [f"{operation}\t{test}\t{' '.join(sorted(r for t, r in found if t == test))}"
             for operation, found in sorted(rows.items()) if operation in known
             for test in sorted({t for t, _ in found})]
    RECORD.write_text("\n".join(lines) + "\n")


def recorded():
    """operation -> {test file: releases}"""
    result = defaultdict(dict)
    for line in RECORD.read_text().splitlines():
        operation, test, releases = line.split("\t")
        result[operation][test] = releases.split()
    return result


def arguments(text):
    """Splits the arguments of a macro call at its commas, outside strings and brackets."""
    parts, depth, quoted, current = [], 0, False, ""
    for i, c in enumerate(text):
        if c == '"' and text[i - 1] != "\\":
            quoted = not quoted
        if not quoted:
            depth += (c in "([{") - (c in ")]}")
            if c == "," and depth == 0:
                parts.append(current.strip())
                current = ""
                continue
        current += c
    return [*parts, current.strip()]


def table(path, macro):
    """The rows of a table in src/: strings without their quotes, expressions as they are."""
    text = (ROOT / "src" / path).read_text()
    for call in re.findall(rf"^{macro}\((.*?)\)(?: *//.*)?$", text, re.DOTALL | re.MULTILINE):
        yield ["".join(re.findall(r'"((?:[^"\\]|\\.)*)"', field)) if field.startswith('"') else field
               for field in arguments(call)]


def versions(row):
    """The releases whose front end has the operation: those that the table names, else all."""
    return (re.findall(r"\d\.\d", row[7]) if len(row) > 7 else []) or RELEASES


def dumps(operation):
    word = re.compile(rf"(?<![\w.]){re.escape(operation)}(?![\w.])")
    return [release for release in RELEASES
            if any(word.search(path.read_text()) for path in (ROOT / "tests" / "data" / "ttir" / release).glob("*.ttir"))]


def lowered():
    text = (ROOT / "src" / "frontends" / "triton" / "lower.cpp").read_text()
    result = dict(re.findall(r'\{"(tt\.[\w.]+)", "([\w.]+)"\}', text))
    for line in text.splitlines():
        for operation in re.findall(r'op\.name == "(tt\.[\w.]+)"', line):
            result.setdefault(operation, operation.replace("tt.descriptor_", "tile.view_").replace("tt.", "tile."))
    for operation in ("tt.make_tensor_ptr", "tt.make_tensor_descriptor"):
        result[operation] = "tile.view"
    return result


def cell(text):
    """Text for a cell of a table."""
    return text.replace("|", "\\|").replace("*", "\\*")


def pipes(code):
    return code.replace("|", "\\|")


def short(test):
    return re.sub(r"^tests/|\.py$", "", test)


def operations():
    rows, names, tests = list(table("dialects/tt.def", "TS_OP")), lowered(), recorded()
    lines = ["| operation | parsed in dumps of | lowered to | executed by | tested by (releases) | in Triton |", "|---|---|---|---|---|---|"]
    for row in rows:
        operation = row[0]
        found = tests.get(operation, {})
        where = ", ".join(f"{short(t)} ({', '.join(r)})" for t, r in sorted(found.items())[:3])
        if len(found) > 3:
            where += f", {len(found) - 3} more"
        target = names.get(operation)
        executed = STRUCTURE.get(operation) or (f"`{target}`" if found and target else "**no**")
        lines.append(f"| `{operation}` | {', '.join(dumps(operation)) or 'tests only'} | "
                     f"{'`' + target + '`' if target else '**no**'} | {executed} | {where or '**none**'} | {', '.join(versions(row))} |")
    return "\n".join(lines)


def functions():
    lines = ["| functions | types | value | error bound | source |", "|---|---|---|---|---|"]
    for arity in "123":
        for nvidia, amd, *rest in table("foreign/math.def", f"TS_MATH{arity}"):
            expression, bound, source = rest[-3:]
            names = f"`__nv_{nvidia}f`, `__nv_{nvidia}`" + (f", `__ocml_{amd}_f32`, `__ocml_{amd}_f64`" if amd else "")
            value = f"own kernel `{rest[0]}`" if len(rest) == 4 and rest[0] != "None" else f"`{pipes(expression)}`"
            lines.append(f"| {names} | f32, f64 | {value} | {cell(bound)} | {cell(source)} |")
    for symbol, arity, expression, bound, source in table("foreign/math.def", "TS_FAST"):
        lines.append(f"| `{symbol}` | f32 | `{pipes(expression)}` | {cell(bound)} | {cell(source)} |")
    for path in ("foreign/integer.def", "foreign/rounding.def"):
        for arity in "1234":
            for symbol, result, *rest in table(path, f"TS_FUNCTION{arity}"):
                *kinds, expression, bound, source = rest
                lines.append(f"| `{symbol}` | {', '.join(kinds)} → {result} | `{pipes(expression)}` | {cell(bound)} | {cell(source)} |")
    for arity in "123":
        for stem, result, *rest in table("foreign/rounding.def", f"TS_ROUNDED{arity}"):
            *kinds, expression = rest
            lines.append(f"| `{stem}_rn`, `_rz`, `_rd`, `_ru` | {', '.join(kinds)} → {result} | `{pipes(expression)}` | exact | rounded once |")
    for stem, result, kind in table("foreign/rounding.def", "TS_TO_INTEGER"):
        lines.append(f"| `{stem}_rn`, `_rz`, `_rd`, `_ru` | {kind} → {result} | nearest integer that fits; NaN: see above | exact | cvt |")
    return "\n".join(lines)


def assembly():
    lines = ["| instruction | types | meaning |", "|---|---|---|"]
    for _, mnemonic, types, meaning in table("foreign/ptx.def", "TS_PTX"):
        lines.append(f"| `{mnemonic}` | {cell(types)} | {cell(meaning)} |")
    lines += ["", "| special register | value |", "|---|---|"]
    for name, _, meaning in table("foreign/ptx_special.def", "TS_SPECIAL"):
        lines.append(f"| `{name}` | {meaning} |")
    return "\n".join(lines)


def page():
    text = (ROOT / "docs" / "triton-ops.txt").read_text()
    return text.replace("@operations@", operations()).replace("@functions@", functions()).replace("@assembly@", assembly())


if __name__ == "__main__":
    if sys.argv[1:2] != ["--record"] or len(sys.argv) < 3:
        sys.exit(__doc__)
    record(sys.argv[2:])
