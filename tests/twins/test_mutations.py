"""Every mutant of a clean case is judged by the oracle and by Tilesight, and they agree: on the
verdict, on (line, argument, kind), on the number of elements and of programs. What the oracle finds
clean is an equivalent mutant as far as memory is concerned."""

import importlib.util
import sys

import pytest

from oracle import Oracle, OracleError
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


def tilesight_verdict(case, path, name):
    from twins.findings import Run, argument

    spec = importlib.util.spec_from_file_location(name, path)
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    run = Run()
    try:
        next(c for c in module.CASES if c.name == case.name).launch(run.check)
    except AssertionError:
        pass  # the case's own opinion of its results
    finally:
        del sys.modules[name]
    totals = {}
    for finding in run.findings:
        key = (finding["location"]["line"], argument(finding), finding["kind"])
        total = totals.setdefault(key, [0, 0])
        total[0] += finding["counts"]["elements"]
        total[1] = max(total[1], finding["counts"]["programs"])
    return totals, run.unknowns


def check(case, folder, oracle, every):
    disagreements = []
    for mutant, path, name, answer in judged(case, folder, oracle, every):
        wanted = oracle_verdict(answer)
        seen, unknowns = tilesight_verdict(case, path, name)
        if seen != wanted or unknowns:
            disagreements.append(f"{mutant.change}\n  oracle    {wanted}\n  Tilesight {seen} {unknowns}\n  {path}")
    assert not disagreements, "\n".join(disagreements)


@pytest.mark.parametrize("case", named(clean_cases()))
def test_some_mutants(case, tmp_path, oracle, collect):
    check(case, tmp_path, oracle, STRIDE)


@pytest.mark.slow
@pytest.mark.parametrize("case", named(clean_cases()))
def test_all_mutants(case, tmp_path, oracle, collect):
    check(case, tmp_path, oracle, 1)


def test_mutants_are_mostly_faulty(tmp_path, oracle):
    """The suite would be worth nothing if most mutants were equivalent or did not run."""
    ran = faulty = 0
    for case in clean_cases():
        if case.module.__name__ in ("twins.bounds", "twins.loops", "twins.views"):
            for _, _, _, answer in judged(case, tmp_path, oracle):
                ran += 1
                faulty += bool(answer["faults"])
    assert ran > 150 and faulty > ran / 3, (ran, faulty)
