"""@triton.autotune, @triton.heuristics and @ts.trace, in any order."""

import numpy as np
import pytest
import triton
import triton.language as tl

import tilesight as ts
from recording import recorded

# What Triton itself says to numpy arrays: without a GPU it wants a driver, with one it wants tensors.
NATIVE = "active drivers|failed to specialize"


def kernel_source(x_ptr, n, BLOCK: tl.constexpr, EVEN: tl.constexpr = False):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(x_ptr + offs, 1.0, mask=offs < n)


def configs(*blocks, **kwargs):
    return [triton.Config({"BLOCK": block}, num_warps=2 + 2 * (block > 32), **kwargs) for block in blocks]


def grid(meta):
    return (triton.cdiv(meta["n"], meta["BLOCK"]),)


def test_first_configuration_and_what_is_not_checked():
    kernel = triton.autotune(configs(64, 32, 16), key=["n"])(triton.jit(kernel_source))
    x = np.zeros(100, np.float32)
    with recorded() as launches:
        kernel[grid](x, 100)
        kernel[grid](x, 100)
    assert [got.argument("BLOCK")[2] for got in launches] == ["64", "64"]
    assert launches[0].grid == (2, 1, 1)
    assert launches[0].autotune["configuration"] == 1
    assert launches[0].autotune["of"] == 3
    assert launches[0].autotune["not_checked"] == 2
    assert "BLOCK=64" in launches[0].autotune["text"]
    assert kernel.best_config.kwargs == {"BLOCK": 64}


def test_pruning_comes_first():
    seen = []

    def prune(all_configs, nargs, **kwargs):
        seen.append(nargs["n"])
        return all_configs[1:]

    kernel = triton.autotune(configs(64, 32, 16), key=["n"], prune_configs_by={
        "early_config_prune": prune})(triton.jit(kernel_source))
    with recorded() as launches:
        kernel[grid](np.zeros(100, np.float32), 100)
    assert seen == [100]
    assert launches[0].argument("BLOCK")[2] == "32"
    assert launches[0].autotune["configuration"] == 2


def test_all_configurations_once_and_without_a_trace(tilesight_run):
    program = """
        import numpy as np, triton, triton.language as tl

        seen = []
        def configs():
            return [triton.Config({"BLOCK": block}, pre_hook=lambda nargs: seen.append(nargs["BLOCK"]))
                    for block in (64, 32, 16)]

        @triton.autotune(configs(), key=["n"])
        @triton.jit
        def kernel(x_ptr, n, BLOCK: tl.constexpr):
            offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
            tl.atomic_add(x_ptr + offs, 1.0, mask=offs < n + (BLOCK == 16))

        x = np.zeros(100, np.float32)
        grid = lambda meta: (triton.cdiv(100, meta["BLOCK"]),)
        kernel[grid](x, 100)
        kernel[grid](x, 100)  # tuned for this key
        assert (x == 2).all(), x
        assert seen == [32, 16, 64, 64], seen
        kernel[grid](x, 99)
        assert seen[4:] == [32, 16, 64], seen
        print("done")
    """
    done = tilesight_run("--all-configs", "p.py", files={"p.py": program})
    assert done.stdout == "done\n", done.stderr
    # Only BLOCK=16 goes past the end, which the first configuration alone does not show.
    assert done.returncode == 1 and "out-of-bounds" in done.stderr, done.stderr
    assert "7 launches" in done.stderr and "not checked (--all-configs)" not in done.stderr


def test_performance_model_decides_the_first():
    kernel = triton.autotune(configs(64, 32, 16), key=["n"], prune_configs_by={
        "perf_model": lambda BLOCK, **_: BLOCK, "top_k": 2})(triton.jit(kernel_source))
    with recorded() as launches:
        kernel[grid](np.zeros(100, np.float32), 100)
    assert launches[0].argument("BLOCK")[2] == "16"


def test_reset_to_zero_as_after_tuning():
    kernel = triton.autotune(configs(64, 32), key=["n"], reset_to_zero=["x_ptr"])(triton.jit(kernel_source))
    x = np.ones(100, np.float32)
    with recorded():
        kernel[grid](x, 100)
        assert (x == 0).all()
        x[:] = 5
        kernel[grid](x, 100)  # tuned already: nothing is reset
    assert (x == 5).all()


def test_restore_value_keeps_the_data():
    kernel = triton.autotune(configs(64, 32), key=["n"], restore_value=["x_ptr"])(triton.jit(kernel_source))
    x = np.ones(100, np.float32)
    with recorded() as launches:
        kernel[grid](x, 100)
    assert (x == 1).all() and len(launches) == 1


def test_hooks_of_configurations_run_before_the_launch():
    seen = []
    kernel = triton.autotune(configs(64, 32, pre_hook=lambda nargs: seen.append(nargs["BLOCK"])),
                             key=["n"])(triton.jit(kernel_source))
    with recorded():
        kernel[grid](np.zeros(100, np.float32), 100)
    assert seen == [64]


