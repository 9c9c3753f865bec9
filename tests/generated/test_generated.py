"""Generated kernels: the engine agrees with their meaning in numpy, and with itself in every form and with any number
of threads. A failure names its seed."""

from collections import Counter

import numpy as np
import pytest

import nodes
import nodes_memory
from compare import disagreement
from launches import launcher_or_skip

FAST, SLOW = 280, 20000


@pytest.fixture(scope="module", params=["x86-64-v3", "x86-64-v4", "aarch64"])
def each(request):
    with launcher_or_skip(request.param) as launcher:
        yield launcher


@pytest.fixture(scope="module")
def launcher():
    with launcher_or_skip() as launcher:
        yield launcher


def check(seeds, launcher, counted, swept=None):
    counted(len(seeds), "generated kernels")
    found = [d for seed in seeds if (d := disagreement(seed, launcher, seed % 5 == 4, swept))]
    assert not found, "\n".join(found)


def test_some(each, counted):
    swept = Counter()
    check(range(FAST), each, counted, swept)
    # Addresses and masks were worked out for many programs and trips at once, with one thread and in ranges.
    assert all(swept[threads, what] > 1000 for threads in (1, 2) for what in ("programs", "trips", "accesses")), swept


def test_no_store_is_outside_of_a_memory_whose_size_is_no_power_of_two(launcher, counted):
    """Found by the soak: the generator's mistake."""
    check([300009669], launcher, counted)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(FAST, SLOW, 1400))
def test_many(first, launcher, counted):
    check(range(first, first + 1400), launcher, counted)


TABLES = {name: table for name, table in {**vars(nodes), **vars(nodes_memory)}.items() if name.isupper() and isinstance(table, dict) and name not in ("APPROXIMATE", "NARROW", "INTEGERS", "FLOATS")}


@pytest.mark.slow
@pytest.mark.parametrize("table, op", [(name, op) for name, table in TABLES.items() for op in table])
def test_a_wrong_meaning_is_seen(table, op, launcher, monkeypatch, counted):
    """The comparison can fail: whatever operation means something else, a kernel says so."""
    right = TABLES[table][op]

    def wrong(*operands):
        result = np.asarray(right(*operands))
        return ~result if result.dtype == bool else (result + 1).astype(result.dtype)

    monkeypatch.setitem(TABLES[table], op, wrong)
    counted(1, "wrong meanings")
    assert any(disagreement(seed, launcher) for seed in range(400))


FUNCTION = """module {
  tt.func public @kernel(%x: !tt.ptr<i32>) attributes {noinline = false} {
    %i = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %r = "tt.map_elementwise"(%i) <{pack = 1 : i32}> ({
    ^bb0(%a: i32):
      %t = tt.splat %a : i32 -> tensor<1xi32>
      %u = tt.unsplat %t : tensor<1xi32>
      tt.map_elementwise.return %u : i32
    }) : (tensor<16xi32>) -> tensor<16xi32>
    %p = tt.splat %x : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>>
    %q = tt.addptr %p, %i : tensor<16x!tt.ptr<i32>>, tensor<16xi32>
    tt.store %q, %r : tensor<16x!tt.ptr<i32>>
    tt.return
  }
}
"""


def test_tensors_in_a_function_of_elements_are_unknown(launcher):
    """Found by generated kernels: each element got the first one's value, silently."""
    argument = {"name": "x", "element": "i32", "shape": [16], "strides": [1], "offset": 0, "storage": 0}
    request = {"text": FUNCTION, "grid": [1, 1, 1], "threads": [1], "arguments": [argument]}
    [(run, _)] = launcher.run(request, [bytes(64)])
    assert run["unknowns"] == ["a tt.map_elementwise whose function uses tensors or memory cannot be executed"]


WAITING = """module {
  tt.func public @kernel(%x: !tt.ptr<i32>) attributes {noinline = false} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c3 = arith.constant 3 : i32
    %o = scf.for %k = %c0 to %c3 step %c1 iter_args(%a = %c0) -> (i32) : i32 {
      %w:2 = scf.while (%n = %c0, %v = %c0) : (i32, i32) -> (i32, i32) {
        %b = arith.cmpi slt, %n, %c1 : i32
        scf.condition(%b) %n, %v : i32, i32
      } do {
      ^bb0(%n: i32, %v: i32):
        %m = arith.addi %n, %c1 : i32
        %r = tt.load %x : !tt.ptr<i32>
        scf.yield %m, %r : i32, i32
      }
      scf.yield %w#1 : i32
    }
    tt.store %x, %o : !tt.ptr<i32>
    tt.return
  }
}
"""


def test_a_loop_that_is_entered_again_does_not_wait(launcher):
    """Found by the soak: seed 70002026, in the mixed form."""
    argument = {"name": "x", "element": "i32", "shape": [4], "strides": [1], "offset": 0, "storage": 0}
    request = {"text": WAITING, "grid": [1, 1, 1], "threads": [1], "arguments": [argument]}
    [(run, _)] = launcher.run(request, [bytes(16)])
    assert run["findings"] == []
