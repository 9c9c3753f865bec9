"""The ways in which programs in the wild launch kernels: each program checks its own result, and every launch is seen."""

import textwrap

import pytest

HEAD = """
    import numpy as np, triton, triton.language as tl

    @triton.jit
    def add_one(x_ptr, n, B: tl.constexpr):
        offs = tl.program_id(0) * B + tl.arange(0, B)
        tl.atomic_add(x_ptr + offs, 1.0, mask=offs < n)

    x = np.zeros(100, np.float32)
    grid = lambda meta: (triton.cdiv(100, meta["B"]),)
"""

STYLES = {
    "kernel.run": ("""
        add_one.run(x, 100, B=64, grid=(2,), warmup=False)
        add_one.run(x, 100, 64, grid=grid, warmup=False, num_warps=8)
        assert (x == 2).all()
    """, "add_one: 2 launches, ok"),
    "warmup launches nothing, its result does": ("""
        compiled = add_one.warmup(x, 100, B=64, grid=(2,))
        assert (x == 0).all() and "tt.func" in compiled.asm["ttir"] and compiled.metadata.num_warps == 4
        compiled[(2, 1, 1)](x, 100)
        assert (x == 1).all()
    """, "add_one: 1 launch, ok"),
    "do_bench runs once": ("""
        assert triton.testing.do_bench(lambda: add_one[grid](x, 100, B=64)) > 0
        assert len(triton.testing.do_bench(lambda: add_one[grid](x, 100, B=64), quantiles=[0.5, 0.2, 0.8])) == 3
        assert (x == 2).all()
    """, "add_one: 2 launches, ok"),
    "perf_report": ("""
        @triton.testing.perf_report(triton.testing.Benchmark(
            x_names=["n"], x_vals=[64, 100], line_arg="provider", line_vals=["a", "b"], line_names=["A", "B"],
            plot_name="adding", args={}))
        def benchmark(n, provider):
            seen.append((n, provider))
            return triton.testing.do_bench(lambda: add_one[grid](x, n, B=64), quantiles=[0.5, 0.2, 0.8])
        seen = []
        try:
            import matplotlib, pandas
        except ImportError:  # what Triton's run draws and tabulates with: as without them on a GPU
            for n in (64, 100):
                benchmark.fn(n, "a")
        else:
            benchmark.run(print_data=False)
        assert {n for n, _ in seen} == {64, 100} and (x[:64] > x[64:].max()).all()
    """, "add_one: "),
    "user's hooks around tuning": ("""
        calls = []
        tuned = triton.autotune([triton.Config({"B": 64}), triton.Config({"B": 32})], key=["n"],
                                pre_hook=lambda nargs, reset_only=False: calls.append(("pre", reset_only)),
                                post_hook=lambda nargs, exception: calls.append(("post", exception)))(add_one)
        tuned[grid](x, 100); tuned[grid](x, 100)
        assert (x == 2).all() and calls == [("pre", True)], calls
    """, "add_one: 2 launches, ok"),
    "heuristics over autotune over helpers of another module": ("""
        import later
        y = np.ones(100, np.float32)
        later.scale[grid](y, 100)
        assert (y == 3).all()
    """, "scale: 1 launch, ok"),
    "modules imported in a function": ("""
        def work():
            import importlib
            return importlib.import_module("later")
        y = np.ones(100, np.float32)
        work().scale[grid](y, 100)
        assert (y == 3).all()
    """, "scale: 1 launch, ok"),
    "objects like tensors": ("""
        class Sized:
            def __init__(self, array):
                self.address, self.dtype, self.shape, self.owner = array.ctypes.data, array.dtype, array.shape, [array]
            def data_ptr(self):
                return self.address
        class Bare:  # which allocation it is in, its attribute tells
            def __init__(self, array):
                self.array, self.dtype = array, array.dtype
            def data_ptr(self):
                return self.array.ctypes.data
        add_one[grid](Sized(x), 100, B=64)
        add_one[grid](Bare(x), 100, B=64)
        add_one[(1,)](Bare(x[50:]), 50, B=64)
        assert (x[:50] == 2).all() and (x[50:] == 3).all()
    """, "add_one: 3 launches, ok"),
    "pointer tables": ("""
        @triton.jit
        def grouped(table, sizes, count, B: tl.constexpr):
            for g in range(tl.program_id(0), count, tl.num_programs(0)):
                p = tl.load(table + g).to(tl.pointer_type(tl.float32))
                offs = tl.arange(0, B)
                mask = offs < tl.load(sizes + g)
                tl.store(p + offs, tl.load(p + offs, mask=mask) * 2, mask=mask)
        arrays = [np.full(n, n, np.float32) for n in (3, 17, 30)]
        import tilesight as ts  # numpy's own addresses are not seen; torch's are
        table = np.array([ts.data_ptr(a) for a in arrays], np.int64)
        grouped[(2,)](table, np.array([3, 17, 30], np.int32), 3, B=32)
        assert all((a == 2 * len(a)).all() for a in arrays)
    """, "grouped: 1 launch, ok"),
}

