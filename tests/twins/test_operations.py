"""Every operation of the language gives what the interpreter gives, as plain data, and in an address."""

import importlib.util
import sys

import numpy as np
import pytest
import triton

from oracle import Oracle, OracleError
from twins import operations
from twins.findings import Run
from twins.test_mutations import agree, oracle_verdict, tilesight_totals

@pytest.fixture(scope="module")
def oracle():
    worker = Oracle(seconds=60)
    yield worker
    worker.close()


def both(source, name, folder, oracle):
    """The oracle's answer and Tilesight's run of the module `source`."""
    path = folder / f"{name}.py"
    path.write_text(source)
    try:
        answer = oracle.run(name, "launch", path)
    except OracleError as error:
        pytest.skip(f"not in Triton {triton.__version__}'s interpreter: {str(error).splitlines()[-1]}")
    spec = importlib.util.spec_from_file_location(name, path)
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    run = Run()
    try:
        results = module.CASES[0].launch(run.check)
    finally:
        del sys.modules[name]
    return answer, run, results


@pytest.mark.parametrize("name, expression, shape", [pytest.param(*e, id=e[0]) for e in operations.INTEGERS])
def test_integer_data(name, expression, shape, tmp_path, oracle, collect):
    answer, run, results = both(operations.as_data(expression, shape, "int32"), f"data_{name}", tmp_path, oracle)
    assert not run.unknowns and not run.findings, run.unknowns
    assert [r.tolist() for r in results] == answer["results"]


@pytest.mark.parametrize("name, expression, shape", [pytest.param(*e, id=e[0]) for e in operations.FLOATS])
def test_float_data(name, expression, shape, tmp_path, oracle, collect):
    answer, run, results = both(operations.as_data(expression, shape, "float32"), f"data_{name}", tmp_path, oracle)
    assert not run.unknowns and not run.findings, run.unknowns
    # numpy adds the terms of a dot in an order of its own, which differs between machines: where they cancel, the
    # difference is small beside the terms, not beside the sum (2 n u, n = 16 terms; docs/fidelity.md).
    atol = 2 * 16 * 2.0**-24 * np.abs(results[0]).max() if name.startswith("dot") else 1e-6
    np.testing.assert_allclose(results[0], np.array(answer["results"][0], np.float32), rtol=3e-6, atol=atol)


@pytest.mark.parametrize("name, expression, shape", [pytest.param(*e, id=e[0]) for e in operations.INTEGERS])
def test_address(name, expression, shape, tmp_path, oracle, collect):
    answer, run, results = both(operations.as_address(expression, shape), f"address_{name}", tmp_path, oracle)
    assert not run.unknowns
    assert agree(answer, run.findings), (oracle_verdict(answer), tilesight_totals(run.findings))
    assert [r.tolist() for r in results] == answer["results"]
