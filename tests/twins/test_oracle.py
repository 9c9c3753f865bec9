"""The expectations of the twins, checked against the brute-force oracle alone."""

import pytest

from oracle import Oracle
from twins.suite import all_cases, named


@pytest.fixture(scope="module")
def oracle():
    worker = Oracle()
    yield worker
    worker.close()


@pytest.mark.parametrize("case", named(c for c in all_cases() if c.oracle))
def test_expectation(case, oracle):
    answer = oracle.run(case.module.__name__, case.name)
    assert answer["launches"] > 0
    seen = {(f["kind"], f["line"], f["op"], f["argument"]): f for f in answer["faults"]}
    events = {(f["kind"], f["line"], f["op"], f["argument"]): f for f in answer["events"]}
    wanted = {(e.kind, case.line(e), e.op, e.argument): e for e in case.expect}
    # What happened without harm counts only where a case asks for it.
    seen |= {key: f for key, f in events.items() if key in wanted}
    assert sorted(map(str, seen)) == sorted(map(str, wanted))
    for key, expected in wanted.items():
        compare(expected, seen[key])


def compare(expected, fault):
    def same(name, said):
        wanted = getattr(expected, name)
        assert wanted is None or wanted == said, f"{expected.marker}: {name} is {said}, not {wanted}"

    same("program", tuple(fault["program"]))
    same("element", fault["element"])
    if fault["index"] is not None:
        same("index", fault["index"])
    same("past", fault["most_past"])
    same("elements", fault["elements"])
    same("programs", fault["programs"])
    same("iterations", [(i["name"], i["value"]) for i in fault["iterations"]])