LATER = """
import triton, triton.language as tl
from helpers import twice

@triton.heuristics({"EVEN": lambda args: args["n"] % 64 == 0})
@triton.autotune([triton.Config({"B": 64}), triton.Config({"B": 32})], key=["n"])
@triton.jit
def scale(x_ptr, n, B: tl.constexpr, EVEN: tl.constexpr = False):
    offs = tl.program_id(0) * B + tl.arange(0, B)
    if EVEN:
        tl.store(x_ptr + offs, twice(tl.load(x_ptr + offs)) + 1)
    else:
        tl.store(x_ptr + offs, twice(tl.load(x_ptr + offs, mask=offs < n)) + 1, mask=offs < n)
"""
HELPERS = """
import triton, triton.language as tl

@triton.jit
def twice(x):
    return x * 2
"""


@pytest.mark.parametrize("style", STYLES)
def test_launch_styles(tilesight_run, style):
    body, said = STYLES[style]
    done = tilesight_run("p.py", files={"p.py": HEAD + body.replace("\n    ", "\n"), "later.py": LATER,
                                        "helpers.py": HELPERS})
    assert done.returncode == 0, done.stdout + done.stderr
    assert said in done.stderr


def test_interpreter_mode_in_the_program_s_own_environment(tilesight_run):
    program = "import os; os.environ['TRITON_INTERPRET'] = '1'\n" + textwrap.dedent(HEAD) + "add_one[grid](x, 100, B=64)\n"
    done = tilesight_run("p.py", files={"p.py": program}, env={"TRITON_INTERPRET": "1"})
    assert done.returncode == 0 and "add_one: 1 launch, ok" in done.stderr, done.stderr


TUNED = """
    import numpy as np, sys, triton, triton.language as tl

    calls = []

    def hooks():
        return dict(pre_hook=lambda nargs, reset_only=False: calls.append(("pre", reset_only, nargs["B"])),
                    post_hook=lambda nargs, exception: calls.append(("post", exception, nargs["B"])))

    def tuned(**options):
        @triton.autotune([triton.Config({"B": block}) for block in (64, 32, 16)], key=["n"], **options)
        @triton.jit
        def kernel(x_ptr, n, B: tl.constexpr):
            offs = tl.program_id(0) * B + tl.arange(0, B)
            tl.atomic_add(x_ptr + offs, 1.0, mask=offs < n)
        return kernel

    grid = lambda meta: (triton.cdiv(100, meta["B"]),)
    x = np.full(100, 5, np.float32)
"""


@pytest.mark.parametrize("body, launches", [
    ("""
    tuned(reset_to_zero=["x_ptr"])[grid](x, 100)
    assert (x == 1).all(), x
    """, 3),
    ("""
    tuned(restore_value=["x_ptr"])[grid](x, 100)
    assert (x == 6).all(), x
    """, 3),
    ("""
    tuned(restore_value=["x_ptr"], reset_to_zero=["x_ptr"])[grid](x, 100)
    assert (x == 1).all(), x
    """, 3),
    ("""
    tuned(**hooks())[grid](x, 100)
    assert (x == 6).all(), x
    assert calls == [("pre", False, 32), ("post", None, 32), ("pre", False, 16), ("post", None, 16),
                     ("pre", True, 64)], calls
    """, 3),
], ids=["reset_to_zero", "restore_value", "both", "hooks"])
def test_all_configurations_keep_what_tuning_promises(tilesight_run, body, launches):
    done = tilesight_run("--all-configs", "p.py", files={"p.py": TUNED + body})
    assert done.returncode == 0, done.stderr
    assert f"kernel: {launches} launches, ok" in done.stderr


