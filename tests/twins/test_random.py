"""Random kernels: Tilesight and the oracle see the same faults, element for element in number, and
the same values stored."""

import pytest
from triton.compiler.errors import CompilationError

from oracle import Oracle, OracleError
from twins.findings import Run
from twins.random_kernels import source
from twins.test_mutations import agree, loaded, oracle_verdict, tilesight_totals

FAST, SLOW = 120, 3000


@pytest.fixture(scope="module")
def oracle():
    worker = Oracle(seconds=20)
    yield worker
    worker.close()


def disagreement(seed, folder, oracle):
    """None, or what is different; "invalid" where the kernel does not run."""
    name = f"random_{seed}"
    path = folder / f"{name}.py"
    path.write_text(source(seed))
    try:
        answer = oracle.run(name, "launch", path)
    except OracleError:
        return "invalid"
    run = Run()
    try:
        with loaded(name, path) as module:
            results = module.CASES[0].launch(run.check)
    except CompilationError:
        return "invalid"
    if run.unknowns or not agree(answer, run.findings):
        return (f"seed {seed}: oracle {oracle_verdict(answer)} Tilesight {tilesight_totals(run.findings)} "
                f"{run.unknowns}")
    if [r.tolist() for r in results] != answer["results"]:
        return f"seed {seed}: the stored values differ"
    return None


@pytest.mark.parametrize("seeds", [range(0, FAST)], ids=["fast"])
def test_some(seeds, tmp_path, oracle, collect, counted):
    check(seeds, tmp_path, oracle, counted)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(FAST, SLOW, 240))
def test_many(first, tmp_path, oracle, collect, counted):
    check(range(first, first + 240), tmp_path, oracle, counted)


def check(seeds, folder, oracle, counted):
    counted(len(seeds), "random kernels")
    outcomes = [disagreement(seed, folder, oracle) for seed in seeds]
    assert outcomes.count("invalid") < len(seeds) / 10
    different = [o for o in outcomes if o not in (None, "invalid")]
    assert not different, "\n".join(different)
