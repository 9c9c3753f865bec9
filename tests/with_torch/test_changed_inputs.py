"""Tensors of torch count what changes them: an input that was changed after its launch is known by that (`_version`),
also where none of the bytes that are looked at is another."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import tilesight as ts  # noqa: E402
import triton  # noqa: E402
import triton.language as tl  # noqa: E402

ROWS, COLUMNS = 4096, 32  # 512 KiB: of so much, some of the bytes are looked at
UNSEEN = (156, 8)  # between them (tests/python/test_trace_inputs.py)


@triton.jit
def totals(x_ptr, y_ptr, COLUMNS: tl.constexpr):
    row = tl.program_id(0)
    total = tl.sum(tl.load(x_ptr + row * COLUMNS + tl.arange(0, COLUMNS)))
    tl.store(y_ptr + row, total)


def numbers():
    return (torch.arange(ROWS * COLUMNS, dtype=torch.float32) % 7).reshape(ROWS, COLUMNS)


def launched(x):
    y = torch.zeros(ROWS)
    report = ts.check(totals, client="tracer")[(ROWS,)](x, y, COLUMNS=COLUMNS)
    assert torch.equal(y, x.detach().sum(1))
    return report


def set_element(x):
    x[UNSEEN] = 1000


def set_in_a_view(x):
    x.view(-1)[UNSEEN[0] * COLUMNS + UNSEEN[1]] = 1000


def set_in_a_slice(x):
    x[100:200][56, 8] = 1000


def add_nothing(x):
    x += 0  # no byte is another, but nobody can tell


def set_detached(x):
    x.detach()[UNSEEN] = 1000


def copy_over(x):
    x.copy_(numbers().add_(1))


@pytest.mark.parametrize("change", [set_element, set_in_a_view, set_in_a_slice, add_nothing, set_detached, copy_over],
                         ids=lambda f: f.__name__)
def test_a_change_is_known_by_the_count(change):
    x = numbers()
    report = launched(x)
    assert report.trace.at("total", program=4000) == x[4000].sum()
    counted = x._version
    change(x)
    assert x._version != counted
    with pytest.raises(ts.Error, match="tensor x_ptr has changed since the launch.*cannot be computed again.*keep_inputs"):
        report.trace.at("total", program=4000)


def test_the_launch_was_of_a_view_and_the_whole_was_changed():
    whole = numbers()
    report = launched(whole[:].view(ROWS, COLUMNS))
    whole[UNSEEN] = 1000
    with pytest.raises(ts.Error, match="tensor x_ptr has changed since the launch"):
        report.trace.at("total", program=4000)


def test_a_parameter_that_an_optimizer_changed():
    weight = torch.nn.Parameter(numbers())
    report = launched(weight)
    weight.grad = torch.zeros_like(weight)
    weight.grad[UNSEEN] = 1
    torch.optim.SGD([weight], lr=1.0).step()
    with pytest.raises(ts.Error, match="tensor x_ptr has changed since the launch"):
        report.trace.at("total", program=4000)


def test_reading_counts_as_no_change():
    x = numbers()
    report = launched(x)
    x.sum(), x + 1, x.clone().add_(1), x.numpy().max(), launched(x)
    assert report.trace.at("total", program=4000) == x[4000].sum()


def test_what_torch_does_not_count_is_known_by_what_the_program_stores():
    x = numbers()
    report = launched(x)
    expected = x[157].sum()
    counted = x._version
    x.numpy()[UNSEEN] = 1000  # through numpy
    assert x._version == counted
    with pytest.raises(ts.Error, match=r"program \(156, 0, 0\) stores to tensor y_ptr something else than it holds now"):
        report.trace.at("total", program=156)
    assert report.trace.at("total", program=157) == expected


def test_tensors_without_a_count():
    with torch.inference_mode():
        x = numbers()
    with pytest.raises(RuntimeError):
        x._version
    report = launched(x)
    assert report.trace.at("total", program=4000) == x[4000].sum()
    with torch.inference_mode():
        x.fill_(3)  # seen by its bytes
    with pytest.raises(ts.Error, match="tensor x_ptr has changed since the launch"):
        report.trace.at("total", program=4000)


def test_arrays_that_share_memory_with_a_tensor():
    """The launch was given the array: what torch counts, it does not know; the bytes are looked at."""
    x = numbers()
    array = x.numpy()
    y = np.zeros(ROWS, np.float32)
    report = ts.check(totals, client="tracer")[(ROWS,)](array, y, COLUMNS=COLUMNS)
    x.fill_(3)
    with pytest.raises(ts.Error, match="tensor x_ptr has changed since the launch"):
        report.trace.at("total", program=4000)
