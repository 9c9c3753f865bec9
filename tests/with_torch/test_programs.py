"""Programs written for torch on a GPU, where there is none."""

import pytest

torch = pytest.importorskip("torch")

PROGRAM = """
    import torch, triton, triton.language as tl

    @triton.jit
    def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
        offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        mask = offs < n
        x = tl.load(x_ptr + offs, mask=mask)
        tl.store(out_ptr + offs, x + tl.load(y_ptr + offs, mask=mask), mask=mask)

    def add(x, y):
        assert x.is_cuda and y.is_cuda
        out = torch.empty_like(x)
        n = out.numel()
        with torch.cuda.device(x.device):
            add_kernel[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, y, out, n, BLOCK=256)
        return out
"""


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_gpu_devices_become_the_cpu_and_it_says_so_once(tilesight_run):
    body = """
    assert torch.cuda.is_available() and torch.cuda.device_count() == 1
    device = triton.runtime.driver.active.get_active_torch_device()
    torch.manual_seed(0)
    x, y = torch.rand(1000, device="cuda"), torch.rand(1000, device=torch.device("cuda:0"))
    assert torch.equal(add(x, y), x + y)
    z = torch.ones(8).cuda().to("cuda").to(0).to(torch.device("cuda"), torch.bfloat16)
    assert add(z, z).float().sum() == 16
    with torch.device("cuda"):
        assert torch.equal(add(torch.ones(8), torch.ones(8)), torch.full((8,), 2.0))
    layer = torch.nn.Linear(4, 4, device="cuda").cuda()
    layer(torch.ones(1, 4, device="cuda"))
    torch.randn(3, device="cuda", generator=torch.Generator(device="cuda").manual_seed(3))
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record(); end.record(); torch.cuda.synchronize()
    assert start.elapsed_time(end) >= 0
    assert torch.cuda.get_device_properties(0).multi_processor_count > 0
    assert triton.testing.do_bench(lambda: add(x, y)) > 0
    print("done")
    """
    done = tilesight_run("p.py", files={"p.py": PROGRAM + body})
    assert done.stdout == "done\n", done.stderr
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("there is no GPU here") == 1


def test_launches_from_autograd_and_their_strides(tilesight_run):
    body = """
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return add(x, x)

        @staticmethod
        def backward(ctx, grad):
            return add(grad, grad)

    x = torch.rand(100, device="cuda", requires_grad=True)
    Double.apply(x).backward(torch.ones(100, device="cuda"))
    assert (x.grad == 2).all()
    Double.apply(x).sum().backward()  # the gradient is one element with stride 0
    """
    done = tilesight_run("p.py", files={"p.py": PROGRAM + body})
    assert done.returncode == 1, done.stderr
    assert "add_kernel: 4 launches, 2 errors" in done.stderr
    assert "396 bytes past its end (4 bytes)" in done.stderr


def test_autotuned_kernels_reset_torch_tensors(tilesight_run):
    body = """
    @triton.autotune([triton.Config({"B": 128}), triton.Config({"B": 64})], key=["n"], reset_to_zero=["out"])
    @triton.jit
    def total(x, out, n, B: tl.constexpr):
        offs = tl.arange(0, B)
        tl.atomic_add(out, tl.sum(tl.load(x + offs, mask=offs < n, other=0.0)))

    out = torch.full((1,), 7.0, device="cuda")
    total[(1,)](torch.ones(100, device="cuda"), out, 100)
    assert out.item() == 100
    """
    done = tilesight_run("p.py", files={"p.py": PROGRAM + body})
    assert done.returncode == 0, done.stderr
    assert "total: 1 of 2 autotune configurations checked" in done.stderr


def test_addresses_stored_in_tensors(tilesight_run):
    body = """
    @triton.jit
    def through(table_ptr, out_ptr, COUNT: tl.constexpr, BLOCK: tl.constexpr):
        offs = tl.arange(0, BLOCK)
        for i in range(COUNT):
            p = tl.load(table_ptr + i).to(tl.pointer_type(tl.float32))
            tl.store(out_ptr + i * BLOCK + offs, tl.load(p + offs))

    tensors = [torch.arange(8, dtype=torch.float32, device="cuda") + i for i in range(3)]
    table = torch.tensor([t.data_ptr() for t in tensors], device="cuda")
    out = torch.zeros(24, device="cuda")
    through[(1,)](table, out, COUNT=3, BLOCK=8)
    assert torch.equal(out, torch.cat(tensors))
    """
    done = tilesight_run("p.py", files={"p.py": PROGRAM + body})
    assert done.returncode == 0, done.stderr


