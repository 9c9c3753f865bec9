"""Makes docs/fidelity.md: what is exact and what is bounded, from the table of tests/differential and what was recorded on
a GPU (tests/data/gpu). Needs Triton. `page()` is the page; scripts/make_docs.py writes it."""

import json
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
GPU = "h200"


def table():
    sys.path[:0] = [str(ROOT / "tests" / "differential")]
    from table import CASES
    return CASES


def measured():
    """(case, part) -> the fields of the recording's list; (case, "") -> why it did not run."""
    rows = (line.split("\t") for line in (ROOT / "tests" / "data" / "gpu" / f"{GPU}.tsv").read_text().splitlines())
    return {(case, part): fields for case, part, *fields in rows}


def versions():
    with np.load(ROOT / "tests" / "data" / "gpu" / f"{GPU}.npz") as file:
        return json.loads(str(file["versions"]))


def tail(case):
    return case.name.split(".", 1)[1].replace("_", " ") if "." in case.name else ""


def head(case):
    return case.name.split(".", 1)[0]


def number(text):
    value = float(text)
    return f"{value:.0f}" if value < 10000 else f"{value:.1e}"


def distance(fields):
    elements, different, unpromised, ulps, relative, used = fields
    if different == "0":
        return "same bits"
    if different == unpromised:
        return f"{different} of {elements} differ, of which nothing is promised"
    text = f"{float(used):.2g} of the bound" if used else f"{number(ulps)} ulp" if float(ulps) else f"{different} of {elements} differ"
    return text + (f"; {unpromised} of which nothing is promised" if int(unpromised) else "")


def worst(rows):
    """One cell for several measurements."""
    if len(rows[0]) == 1:
        return f"not run: {rows[0][0]}"
    return distance(max(rows, key=lambda f: (f[1] != f[2], float(f[5] or 0), float(f[3]), int(f[2]))))


def parts(case, found):
    """(label, its measurement) of what a kernel writes; `out` alone where it did not run."""
    if (case.name, "") in found:
        yield "out", found[case.name, ""]
    for label, _, _ in case.parts(case.arguments()):
        if (case.name, label) in found:
            yield label, found[case.name, label]


def kernels_table(cases, found):
    groups = defaultdict(lambda: defaultdict(list))  # what is the same but for type and part
    for case in cases.values():
        for label, fields in parts(case, found):
            against = "interpreter" if case.interpreter is None else "numpy"
            groups[head(case), against, str(case.bound(label))][label, tail(case)].append(fields)
    lines = ["| case | what | of | against | bound | H200 |", "|---|---|---|---|---|---|"]
    for (name, against, bound), cells in groups.items():
        by_label = defaultdict(lambda: defaultdict(list))  # label -> measured -> types
        for (label, form), rows in cells.items():
            by_label[label][worst(rows)].append(form)
        merged = defaultdict(list)
        for label, results in by_label.items():
            for gpu, forms in results.items():
                merged[tuple(forms), gpu].append(label)
        for (forms, gpu), labels in merged.items():
            what = ", ".join(escape(label) for label in labels if label != "out")
            lines.append(f"| `{name}` | {what} | {', '.join(f for f in forms if f)} | {against} | {escape(bound)} | {escape(gpu)} |")
    return "\n".join(lines)


def escape(text):
    return text.replace("|", "\\|").replace("*", "\\*").replace("<", "&lt;").replace("~", "\\~")


def gpu_table(cases, found):
    lines = ["| case | what | bound | measured | why |", "|---|---|---|---|---|"]
    groups = defaultdict(list)
    for case in cases.values():
        for label, fields in parts(case, found):
            if len(fields) == 1 or fields[1] == "0":
                continue
            bound = case.bound(label, gpu=True)
            groups[head(case), str(bound), bound.why].append((f"{tail(case)} {'' if label == 'out' else ('to ' if label in case.labels.values() else '') + label}".strip(), fields))
    for (kernel, bound, why), rows in groups.items():
        what = ", ".join(dict.fromkeys(name for name, _ in rows))
        lines.append(f"| `{kernel}` | {escape(what)} | {escape(bound)} | {escape(worst([f for _, f in rows]))} | {escape(why)} |")
    return "\n".join(lines)


def wrong_table(cases):
    groups = defaultdict(list)
    for case in cases.values():
        if case.interpreter:
            groups[case.interpreter].append(head(case))
    lines = ["| why | cases |", "|---|---|"]
    for why, kernels in groups.items():
        lines.append(f"| {escape(why)} | {', '.join(f'`{k}`' for k in dict.fromkeys(kernels))} |")
    return "\n".join(lines)


def page():
    cases, found, known = table(), measured(), versions()
    words = {
        "cases": str(len(cases)), "kernels": str(len({case.kernel.fn for case in cases.values()})),
        "interpreted": str(sum(case.interpreter is None for case in cases.values())), "gpu": known["gpu"], "triton": known["triton"],
        "torch": known["torch"], "cuda": known["cuda"], "table": kernels_table(cases, found),
        "gpu_differences": gpu_table(cases, found), "wrong": wrong_table(cases)}
    text = (ROOT / "docs" / "fidelity.txt").read_text()
    for name, value in words.items():
        text = text.replace(f"@{name}@", value)
    return text


if __name__ == "__main__":
    (ROOT / "docs" / "fidelity.md").write_text(page())
