"""The engine against GPUs: what was recorded on one and is kept in tests/data/gpu, a recording that
TILESIGHT_GPU_RECORDING names, and this machine's own, if it has one. Each part of each kernel is within the bound that
the table states, and as far away as the kept list says."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import triton

import engine_run
from case import differences
from record import record_all
from recorded import FOLDER, Recording, distances
from table import CASES

RECORDINGS = sorted(FOLDER.glob("*.npz"))
if "TILESIGHT_GPU_RECORDING" in os.environ:
    RECORDINGS.append(Path(os.environ["TILESIGHT_GPU_RECORDING"]))


def has_gpu():
    if Path("/dev/nvidiactl").exists():
        asked = "import torch, sys; sys.exit(not torch.cuda.is_available())"
        return subprocess.run([sys.executable, "-c", asked], capture_output=True).returncode == 0
    return False


@pytest.fixture(scope="module", params=[*RECORDINGS, "here"], ids=lambda r: r if r == "here" else r.stem)
def recording(request, tmp_path_factory):
    if request.param != "here":
        return Recording(request.param)
    if not has_gpu():
        pytest.skip("not run: no GPU with torch here")
    path = tmp_path_factory.mktemp("gpu") / "here.npz"
    record_all(path)
    return Recording(path)


@pytest.mark.parametrize("name", CASES)
def test_as_the_gpu(name, recording, collect):
    case = CASES[name]
    if case.no_gpu:
        pytest.skip(f"not run there: {case.no_gpu}")
    here, before, _ = engine_run.run(case)
    try:
        there = recording.after(case, here)
    except KeyError as error:
        pytest.fail(f"{recording.name}: {error.args[0]}")
    assert recording.stale(case) is None
    apart = differences(case, here, there, before, gpu=True)
    assert not apart, "\n".join(apart)


@pytest.mark.parametrize("path", RECORDINGS[:len(list(FOLDER.glob("*.npz")))], ids=lambda p: p.stem)
def test_the_kept_distances_are_those_of_today(path, collect):
    """docs/fidelity.md is made of them. Functions of libm are left out: they are this machine's."""
    recording = Recording(path)
    release = recording.versions["triton"].rsplit(".", 1)[0]
    if not triton.__version__.startswith(release):
        pytest.skip(f"it was recorded with Triton {release}, and so is the list")
    kept = {tuple(row.split("\t")[:2]): row.split("\t")[2:] for row in path.with_suffix(".tsv").read_text().splitlines()}
    different = []
    for case in CASES.values():
        if case.no_gpu or case.libm:
            continue
        here, _, _ = engine_run.run(case)
        for label, distance in distances(case, here, recording.after(case, here)):
            if kept.pop((case.name, label), None) != distance.row().split("\t"):
                different.append(f"{case.name}: {label}: {distance}")
    assert not different, "\n".join(different) + "\nrun tests/gpu/recorded.py again"


def kept(name):
    """(arguments, what the H200 made of them) of a case."""
    case = CASES[name]
    here, before, _ = engine_run.run(case)
    return before, Recording(FOLDER / "h200.npz").after(case, here)


@pytest.mark.parametrize("name", ["product.f32_tf32", "product.f32_tf32_large"])
def test_tensor_cores_cut_f32_to_tf32(name, collect):
    before, there = kept(name)
    cut = lambda x: (x.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32).astype(np.float64)
    sizes = np.abs(before["a"].astype(np.float64)) @ np.abs(before["b"].astype(np.float64)) + np.abs(before["c"])
    apart = np.abs(there["out"] - (cut(before["a"]) @ cut(before["b"]) + before["c"]))
    assert (apart <= 4 * 2**-24 * sizes).all()


def test_a_histogram_counts_modulo_the_bins(collect):
    before, there = kept("counts_outside_of_the_bins")
    assert (there["out"] == np.bincount(before["x"] % 32, minlength=32)).all()


@pytest.mark.parametrize("source", ["f16", "f32"])
def test_8_bits_are_cut_from_16_or_32(source, collect):
    """What does not fit is the nearest number of a wider type, of which the low bits are left."""
    before, there = kept(f"to_signed_out_of_range.{source}")
    x = np.nan_to_num(before["x"].astype(np.float64), nan=0.0)
    wide = {bits: np.clip(np.trunc(x), -(2.0**bits), 2.0**bits - 1).astype(np.int64).astype(np.int8) for bits in (15, 31)}
    assert ((there["a"] == wide[15]) | (there["a"] == wide[31])).all()
