"""Every alarm again: the program that is a finding's witness, run alone on what it read from others, makes the same
finding: of the same place, iteration, tile element and tensor element."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import tilesight as ts
import triton
import triton.language as tl
from tilesight import _native

from twins.findings import Run
from twins.random_kernels import source
from twins.suite import all_cases, named
from twins.test_mutations import STRIDE, clean_cases, judged, launched, loaded, oracle  # noqa: F401 (a fixture)

EXAMPLES = sorted((Path(__file__).parents[2] / "examples" / "triton").glob("*.py"))
OF_LAUNCHES = {"deadlock", "launch-limit"}  # no program makes these by itself
# Gigabytes, of which no copy is kept.
LARGE = {"large_tensor_past_its_end", "int32_product_wraps", "batch_head_product_wraps", "loaded_page_number_wraps",
         "int64_product", "batch_head_product_wide", "loaded_page_number_wide"}


@pytest.fixture
def run(collect):
    ts.config.keep_inputs = 16 << 20
    return Run()


def replay(path, threads=2):
    return _native.replay_findings(str(path), ["sanitizer"], threads)


def check(run, folder):
    """Replays all findings of a run; returns how many there are."""
    count = 0
    for number, report in enumerate(run.reports):
        wanted = [(f.kind, f.location.line, "") for f in report.findings if f.kind not in OF_LAUNCHES]
        if wanted:
            report.save(folder / f"{number}.tsb")
            assert replay(folder / f"{number}.tsb") == wanted
        count += len(wanted)
    return count


@pytest.mark.parametrize("case", named(c for c in all_cases() if c.expect and c.name not in LARGE))
def test_findings_of_twins(case, run, tmp_path):
    case.launch(run.check)
    assert check(run, tmp_path) == sum(e.kind not in OF_LAUNCHES for e in case.expect)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_findings_of_examples(example, tmp_path):
    bundle = tmp_path / "launches.tsb"
    done = subprocess.run([sys.executable, "-m", "tilesight", "run", "--save", bundle, example], capture_output=True,
                          text=True, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
    assert done.returncode in (0, 1), done.stderr
    assert bundle.exists() == (done.returncode == 1)  # of launches with findings only
    if done.returncode == 0:
        return
    findings = [(f.kind, f.location.line) for report in ts.load(bundle) for f in report.findings]
    assert findings and replay(bundle) == [(*finding, "") for finding in findings]


@pytest.mark.parametrize("first", range(0, 120, 40))
def test_findings_of_random_kernels(first, run, tmp_path):
    for seed in range(first, first + 40):
        path = tmp_path / f"replayed_{seed}.py"
        path.write_text(source(seed))
        with loaded(f"replayed_{seed}", path) as module:
            try:
                module.CASES[0].launch(run.check)
            except triton.compiler.errors.CompilationError:
                continue
    assert check(run, tmp_path) > 5


@pytest.mark.slow
@pytest.mark.parametrize("case", named(c for c in clean_cases() if c.name not in LARGE))
def test_findings_of_mutants(case, run, oracle, tmp_path, counted):
    counted(sum(check(launched(case, path, name), tmp_path) for _, path, name, _ in judged(case, tmp_path, oracle, STRIDE)),
            "findings replayed")


# -- programs that read what others wrote ------------------------------------------------------------------------


@triton.jit
def hop(x, at, y):
    """Each program moves the place on at which the next one reads."""
    here = tl.load(at)
    tl.store(y + tl.program_id(0), tl.load(x + here))
    tl.store(at, here + 3)


def test_a_program_that_reads_what_others_wrote(run, tmp_path):
    """Program 4 reads x[12] of 10; alone, on memory as it was before the launch or after it, it would not."""
    run.check(hop)[(6,)](np.zeros(10, np.float32), np.zeros(1, np.int32), np.zeros(6, np.float32))
    (finding,) = run.findings
    assert finding["program"] == [4, 0, 0] and finding["operand"]["index"] == [12]
    assert check(run, tmp_path) == 1


@triton.jit
def ticket(x, counter, y):
    mine = tl.atomic_add(counter, 1)
    tl.store(y + mine, tl.load(x + mine * 2))


@pytest.mark.parametrize("seed", [0, 7])
def test_a_program_that_took_a_ticket(seed, run, tmp_path):
    ts.config.seed, ts.config.num_sms = seed, 4
    run.check(ticket)[(16,)](np.zeros(20, np.float32), np.zeros(1, np.int32), np.zeros(16, np.float32))
    (finding,) = run.findings
    assert finding["operand"]["index"] >= [20] and finding["counts"]["programs"] == 6
    assert check(run, tmp_path) == 1


@triton.jit
def baton(flag, x, y):
    """Programs wait for the one before them."""
    pid = tl.program_id(0)
    while tl.atomic_add(flag, 0) < pid:
        pass
    tl.store(y + pid, tl.load(x + tl.load(flag) * 2))
    tl.atomic_add(flag, 1)


def test_a_program_that_waited(run, tmp_path):
    ts.config.num_sms = 8
    run.check(baton)[(8,)](np.zeros(1, np.int32), np.zeros(9, np.float32), np.zeros(8, np.float32))
    (finding,) = run.findings
    assert finding["program"] == [5, 0, 0] and finding["operand"]["index"] == [10]
    assert check(run, tmp_path) == 1


@triton.jit
def in_place(x, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(x + i, tl.load(x + i) + 1)
    tl.store(x + tl.load(x).to(tl.int32), 0.0)


def test_a_program_that_reads_what_it_wrote_itself(run, tmp_path):
    run.check(in_place)[(3,)](np.full(8, 6.0, np.float32), B=8)  # x[0]: 7, then 8, which is outside
    (finding,) = run.findings
    assert finding["program"] == [1, 0, 0] and finding["operand"]["index"] == [8]
    assert check(run, tmp_path) == 1