def test_configurations_that_pruning_takes_out_are_not_checked(tilesight_run):
    body = """
    tuned(prune_configs_by={"early_config_prune": lambda configs, nargs, **_: configs[:2]})[grid](x, 100)
    """
    done = tilesight_run("--all-configs", "p.py", files={"p.py": TUNED + body})
    assert done.returncode == 0, done.stderr
    assert "kernel: 2 launches, ok" in done.stderr
    assert "kernel: 2 of 3 autotune configurations checked; 1 not checked (pruned" in " ".join(done.stderr.split())
    assert done.stderr.count("autotune configurations") == 1, "one line for all configurations"


def test_a_configuration_that_a_static_assert_takes_out_is_not_checked(tilesight_run):
    program = """
        import numpy as np, triton, triton.language as tl
        @triton.autotune([triton.Config({"B": b}) for b in (64, 32, 16)], key=["n"])
        @triton.jit
        def kernel(x_ptr, n, B: tl.constexpr):
            tl.static_assert(B != 32)
            o = tl.program_id(0) * B + tl.arange(0, B)
            tl.store(x_ptr + o, 1.0, mask=o < n)
        kernel[lambda m: (triton.cdiv(100, m["B"]),)](np.zeros(100, np.float32), 100)
    """
    done = tilesight_run("--all-configs", "p.py", files={"p.py": program})
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stderr.split())
    assert "2 of 3 autotune configurations checked; 1 not checked (pruned, or refused by a static_assert)" in said
    assert "refused by Triton" not in said


def test_threads_share_a_tuned_kernel(tilesight_run):
    body = """
    import threading
    kernel = tuned()
    arrays = [np.zeros(100 + i % 2, np.float32) for i in range(8)]
    threads = [threading.Thread(target=lambda a=a: [kernel[grid](a, 100) for _ in range(5)]) for a in arrays]
    [t.start() for t in threads]; [t.join() for t in threads]
    assert all((a[:100] == 5).all() for a in arrays)
    """
    done = tilesight_run("--all-configs", "p.py", files={"p.py": TUNED + body})
    assert done.returncode == 0, done.stderr
    assert "kernel: 42 launches, ok" in done.stderr  # 40, and two configurations tried once


@pytest.mark.parametrize("spelling", ["tl.math.tanh", "tl.libdevice.tanh", "tl.extra.cuda.libdevice.tanh",
                                      "tl.extra.libdevice.tanh", "libdevice.tanh"])
def test_old_spellings_of_libdevice(tilesight_run, spelling):
    """A spelling that this Triton has is run; one that it has not is its own error, named with the line."""
    program = f"""
        import numpy as np, triton, triton.language as tl
        from triton.language.extra import libdevice

        @triton.jit
        def kernel(x_ptr, y_ptr, B: tl.constexpr):
            offs = tl.arange(0, B)
            tl.store(y_ptr + offs, {spelling}(tl.load(x_ptr + offs)))

        there = True
        try:
            eval("{spelling}", dict(tl=tl, libdevice=libdevice))
        except AttributeError:
            there = False
        x, y = np.linspace(-2, 2, 64, dtype=np.float32), np.zeros(64, np.float32)
        try:
            kernel[(1,)](x, y, B=64)
        except Exception as error:
            assert not there and "has no attribute" in str(error), error
            print("refused")
        else:
            assert there and abs(y - np.tanh(x.astype(np.float64))).max() < 1e-6
            print("ran")
    """
    done = tilesight_run("p.py", files={"p.py": program})
    if done.stdout == "ran\n":
        assert done.returncode == 0 and "kernel: 1 launch, ok" in done.stderr, done.stderr
    else:
        assert done.stdout == "refused\n" and done.returncode != 0, done.stdout + done.stderr
        assert "p.py:8" in done.stderr and "has no attribute" in done.stderr, done.stderr
