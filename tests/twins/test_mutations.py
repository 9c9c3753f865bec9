"""Every mutant of a clean case is judged by the oracle and by Tilesight, and they agree: on the
verdict, on (line, argument, kind), on the number of elements and of programs. What the oracle finds
clean is an equivalent mutant as far as memory is concerned."""

import contextlib
import importlib.util
import re
import sys

import pytest

from oracle import Oracle, OracleError
from tutorials.suite import parameters as tutorials
from twins.findings import Run, argument
from twins.mutations import mutants
from twins.suite import clean_cases, named

STRIDE = 4  # the fast suite takes every fourth mutant of a case; the slow one all


@pytest.fixture(scope="module")
def oracle():
    worker = Oracle(seconds=5)
    yield worker
    worker.close()


def judged(case, folder, oracle, every=1):
    """(mutant, path, module name, the oracle's answer) of the mutants that run at all."""
    for number, mutant in enumerate(mutants(case)):
        if number % every:
            continue
        name = f"mutant_{case.module.__name__.split('.')[-1]}_{case.name}_{number}"
        path = folder / f"{name}.py"
        path.write_text(mutant.source)
        try:
            answer = oracle.run(name, case.name, path, any_result=True)
        except OracleError:
            continue  # does not run, or does not end
        if answer["launches"]:
            yield mutant, path, name, answer


def oracle_verdict(answer):
    """{(line, argument, kind): [elements, programs]}, over call chains and operations of a line."""
    totals = {}
    for fault in answer["faults"]:
        total = totals.setdefault((fault["line"], fault["argument"], fault["kind"]), [0, 0])
        total[0] += fault["elements"]
        total[1] = max(total[1], fault["programs"])
    return totals


@contextlib.contextmanager
def loaded(name, path):
    """A file as a module of that name, for as long as it is needed."""
    spec = importlib.util.spec_from_file_location(name, path)
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
        yield module
    finally:
        del sys.modules[name]


def launched(case, path, name):
    """The mutant's launches under Tilesight."""
    run = Run()
    with loaded(name, path) as module, contextlib.suppress(AssertionError):  # the case's own opinion of its results
        next(c for c in module.CASES if c.name == case.name).launch(run.check)
    return run


def tilesight_totals(findings):
    totals = {}
    for finding in findings:
        if finding["kind"] == "hint-violation":  # the oracle knows of no promises
            continue
        key = (finding["location"]["line"], argument(finding), finding["kind"])
        total = totals.setdefault(key, [0, 0])
        total[0] += finding["counts"]["elements"]
        total[1] = max(total[1], finding["counts"]["programs"])
    return totals


def agree(answer, findings):
    """Same faults, same numbers. What follows from an earlier fault is no finding of its own for
    Tilesight, which lists it under the first one; brute force does not know what follows from what."""
    wanted, seen = oracle_verdict(answer), tilesight_totals(findings)
    undefined = {(e["line"], e["argument"], e["kind"]) for e in answer["events"]} & set(seen)
    for key in undefined:
        del seen[key]
    following = {int(n) for f in findings for text in f["consequences"]
                 for n in re.findall(r"^line (\d+):", text)}
    for key in set(wanted) | set(seen):
        if undefined or key[0] in following:
            # some of its elements, or all, follow from an earlier fault
            if any(s > w for s, w in zip(seen.get(key, [0, 0]), wanted.get(key, [0, 0]))):
                return False
        elif seen.get(key) != wanted.get(key):
            return False
    return bool(seen or undefined) == bool(wanted) or bool(undefined)


def check(case, folder, oracle, every, counted):
    disagreements, count = [], 0
    for mutant, path, name, answer in judged(case, folder, oracle, every):
        count += 1
        run = launched(case, path, name)
        if run.unknowns or not agree(answer, run.findings):
            disagreements.append(f"{mutant.change}\n  oracle    {oracle_verdict(answer)}\n"
                                 f"  Tilesight {tilesight_totals(run.findings)} {run.unknowns}\n  {path}")
    counted(count, "mutants")
    assert not disagreements, "\n".join(disagreements)


@pytest.mark.parametrize("case", named(clean_cases()))
def test_some_mutants(case, tmp_path, oracle, collect, counted):
    check(case, tmp_path, oracle, STRIDE, counted)


@pytest.mark.slow
@pytest.mark.parametrize("case", named(clean_cases()))
def test_all_mutants(case, tmp_path, oracle, collect, counted):
    check(case, tmp_path, oracle, 1, counted)


@pytest.mark.slow
@pytest.mark.parametrize("case", tutorials())
def test_mutants_of_tutorials(case, tmp_path, oracle, collect, counted):
    check(case, tmp_path, oracle, 12, counted)


def test_mutants_are_mostly_faulty(tmp_path, oracle):
    """The suite would be worth nothing if most mutants were equivalent or did not run."""
    ran = faulty = 0
    for case in clean_cases():
        if case.module.__name__ in ("twins.bounds", "twins.loops", "twins.views"):
            for _, _, _, answer in judged(case, tmp_path, oracle, 3):
                ran += 1
                faulty += bool(answer["faults"])
    assert ran > 60 and faulty > ran / 3, (ran, faulty)