STYLES = {
    "operators of torch.library": """
    @torch.library.custom_op("styles::twice", mutates_args=())
    def twice(x: torch.Tensor) -> torch.Tensor:
        return add(x, x)

    @twice.register_fake
    def _(x):
        return torch.empty_like(x)

    twice.register_autograd(lambda ctx, grad: twice(grad.contiguous()))
    x = torch.rand(1000, device="cuda", requires_grad=True)
    (twice(x) * torch.ones(1000, device="cuda")).sum().backward()
    assert torch.equal(twice(x), x + x) and (x.grad == 2).all()

    library = torch.library.Library("styles", "FRAGMENT")
    library.define("plus(Tensor x, Tensor y) -> Tensor")
    library.impl("plus", add, "CUDA")
    assert torch.equal(torch.ops.styles.plus(x.detach(), x.detach()), twice(x))
    """,
    "triton_op and wrap_triton": """
    @torch.library.triton_op("styles::sum2", mutates_args={})
    def sum2(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        out = torch.empty_like(x)
        torch.library.wrap_triton(add_kernel)[(4,)](x, y, out, x.numel(), BLOCK=256)
        return out
    x = torch.rand(1000, device="cuda")
    assert torch.equal(sum2(x, x), x + x)
    """,
    "an autograd.Function in threads": """
    import threading
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return add(x, x)
        @staticmethod
        def backward(ctx, grad):
            return add(grad, grad)
    def work(n):
        x = torch.rand(n, device="cuda", requires_grad=True)
        Double.apply(Double.apply(x)).backward(torch.ones(n, device="cuda"))
        done.append((x.grad == 4).all() and x.grad.is_cuda)
    done = []
    threads = [threading.Thread(target=work, args=(100 + i,)) for i in range(4)]
    [t.start() for t in threads]; [t.join() for t in threads]
    assert len(done) == 4 and all(done)
    """,
    "blocks, streams and a wrapper object": """
    class Wrapped:  # what C++ extensions hand over
        def __init__(self, tensor):
            self.tensor, self.dtype = tensor, tensor.dtype
        def data_ptr(self):
            return self.tensor.data_ptr()
    x, out = torch.rand(1000, device="cuda"), torch.empty(1000, device="cuda")
    with torch.cuda.device(x.device), torch.cuda.stream(torch.cuda.Stream()):
        with torch.cuda.device(0), torch.cuda.device_of(x):
            add_kernel[(4,)](Wrapped(x), x, triton.reinterpret(out, tl.float32), 1000, BLOCK=256)
    torch.cuda.current_stream().synchronize()
    assert torch.equal(out, x + x)
    """,
    "a child process": """
    import subprocess, sys
    if len(sys.argv) == 1:
        subprocess.run([sys.executable, __file__, "child"], check=True)
    x = torch.rand(1000, device="cuda")
    assert torch.equal(add(x, x), x + x)
    """,
}


@pytest.mark.parametrize("style", STYLES)
def test_launch_styles(tilesight_run, style):
    done = tilesight_run("p.py", files={"p.py": PROGRAM + STYLES[style]})
    assert done.returncode == 0, done.stderr
    assert "add_kernel: " in done.stderr and "ok" in done.stderr


def test_pages_of_torch_storages_travel(monkeypatch):
    # What happens to tensors on a GPU, on tensors that only pretend to be there.
    import triton
    import triton.language as tl

    import tilesight as ts
    from tilesight.capture import device_memory, storage

    @triton.jit
    def add_one(x_ptr, y_ptr, BLOCK: tl.constexpr):
        offs = tl.arange(0, BLOCK)
        tl.store(y_ptr + offs, tl.load(x_ptr + offs) + 1)

    seen = []
    plain = storage.of_torch

    def of_torch(tensor):
        memory = plain(tensor)

        def stage(base, nbytes):
            pages = device_memory.of_torch_storage(tensor, base, nbytes)
            assert pages.address != base
            seen.append(pages.pager)
            return pages

        memory.stage = stage
        return memory

    monkeypatch.setattr(storage, "of_torch", of_torch)
    x, y = torch.arange(1 << 20, dtype=torch.float32), torch.zeros(1 << 20)
    report = ts.check(add_one)[(1,)](x[1 << 19:], y[100:], BLOCK=1 << 15)
    assert report.verdict == "ok", report.text()
    assert torch.equal(y[100:][:1 << 15], x[1 << 19:][:1 << 15] + 1) and not y[:100].any() and not y[100 + (1 << 15):].any()
    assert [pager.fetched for pager in seen] == [[(1 << 21, (1 << 21) + (1 << 17))], [(0, 3 << 16)]]
