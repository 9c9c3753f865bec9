"""What capture hands to the engine: the kernel's text and the description of its arguments."""

import collections
import threading

import numpy as np
import pytest
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from recording import recorded
from tilesight import Error
from tilesight.capture import arguments

TENSOR, SCALAR, DESCRIPTOR, SPECIALIZED = range(4)


@triton.jit
def scale(v, factor):
    return v * factor


@triton.jit
def copy(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    unused = tl.load(x_ptr + offs + 1)
    x = tl.load(x_ptr + offs, mask=offs < n)
    tl.store(y_ptr + offs, scale(x, 2), mask=offs < n)


def launch(x, y, n=None, grid=(1,), **kwargs):
    with recorded() as launches:
        copy[grid](x, y, x.size if n is None else n, BLOCK=64, **kwargs)
    return launches[0]


def test_text_is_raw_ttir_with_calls_unused_loads_and_locations():
    got = launch(np.zeros(100, np.float32), np.zeros(100, np.float32))
    text = got.kernel.text
    assert "tt.call" in text
    assert text.count("tt.load") == 2
    assert 'test_capture.py":' in text
    assert "extsi" not in text  # no overflow checks


def test_device_asserts_are_kept():
    @triton.jit
    def asserting(x_ptr, n):
        tl.device_assert(n > 3, "n is large")
        tl.store(x_ptr, n)

    with recorded() as launches:
        asserting[(1,)](np.zeros(4, np.int32), 7)
    assert 'tt.assert' in launches[0].kernel.text
    assert "n is large" in launches[0].kernel.text


def test_sources_are_those_of_the_user():
    got = launch(np.zeros(100, np.float32), np.zeros(100, np.float32))
    assert list(got.kernel.sources) == [__file__]
    assert "def copy(" in got.kernel.sources[__file__]


def test_arguments_in_signature_order():
    x, y = np.zeros(96, np.float32), np.zeros((4, 24), np.float16)
    got = launch(x, y)
    kinds = [(row[0], row[1]) for row in got.arguments]
    assert kinds == [(TENSOR, "x_ptr"), (TENSOR, "y_ptr"), (SCALAR, "n"), (SPECIALIZED, "BLOCK")]
    assert got.argument("x_ptr")[2:6] == ("f32", "float32", (96,), (1,))
    assert got.argument("y_ptr")[2:6] == ("f16", "float16", (4, 24), (24, 1))
    assert got.argument("n")[2:] == ("i32", 96, "tt.divisibility=16")
    assert got.argument("BLOCK")[2] == "64"
    address = y.__array_interface__["data"][0]
    assert got.storage_of("y_ptr")[:4] == [address, y.nbytes, address, True]


def test_integer_one_is_specialised_away():
    got = launch(np.zeros(100, np.float32), np.zeros(100, np.float32), n=1)
    assert got.argument("n") == (SPECIALIZED, "n", "1")
    assert "%n" not in got.kernel.text


def test_views_share_their_storage():
    whole = np.zeros((10, 10), np.float32)
    got = launch(whole[2:, 1::2], whole[::-1])
    x, y = got.argument("x_ptr"), got.argument("y_ptr")
    assert len(got.storages) == 1
    assert got.storages[0][1] == 400
    assert (x[4], x[5], x[6]) == ((8, 5), (10, 2), (2 * 10 + 1) * 4)
    assert (y[4], y[5], y[6]) == ((10, 10), (-10, 1), 90 * 4)


def test_zero_strides():
    got = launch(np.broadcast_to(np.float32(3), (8, 8)), np.zeros(64, np.float32), n=64)
    assert got.argument("x_ptr")[5] == (0, 0)
    assert got.storage_of("x_ptr")[1] == 4


def test_arrays_over_buffers_find_the_buffer():
    buffer = bytearray(400)
    got = launch(np.frombuffer(buffer, np.float32, count=20, offset=40), np.zeros(20, np.float32))
    assert got.storage_of("x_ptr")[1] == 400
    assert got.argument("x_ptr")[6] == 40


def test_overlapping_allocations_become_one():
    class Part:
        def __init__(self, array):
            self.array, self.dtype, self.shape = array, array.dtype, array.shape

        def data_ptr(self):
            return self.array.__array_interface__["data"][0]

    whole = np.zeros(100, np.float32)
    with recorded() as launches:
        copy[(1,)](Part(whole[:60]), Part(whole[40:]), 60, BLOCK=64)
    got = launches[0]
    assert len(got.storages) == 1
    assert got.storages[0][1] == 400
    assert got.storages[0][3] is False
    assert got.argument("y_ptr")[6] == 160


def test_read_only_arrays_are_used_in_place():
    x = np.arange(100, dtype=np.float32)
    x.flags.writeable = False
    captured = launch(x, np.zeros(100, np.float32))
    row = captured.storage_of("x_ptr")
    assert row[5] is None and row[7] is True
    assert captured.argument("x_ptr")[8] is True and captured.argument("y_ptr")[8] is False


def test_object_without_extent_is_refused():
    class Bare:
        dtype = np.dtype("float32")

        def data_ptr(self):
            return 4096

    with recorded(), pytest.raises(Error, match="x_ptr.*neither shape nor nbytes"):
        copy[(1,)](Bare(), np.zeros(4, np.float32), 4, BLOCK=64)


@pytest.mark.parametrize("value, element, bits", [
    (5, "i32", 5), (-5, "i32", 2**64 - 5), (2**31, "i64", 2**31), (2**63, "i64", 2**63),
    (True, "i1", 1), (1.5, "f32", 0x3FC00000), (np.int64(7), "i32", 7), (np.float32(1.5), "f32", 0x3FC00000),
    (np.bool_(False), "i1", 0), (1e300, "f32", 0x7F800000),
])
def test_scalars(value, element, bits):
    @triton.jit
    def put(x_ptr, value):
        tl.store(x_ptr, value)

    with recorded() as launches:
        put[(1,)](np.zeros(4, np.float32), value)
    assert launches[0].argument("value")[2:4] == (element, bits)


def test_annotated_scalars_have_the_annotated_type():
    @triton.jit
    def put(x_ptr, a: tl.float16, b: tl.bfloat16, c: tl.int64, d: tl.float64):
        tl.store(x_ptr, a + b + c + d)

    with recorded() as launches:
        put[(1,)](np.zeros(4, np.float32), 1.5, 1.5, 3, 0.1)
    got = launches[0]
    assert got.argument("a")[2:4] == ("f16", 0x3E00)
    assert got.argument("b")[2:4] == ("bf16", 0x3FC0)
    assert got.argument("c")[2:4] == ("i64", 3)
    assert got.argument("d")[2:4] == ("f64", 0x3FB999999999999A)


@pytest.mark.parametrize("name, element", [
    ("bool", "i1"), ("int8", "i8"), ("uint8", "i8"), ("int16", "i16"), ("uint16", "i16"),
    ("uint32", "i32"), ("int64", "i64"), ("uint64", "i64"), ("float64", "f64")])
def test_dtypes(name, element):
    assert launch(np.zeros(8, name), np.zeros(8, name)).argument("x_ptr")[2:4] == (element, name)


def test_tuples_none_strings_types_and_functions():
    Pair = collections.namedtuple("Pair", "ptr value nothing")

    @triton.jit
    def mixed(t, pair, none, MODE: tl.constexpr, fn: tl.constexpr, dtype: tl.constexpr):
        v = fn(tl.load(t[0]), t[1]) + pair.value
        if MODE == "add":
            v += 1
        if none is None:
            tl.store(pair.ptr, v.to(dtype))

    a, b = np.zeros(4, np.float32), np.zeros(4, np.float32)
    with recorded() as launches:
        mixed[(1,)]((a, 3), Pair(b, 2.5, None), None, "add", scale, tl.float32)
    got = launches[0]
    assert [(row[0], row[1]) for row in got.arguments] == [
        (TENSOR, "t.0"), (SCALAR, "t.1"), (TENSOR, "pair.ptr"), (SCALAR, "pair.value"),
        (SPECIALIZED, "pair.nothing"), (SPECIALIZED, "none"), (SPECIALIZED, "MODE"),
        (SPECIALIZED, "fn"), (SPECIALIZED, "dtype")]
    assert [row[2] for row in got.arguments[5:]] == ["None", '"add"', "scale", "fp32"]


def test_host_descriptors_over_numpy_arrays():
    @triton.jit
    def move(d, n, BLOCK: tl.constexpr):
        v = d.load([n, 0])
        d.store([n + BLOCK, 0], v)

    storage = np.zeros(64 * 64 + 8, np.float16)
    shift = (-storage.__array_interface__["data"][0] // 2) % 8
    array = storage[shift:shift + 64 * 64].reshape(64, 64)
    with recorded() as launches:
        descriptor = TensorDescriptor.from_tensor(array, [8, 32])
        move[(1,)](descriptor, 4, 8)
    row = launches[0].argument("d")
    assert descriptor.base is array
    assert row[0] == DESCRIPTOR and row[2:4] == ("f16", "float16")
    assert row[4:6] == ((64, 64), (64, 1))
    assert row[6] == 2 * shift and row[8:] == (False, (8, 32), False)
    assert "tt.descriptor_load" in launches[0].kernel.text


def test_grids():
    x, y = np.zeros(100, np.float32), np.zeros(100, np.float32)
    assert launch(x, y, grid=(3,)).grid == (3, 1, 1)
    assert launch(x, y, grid=[3, 2]).grid == (3, 2, 1)
    assert launch(x, y, grid=(np.int64(3), 2, 5)).grid == (3, 2, 5)
    assert launch(x, y, grid=7).grid == (7, 1, 1)
    assert launch(x, y, grid=(0,)).grid == (0, 1, 1)
    seen = {}

    def grid(meta):
        seen.update(meta)
        return (triton.cdiv(meta["n"], meta["BLOCK"]),)

    assert launch(x, y, grid=grid).grid == (2, 1, 1)
    assert seen["x_ptr"] is x and seen["BLOCK"] == 64


def test_grid_of_fractions_is_refused():
    with recorded(), pytest.raises(TypeError):
        copy[(1.5,)](np.zeros(4, np.float32), np.zeros(4, np.float32), 4, BLOCK=64)


def test_run_and_warmup():
    x, y = np.zeros(100, np.float32), np.zeros(100, np.float32)
    with recorded() as launches:
        copy.run(x, y, 100, BLOCK=64, grid=(2,), warmup=False)
        compiled = copy.warmup(x, y, 100, BLOCK=64, grid=(2,))
    assert len(launches) == 1
    assert "tt.func" in compiled.asm["ttir"]


def test_same_kinds_of_arguments_share_a_specialisation():
    x, y = np.zeros(96, np.float32), np.zeros(96, np.float32)
    first, second = launch(x, y, n=96), launch(y, x, n=80)
    assert first.kernel is second.kernel
    assert launch(x, y, n=81).kernel is not first.kernel


def test_constants_that_are_equal_but_of_other_types_differ():
    @triton.jit
    def kind(x_ptr, C: tl.constexpr):
        tl.store(x_ptr, C * 1.5)

    x = np.zeros(4, np.float32)
    with recorded() as launches:
        for constant in (1, True, 1.0):
            kind[(1,)](x, constant)
    assert len({id(got.kernel) for got in launches}) == 3


def test_options_reach_the_configuration():
    got = launch(np.zeros(4, np.float32), np.zeros(4, np.float32), num_warps=8)
    assert got.kernel.config == {"constexprs": {"BLOCK": "64"}, "options": {"num_warps": 8}}


def test_unknown_keyword_is_triton_s_error():
    with recorded(), pytest.raises(KeyError, match="no_such"):
        launch(np.zeros(4, np.float32), np.zeros(4, np.float32), no_such=1)


def test_pre_run_hooks_run():
    seen = []
    copy.add_pre_run_hook(lambda *args, **kwargs: seen.append(kwargs))
    try:
        launch(np.zeros(4, np.float32), np.zeros(4, np.float32))
    finally:
        copy.pre_run_hooks.clear()
    assert seen == [{"BLOCK": 64}]


def test_launches_from_threads():
    x, y = np.zeros(96, np.float32), np.zeros(96, np.float32)
    with recorded() as launches:
        threads = [threading.Thread(target=lambda: copy[(1,)](x, y, 96, BLOCK=64)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(launches) == 8
    assert len({id(got.kernel) for got in launches}) == 1


def test_kernels_from_exec_bring_their_source():
    import linecache

    source = ("import triton\nimport triton.language as tl\n\n"
              "@triton.jit\ndef made(x_ptr):\n    tl.store(x_ptr, 1.0)\n")
    linecache.cache["<cell 1>"] = (len(source), None, source.splitlines(True), "<cell 1>")
    space = {}
    exec(compile(source, "<cell 1>", "exec"), space)
    with recorded() as launches:
        space["made"][(1,)](np.zeros(4, np.float32))
    assert launches[0].kernel.sources == {"<cell 1>": source}


def test_changed_global_is_refused_as_by_triton():
    source = "import triton\nimport triton.language as tl\nK = tl.constexpr(3)\n\n@triton.jit\ndef uses(x_ptr):\n    tl.store(x_ptr, K)\n"
    import linecache
    linecache.cache["<cell 2>"] = (len(source), None, source.splitlines(True), "<cell 2>")
    space = {"__name__": "cell2"}
    exec(compile(source, "<cell 2>", "exec"), space)
    x = np.zeros(4, np.float32)
    with recorded():
        space["uses"][(1,)](x)
        space["K"] = tl.constexpr(4)
        with pytest.raises(RuntimeError, match="Global variable K has changed"):
            space["uses"][(1,)](x)


def test_scalar_bits_round_like_the_type():
    assert arguments.scalar_bits(1.00390625, "bf16", "v") == 0x3F80  # tie to even
    assert arguments.scalar_bits(float("nan"), "bf16", "v") == 0x7FC0
    assert arguments.scalar_bits(70000.0, "f16", "v") == 0x7C00
    assert arguments.scalar_bits(200, "i8", "v") == 2**64 - 56
