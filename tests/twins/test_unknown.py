"""What cannot be executed is never silently right: the verdict is "unknown", by operation and line."""

import inspect

import numpy as np
import triton
import triton.language as tl

from twins.findings import Run


@triton.jit
def assembly(x, y, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0)
    v = tl.inline_asm_elementwise("match.any.sync.b32 $0, $1, -1;", "=r,r", [v], dtype=tl.int32, is_pure=True, pack=1)
    tl.store(y + i, v, mask=i < n)


def line_of(kernel, text):
    lines, first = inspect.getsourcelines(kernel.fn)
    return first + next(n for n, line in enumerate(lines) if text in line)


def test_inline_assembly(collect):
    x, y = np.arange(16, dtype=np.int32), np.zeros(16, np.int32)
    run = Run()
    report = run.check(assembly)[(1,)](x, y, 16, B=16)
    assert report.verdict == "unknown"
    assert run.findings == []
    text = report.text()
    assert "inline assembly" in text and f"test_unknown.py:{line_of(assembly, 'inline_asm')}" in text


@triton.jit
def branch_not_taken(x, y, fancy, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    if fancy > 0:
        v = tl.inline_asm_elementwise("match.any.sync.b32 $0, $1, -1;", "=r,r", [v], dtype=tl.int32, is_pure=True, pack=1)
    tl.store(y + i, v)


def test_what_is_not_reached_does_not_count(collect):
    x, y = np.arange(16, dtype=np.int32), np.zeros(16, np.int32)
    run = Run()
    report = run.check(branch_not_taken)[(1,)](x, y, 0, B=16)
    assert report.verdict == "ok" and (y == x).all()
    report = run.check(branch_not_taken)[(1,)](x, y, 2, B=16)
    assert report.verdict == "unknown"


@triton.jit
def faulty_before(x, y, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    v = tl.inline_asm_elementwise("match.any.sync.b32 $0, $1, -1;", "=r,r", [v], dtype=tl.int32, is_pure=True, pack=1)
    tl.store(y + i, v, mask=i < n)


def test_findings_before_it_are_kept(collect):
    run = Run()
    report = run.check(faulty_before)[(1,)](np.arange(12, dtype=np.int32), np.zeros(16, np.int32), 16, B=16)
    assert [f["kind"] for f in run.findings] == ["out-of-bounds"]
    assert report.verdict == "finding" and report.unknowns
