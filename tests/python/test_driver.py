"""Programs that ask about a device where there is none."""

import sys

import numpy as np
import pytest
import triton
import triton.language as tl
import triton.testing

import tilesight as ts
from recording import recorded


def test_device_properties_and_target():
    with recorded():
        from triton.runtime import driver

        active = driver.active
        device = active.get_current_device()
        properties = active.utils.get_device_properties(device)
        assert properties["warpSize"] == 32 and properties["max_shared_mem"] > 0
        assert active.get_current_target().backend == "cuda"
        assert active.get_current_stream(device) == 0


def test_num_sms_is_what_the_program_is_told():
    ts.config.num_sms = 4
    with recorded():
        assert triton.runtime.driver.active.utils.get_device_properties(0)["multiprocessor_count"] == 4


def test_a_compiled_kernel_can_be_launched():
    @triton.jit
    def fill(x_ptr, value, B: tl.constexpr):
        tl.store(x_ptr + tl.program_id(0) * B + tl.arange(0, B), value)

    x = np.zeros(16, np.float32)
    with recorded() as launches:
        compiled = fill.warmup(x, 2.0, B=8, grid=(1,))
        compiled[(2, 1, 1)](x, 3.0, 8)  # as Triton 3.6 and later want it
    assert launches[-1].grid == (2, 1, 1) and launches[-1].argument("B")[2] == "8"


def test_like_another_gpu(monkeypatch):
    monkeypatch.setenv("TILESIGHT_RUN_OPTIONS", '{"like": "mi300x"}')
    ts.config.reset()
    with recorded():
        properties = triton.runtime.driver.active.utils.get_device_properties(0)
    assert properties["warpSize"] == 64 and properties["multiprocessor_count"] == 304


def test_the_real_driver_comes_back():
    with recorded():
        triton.runtime.driver.active
    module = sys.modules["triton.runtime.driver"]
    assert module._create_driver.__module__ == "triton.runtime.driver"


def test_do_bench_runs_once():
    calls = []
    with recorded():
        assert triton.testing.do_bench(lambda: calls.append(1)) >= 0
        assert len(triton.testing.do_bench(lambda: calls.append(1), quantiles=[0.5, 0.2, 0.8])) == 3
    assert len(calls) == 2


def test_occupancy_can_be_computed_from_a_warmup():
    @triton.jit
    def kernel(x_ptr, B: tl.constexpr):
        tl.store(x_ptr + tl.arange(0, B), 0.0)

    with recorded():
        compiled = kernel.warmup(np.zeros(8, np.float32), B=8, num_warps=8, grid=(1,))
        compiled._init_handles()
        assert compiled.n_regs > 0
        assert compiled.metadata.shared > 0
        assert compiled.metadata.num_warps == 8


def test_interpreted_kernels_are_named(monkeypatch, capsys):
    monkeypatch.setenv("TRITON_INTERPRET", "1")

    @triton.jit
    def interpreted(x_ptr):
        tl.store(x_ptr, 0.0)

    monkeypatch.delenv("TRITON_INTERPRET")
    with recorded():
        try:
            interpreted[(1,)](np.zeros(4, np.float32))
        except Exception:
            pass  # Triton's interpreter does not take numpy arrays
    assert "interpreted runs under Triton's interpreter" in capsys.readouterr().err


def test_off_without_a_gpu_says_what_to_do():
    try:
        sys.modules["triton.runtime.driver"]._create_driver()
        pytest.skip("there is a GPU")
    except RuntimeError:
        pass

    @ts.trace()
    @triton.jit
    def fill(x_ptr):
        tl.store(x_ptr, 1.0)

    x = np.zeros(4, np.float32)
    ts.config.client = "off"
    with pytest.raises(RuntimeError, match='0 active drivers.*ts.config.client = "null"'):
        fill[(1,)](x)
    ts.config.client = "null"
    fill[(1,)](x)
    assert x[0] == 1


@pytest.mark.parametrize("gpu, programs, told", [("mi300x", 304, ""), ("h100", 304, "132 multiprocessors"),
                                                 ("a100", 120, "108 multiprocessors")])
def test_as_many_programs_are_resident_as_the_named_gpu_has_multiprocessors(tilesight_run, gpu, programs, told):
    done = tilesight_run("--like", gpu, "p.py", files={"p.py": f"""
        import numpy as np, triton, triton.language as tl

        @triton.jit
        def barrier(flag, n):
            tl.atomic_add(flag, 1)
            while tl.atomic_add(flag, 0) < n:
                pass

        barrier[({programs},)](np.zeros(1, np.int32), {programs})
    """})
    assert done.returncode == 0, done.stderr
    assert ("deadlock" in done.stderr) == bool(told)
    assert told in done.stderr