def test_one_configuration_says_nothing():
    kernel = triton.autotune(configs(64), key=["n"])(triton.jit(kernel_source))
    with recorded() as launches:
        kernel[grid](np.zeros(100, np.float32), 100)
    assert launches[0].autotune is None


@pytest.mark.parametrize("autotune_outside", [True, False])
def test_heuristics_in_either_order(autotune_outside):
    heuristics = triton.heuristics({"EVEN": lambda args: args["n"] % 2 == 0})
    autotune = triton.autotune(configs(64, 32), key=["n"])
    jit = triton.jit(kernel_source)
    kernel = autotune(heuristics(jit)) if autotune_outside else heuristics(autotune(jit))
    with recorded() as launches:
        kernel[grid](np.zeros(100, np.float32), 100)
    assert launches[0].argument("EVEN")[2] == "True"
    assert launches[0].argument("BLOCK")[2] == "64"


def test_conflicting_parameters_are_triton_s_error():
    kernel = triton.autotune(configs(64, 32), key=["n"])(triton.jit(kernel_source))
    with recorded(), pytest.raises(ValueError, match="Conflicting meta-parameters: BLOCK"):
        kernel[grid](np.zeros(100, np.float32), 100, BLOCK=16)


def test_warmup_of_an_autotuned_kernel_launches_nothing():
    kernel = triton.autotune(configs(64, 32), key=["n"])(triton.jit(kernel_source))
    with recorded() as launches:
        compiled = kernel.warmup(np.zeros(100, np.float32), 100, grid=(1,))
    assert len(compiled) == 2 and not launches


# --- @ts.trace -----------------------------------------------------------------------------------

def traced(order):
    steps = {
        "trace": ts.trace(client="sanitizer"),
        "jit": triton.jit,
        "autotune": triton.autotune(configs(64, 32), key=["n"]),
        "heuristics": triton.heuristics({"EVEN": lambda args: True}),
    }

    def fresh(x_ptr, n, BLOCK: tl.constexpr, EVEN: tl.constexpr = False):
        offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(x_ptr + offs, 1.0, mask=offs < n)

    kernel = fresh
    for step in order.split():
        kernel = steps[step](kernel)
    return kernel


@pytest.mark.parametrize("order", [
    "trace jit autotune heuristics", "jit trace autotune heuristics", "jit autotune trace heuristics",
    "jit autotune heuristics trace", "jit heuristics autotune trace"])
def test_trace_anywhere_in_the_stack(order):
    kernel = traced(order)
    with recorded(everything=False) as launches:
        kernel[grid](np.zeros(100, np.float32), 100)
    assert len(launches) == 1
    assert launches[0].clients == ["sanitizer"]


def test_kernels_without_trace_are_left_to_triton():
    kernel = triton.jit(kernel_source)
    with recorded(everything=False) as launches, pytest.raises((RuntimeError, TypeError), match=NATIVE):
        kernel[(1,)](np.zeros(100, np.float32), 100, BLOCK=64)
    assert not launches


def test_off_is_as_without_tilesight():
    kernel = traced("jit trace")
    ts.config.client = "off"
    with recorded(everything=False) as launches, pytest.raises((RuntimeError, TypeError), match=NATIVE):
        kernel[grid](np.zeros(100, np.float32), 100, BLOCK=64)
    assert not launches


def test_config_beats_environment_beats_decorator(monkeypatch):
    kernel = traced("jit trace")
    x = np.zeros(100, np.float32)
    with recorded(everything=False) as launches:
        kernel[grid](x, 100, BLOCK=64)
        monkeypatch.setenv("TILESIGHT_CLIENT", "tracer")
        kernel[grid](x, 100, BLOCK=64)
        ts.config.client = ["null"]
        kernel[grid](x, 100, BLOCK=64)
        monkeypatch.setenv("TILESIGHT_RUN_OPTIONS", '{"client": ["sanitizer", "tracer"]}')
        ts.config.reset()
        ts.config.client = "null"
        kernel[grid](x, 100, BLOCK=64)
    assert [got.clients for got in launches] == [["sanitizer"], ["tracer"], ["null"],
                                                 ["sanitizer", "tracer"]]


def test_trace_without_parentheses_is_refused():
    with pytest.raises(ts.Error, match="parentheses"):
        ts.trace(triton.jit(kernel_source))


@pytest.mark.parametrize("name, value", [("client", 3), ("on_finding", "stop"), ("num_sms", 0),
                                         ("threads", "many")])
def test_settings_are_checked(name, value):
    with pytest.raises(ts.Error, match=f"{name}|client"):
        setattr(ts.config, name, value)


def test_unknown_settings_are_refused():
    with pytest.raises(AttributeError, match="no setting 'clients'"):
        ts.config.clients = "sanitizer"
