"""Passes in Triton's own compilation, for a CUDA target without a GPU: they fire, and what they changed is compiled."""

import re

import pytest

triton = pytest.importorskip("triton")

import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

import tilesight as ts
from tilesight.triton import install_passes


@triton.jit
def tail(x, y, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    for start in range(0, n, BLOCK):
        mask = start + offsets < n
        tl.store(y + start + offsets, tl.load(x + start + offsets, mask=mask) + 1, mask=mask)


@triton.jit
def product(a, b, c, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    left = tl.load(a + i[:, None] * BLOCK + i[None, :])
    sum = tl.zeros((BLOCK, BLOCK), tl.float32)
    for k in range(0, n):
        right = tl.load(b + k * BLOCK * BLOCK + i[:, None] * BLOCK + i[None, :])
        sum = tl.dot(left, right, sum)
    tl.store(c + i[:, None] * BLOCK + i[None, :], sum)


@triton.jit
def slices(x, y, n, BLOCK: tl.constexpr):
    d = tl.make_tensor_descriptor(x, [n, BLOCK, BLOCK], [BLOCK * BLOCK, BLOCK, 1], [1, BLOCK, BLOCK])
    tile = d.load([tl.program_id(0), 0, 0]).reshape(BLOCK, BLOCK)
    i = tl.arange(0, BLOCK)
    tl.store(y + tl.program_id(0) * BLOCK * BLOCK + i[:, None] * BLOCK + i[None, :], tile)


def compiled(kernel, signature, capability=80):
    source = ASTSource(kernel, signature=signature, constexprs={"BLOCK": 32})
    return triton.compile(source, target=GPUTarget("cuda", capability, 32))


@pytest.fixture(autouse=True)
def cache_of_its_own(monkeypatch, tmp_path):
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("TRITON_DEFAULT_FP_FUSION", "1")


@pytest.fixture
def install():
    installed = []

    def put(*arguments, **options):
        installed.append(install_passes(*arguments, **options))
        return installed[-1]

    yield put
    for passes in reversed(installed):
        passes.remove()


TAIL = {"x": "*fp32", "y": "*fp32", "n": "i32", "BLOCK": "constexpr"}
SLICES = {"x": "*fp16", "y": "*fp16", "n": "i32", "BLOCK": "constexpr"}
PRODUCT = {"a": "*fp16", "b": "*fp16", "c": "*fp32", "n": "i32", "BLOCK": "constexpr"}


def test_a_pass_on_ttir_fires_and_its_result_is_compiled(install):
    assert "arith.cmpi" in compiled(tail, TAIL).asm["ttir"]
    passes = install(["remove-boundary-checks{assume=n%32=0}"])
    ttir = compiled(tail, TAIL).asm["ttir"]
    assert [(r["kind"], r["rule"]) for r in passes.remarks] == [("done", "mask-always-true")] * 2
    assert "arith.cmpi" not in ttir, "nothing asks for the mask any more"
    assert passes.remarks[0]["file"] == __file__ and passes.remarks[0]["line"] > 1


def test_without_the_promise_the_mask_stays_and_says_so(install):
    passes = install("remove-boundary-checks")
    assert "arith.cmpi" in compiled(tail, TAIL).asm["ttir"]
    assert {(r["kind"], r["rule"]) for r in passes.remarks} == {("refused", "mask-not-proved")}


def test_a_pass_on_ttgir_runs_before_loops_are_pipelined(install):
    passes = install(["hoist-layout-conversions"])
    ttgir = compiled(product, PRODUCT).asm["ttgir"]
    assert "tt.dot" in ttgir or "warp_group_dot" in ttgir
    hoisted = [r for r in passes.remarks if r["operation"] == "ttg.convert_layout"]
    assert ("done", "invariant-source") in {(r["kind"], r["rule"]) for r in hoisted}
    # Triton makes an allocation and a load of a conversion, and puts the load back to the dot; the allocation stays where
    # the conversion was moved to.
    stored = re.search(r"ttg\.local_alloc %left", ttgir)
    assert stored and stored.start() < ttgir.index("scf.for")


@pytest.mark.parametrize("capability, stage", [(90, "ttir"), (90, "ttgir"), (100, "ttgir")])
def test_a_descriptor_of_lower_rank_is_compiled(install, capability, stage):
    before = compiled(slices, SLICES, capability).asm
    assert "1x32x32xf16" in before["ttir"]
    passes = install(["fuse-reshape"])
    text = compiled(slices, SLICES, capability).asm[stage]
    assert [(r["kind"], r["rule"]) for r in passes.remarks] == [("done", "base-with-a-check")]
    assert passes.remarks[0]["file"] == __file__ and passes.remarks[0]["line"] > 1
    assert "1x32x32xf16" not in text and re.search(r"tensordesc<(tensor<)?32x32xf16", text)


def test_caches_know_passes_and_their_options(install):
    keys = []
    for passes in ("cse", "dce", "cse", "remove-boundary-checks", "remove-boundary-checks{assume=n%32=0}"):
        installed = install_passes(passes)
        keys.append(installed._hook())
        installed.remove()
    assert keys[0] == keys[2] and len(set(keys)) == 4


@ts.pass_(stage="ttir")
def count_loads(module, *, least: int = 1):
    """say how many loads there are"""
    module.note(None, f"{len(module.walk('tt.load'))} loads, at least {least}", rule="count")


def test_a_pass_in_python_runs_inside_of_triton(install):
    passes = install(["canonicalize", count_loads(least=0)])
    compiled(tail, TAIL)
    assert [r["message"] for r in passes.remarks if r["pass"] == "count-loads"] == ["1 loads, at least 0"]

    @ts.pass_(stage="ttgir")
    def fails(module):
        raise ValueError("not this one")

    install(fails)
    with pytest.raises(ts.Error, match=r"pass 'fails' failed and was undone: ValueError: not this one \(.*test_install_passes.py:\d+, in fails"):
        compiled(tail, {**TAIL, "n": "i64"})


def test_caches_know_the_source_of_a_pass_in_python(install):
    one, other = install(count_loads), install(count_loads(least=2))
    assert one.key() != other.key() != install("cse").key()
    assert one.key() == install(count_loads).key()


def test_isolated_passes_run_too(install):
    passes = install(["remove-boundary-checks{assume=n%32=0}"], isolate=True)
    compiled(tail, TAIL)
    assert [(r["kind"], r["rule"]) for r in passes.remarks] == [("done", "mask-always-true")] * 2


def test_what_is_wrong_is_an_error(install):
    install("canonicalise")
    with pytest.raises(ts.Error, match="canonicalise"):
        compiled(tail, TAIL)
    with pytest.raises(ts.Error, match="there is no stage 'llir'"):
        install_passes("cse", stage="llir")
