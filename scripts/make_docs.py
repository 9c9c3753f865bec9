"""Makes the generated parts of the docs: docs/kinds.md from the table of kinds, and, between two marks,
the kinds of docs/sanitizer.md, and the operations of docs/ir.md from src/dialects/*.def and
docs/ir-operations.txt; docs/triton-ops.md and docs/fidelity.md by their own scripts.

`make_docs.py --check` changes nothing and ends with 1 if a page is not what would be made.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import make_fidelity
import make_triton_ops

ROOT = Path(__file__).resolve().parent.parent
BEGIN, END = "<!-- made by scripts/make_docs.py -->", "<!-- end -->"
OTHERS = ["arith", "math", "scf", "cf", "ub", "llvm"]


def rows(dialect):
    """The rows of a table: lists of strings, adjacent literals joined as C++ does."""
    text = (ROOT / "src" / "dialects" / f"{dialect}.def").read_text()
    for call in re.findall(r'^TS_OP\((.*?)\)$', text, re.DOTALL | re.MULTILINE):
        literals = re.findall(r'"((?:[^"\\]|\\.)*)"|(,)', call)
        fields, joined = [], ""
        for literal, comma in literals:
            if comma:
                fields.append(joined)
                joined = ""
            else:
                joined += literal
        yield [*fields, joined]


def words():
    meaning, name = {}, None
    for line in (ROOT / "docs" / "ir-operations.txt").read_text().splitlines():
        if line.startswith("#"):
            continue
        if line.startswith("  "):
            meaning[name] += " " + line.strip()
        elif line.strip():
            name, text = line.split(": ", 1)
            meaning[name] = text
    return meaning


def code(text):
    return f"`{text}`" if text else "none"


def syntax(name, format):
    if format in ("generic", "custom"):
        return None
    # A token in backquotes stands for itself; the rest is the notation of MLIR's assembly formats.
    return f"{name} " + format.replace("`", "")


def operations():
    meaning = words()
    lines = []
    for name, operands, attributes, results, format, rules, traits, *_ in rows("tile"):
        if name not in meaning:
            raise SystemExit(f"docs/ir-operations.txt has no words for {name}")
        lines += [f"### `{name}`", "", meaning.pop(name), ""]
        written = syntax(name, format)
        if written:
            lines += ["```", written, "```", ""]
        for title, field in (("Operands", operands), ("Attributes", attributes), ("Results", results)):
            if field:
                lines.append(f"- {title}: {code(field)}")
        if rules:
            lines.append(f"- Types: {code(rules)}")
        if "pure" not in traits.split():
            lines.append(f"- Effects: {', '.join(t for t in traits.split() if t in ('reads', 'writes', 'synchronizes')) or 'control'}")
        lines.append("")
    if meaning:
        raise SystemExit(f"docs/ir-operations.txt names no operation: {', '.join(meaning)}")
    lines += ["## Operations of other dialects", "",
              "They mean what MLIR says; integers wrap, and division truncates.", ""]
    for dialect in OTHERS:
        names = sorted(row[0].split(".", 1)[1] for row in rows(dialect))
        lines.append(f"- `{dialect}`: " + ", ".join(f"`{name}`" for name in names))
    return "\n".join(lines)


def kind_table(kinds):
    """The kinds that the sanitizer reports today, a row each."""
    lines = ["| kind | what | severity |", "|---|---|---|"]
    row = r"## `([^`]+)`\n\n(.*?) Client: (\S+)\. Severity: (.*?)\.( \*\*Planned\.\*\*)?\n"
    for kind, what, client, severity, planned in re.findall(row, kinds):
        if client in ("sanitizer", "execution") and not planned:
            lines.append(f"| [`{kind}`](kinds.md#{kind}) | {what} | {severity} |")
    return "\n".join(lines)


def between_marks(path, made):
    before, rest = (ROOT / path).read_text().split(BEGIN, 1)
    after = rest.split(END, 1)[1]
    return before + BEGIN + "\n\n" + made + "\n\n" + END + after


def kinds_page():
    build = Path(os.environ.get("TILESIGHT_BUILD", ROOT / "build"))
    tool = build / "src" / "tools" / "tilesight"
    return subprocess.run([tool, "explain", "--markdown"], text=True, capture_output=True, check=True).stdout


def main(check):
    stale = []
    kinds = kinds_page()
    pages = {"docs/kinds.md": kinds,
             "docs/sanitizer.md": between_marks("docs/sanitizer.md", kind_table(kinds)),
             "docs/triton-ops.md": make_triton_ops.page(),
             "docs/fidelity.md": make_fidelity.page(),
             "docs/ir.md": between_marks("docs/ir.md", operations())}
    for path, made in pages.items():
        file = ROOT / path
        if file.exists() and file.read_text() == made:
            continue
        stale.append(path)
        if not check:
            file.write_text(made)
            print(f"made {path}")
    if check and stale:
        print(f"not up to date: {', '.join(stale)}; run `make docs`")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))
