"""Tilesight finds what the twins say, where they say, and nothing else."""

import re

import pytest

from twins.findings import Run, access_kind, argument, farthest
from twins.suite import all_cases, named


@pytest.mark.parametrize("case", named(all_cases()))
def test_findings(case, collect):
    run = Run()
    case.launch(run.check)
    assert run.reports and not run.unknowns, run.unknowns

    def key(finding):
        return finding["kind"], finding["location"]["line"], argument(finding)

    seen = {key(f): f for f in run.findings}
    wanted = {(e.kind, case.line(e), e.argument): e for e in case.expect}
    assert sorted(map(str, seen)) == sorted(map(str, wanted)), describe(run.findings)
    assert len(run.findings) == len(seen), describe(run.findings)
    problems = [p for k, e in wanted.items() for p in compare(e, seen[k])]
    assert not problems, "\n".join(problems) + "\n" + describe(run.findings)

    errors = any(e.severity == "error" for e in case.expect)
    assert [r.verdict for r in run.reports].count("finding") == (1 if errors else 0)


def compare(expected, finding):
    """What is said otherwise than expected."""
    operand = finding["operand"] or {}

    def differs(name, said):
        wanted = getattr(expected, name)
        if wanted is not None and wanted != said:
            yield f"{expected.marker}: {name} is {said}, not {wanted}"

    yield from differs("severity", finding["severity"])
    if access_kind(expected.op):
        if finding["access"]["kind"] != access_kind(expected.op):
            yield f"{expected.marker}: access is {finding['access']}"
    yield from differs("program", tuple(finding["program"]))
    yield from differs("element", finding["element"])
    yield from differs("elements", finding["counts"]["elements"])
    yield from differs("programs", finding["counts"]["programs"])
    yield from differs("iterations", [(i["name"], i["value"]) for i in finding["iterations"]])
    if operand:
        yield from differs("index", operand["index"])
    if expected.kind == "out-of-bounds":
        yield from differs("past", farthest(finding))
    told = " ".join(f"{b['name']} {b['expression']}" for b in finding["because"])
    for name in expected.because:
        if not re.search(rf"\b{name}\b", told):
            yield f"{expected.marker}: `because` does not speak of {name}: {told!r}"


def describe(findings):
    lines = []
    for f in findings:
        lines.append(f"{f['kind']} line {f['location']['line']}: {f['message']}; program {f['program']} "
                     f"element {f['element']} iterations {f['iterations']} operand {f['operand']} "
                     f"counts {f['counts']} because {f['because']}")
    return "\n".join(lines)
