"""What a program sees of its GPU where there is none: the tensors' own answers, and torch.cuda's."""

import pytest

CHECKS = {
    "copies between the CPU and the GPU are copies": """
        x = torch.randn(4, 5); y = x.cuda()
        assert y.is_cuda and y.device.type == "cuda" and not x.is_cuda and x.device.type == "cpu"
        y.zero_(); assert x.abs().sum() > 0
        z = y.cpu(); z.fill_(1); assert y.sum() == 0 and z.device.type == "cpu"
    """,
    "a tensor that is there already stays": """
        y = torch.ones(3, device="cuda")
        assert y.cuda() is y and y.to("cuda") is y and y.to(y.device) is y and y.cpu().cpu() is not y
    """,
    "results lie where their operands lie": """
        x, y = torch.ones(3, 4), torch.ones(3, 4, device="cuda")
        assert (x * 2)[0].device.type == "cpu" and (y + 1).T[0].is_cuda
        assert torch.cat([y, y]).is_cuda and torch.where(y > 0, y, 0).is_cuda and y.new_zeros(3).is_cuda
        assert (y + 1).device == torch.device("cuda", 0) == y.device
        assert x.to(y).is_cuda and x.to(device="cuda", dtype=torch.float16).is_cuda
        assert torch.zeros_like(y, device="cpu").device.type == "cpu"
        assert torch.from_numpy(y.cpu().numpy()).device.type == "cpu"
    """,
    "device contexts and the default device": """
        with torch.device("cuda"):
            assert torch.ones(3).is_cuda and torch.arange(4).is_cuda
        assert not torch.ones(3).is_cuda
        torch.set_default_device("cuda"); assert torch.zeros(3).is_cuda and torch.tensor([1]).is_cuda
        torch.set_default_device("cpu"); assert not torch.zeros(3).is_cuda
        assert torch.zeros_like(torch.ones(3, device="cuda"), device="cpu").device.type == "cpu"
    """,
    "modules, gradients and optimisers": """
        w = torch.nn.Linear(4, 4).cuda()
        assert w.weight.is_cuda and isinstance(w.weight, torch.nn.Parameter)
        a = torch.randn(3, 4, device="cuda", requires_grad=True)
        w(a).sum().backward(); assert a.grad.is_cuda and w.weight.grad.is_cuda
        torch.optim.AdamW(w.parameters()).step()
        assert next(torch.nn.Linear(4, 4, device="cuda").to("cuda", torch.bfloat16).parameters()).is_cuda
    """,
    "backward of an autograd.Function": """
        class Double(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                assert x.is_cuda
                return x * 2
            @staticmethod
            def backward(ctx, grad):
                assert grad.is_cuda and grad.new_empty(3).is_cuda
                seen.append(1)
                return grad
        seen = []
        Double.apply(torch.ones(3, device="cuda", requires_grad=True)).sum().backward(); assert seen
    """,
    "other threads": """
        a = torch.ones(3, device="cuda")
        def work():
            assert torch.empty_like(a).is_cuda and (a + 1).is_cuda and not torch.ones(2).is_cuda
            seen.append(1)
        seen = []
        thread = threading.Thread(target=work); thread.start(); thread.join(); assert seen
    """,
    "generators": """
        g = torch.Generator("cuda").manual_seed(3); assert g.device.type == "cuda"
        assert torch.randn(3, device="cuda", generator=g).is_cuda
        assert isinstance(torch.default_generator, torch.Generator) and isinstance(g, torch.Generator)
    """,
    "the state of a generator on cuda is two words": """
        for g in (torch.Generator("cuda"), torch.cuda.default_generators[0]):
            g.manual_seed(3); state = g.get_state(); words = state.view(torch.int64)
            assert words.tolist() == [3, 0] and torch.equal(g.get_state(), state)
            a = torch.rand(3, device="cuda", generator=g); assert g.get_offset() > 0 and g.initial_seed() == 3
            after = g.get_state(); b = torch.empty(3, device="cuda").uniform_(generator=g)
            g.set_state(after); assert torch.equal(b, torch.rand(3, device="cuda", generator=g))
            g.set_state(state); assert torch.equal(a, torch.rand(3, device="cuda", generator=g))
            words[1] += 8; g.set_state(state); assert g.get_state().view(torch.int64).tolist() == [3, 8]
    """,
    "the default generator's state": """
        torch.manual_seed(5); state = torch.cuda.get_rng_state(device=0); a = torch.rand(3, device="cuda")
        assert torch.cuda.initial_seed() == 5 and state.view(torch.int64)[0] == 5
        torch.cuda.set_rng_state(new_state=state); assert torch.equal(a, torch.rand(3, device="cuda"))
        with torch.random.fork_rng(): torch.rand(1, device="cuda")
        torch.random.set_rng_state(torch.random.get_rng_state()); assert torch.random.get_rng_state().numel() > 16
    """,
    "saving, loading and copying": """
        y = torch.ones(3, device="cuda"); file = io.BytesIO(); torch.save(y, file); file.seek(0)
        assert torch.load(file, map_location="cuda").is_cuda and copy.deepcopy(y).is_cuda
        assert torch.equal(pickle.loads(pickle.dumps(y)), y)
        torch.testing.assert_close(y, y.clone())
    """,
    "a DataLoader with workers": """
        torch.ones(3, device="cuda")
        data = torch.utils.data.TensorDataset(torch.arange(8.0))
        for (batch,) in torch.utils.data.DataLoader(data, batch_size=4, num_workers=1, pin_memory=True):
            assert not batch.is_cuda and batch.cuda().is_cuda
    """,
    "autocast": """
        a = torch.randn(4, 4, device="cuda")
        with torch.autocast("cuda"):
            assert (a @ a).dtype == torch.float16
        with torch.amp.autocast("cuda", dtype=torch.bfloat16):
            assert (a @ a).dtype == torch.bfloat16
    """,
    "graphs are refused with a word": """
        try:
            torch.cuda.CUDAGraph()
        except RuntimeError as error:
            assert "without a graph" in str(error)
        else:
            raise AssertionError
    """,
    "streams, blocks, nvtx and memory": """
        s = torch.cuda.Stream()
        with torch.cuda.stream(s), torch.cuda.device(0), torch.cuda.nvtx.range("x"):
            pass
        torch.cuda.current_stream().wait_stream(s); torch.cuda.synchronize(); torch.cuda.empty_cache()
        torch.cuda.manual_seed_all(1); torch.cuda.reset_peak_memory_stats()
        free, total = torch.cuda.mem_get_info(); assert 0 < free <= total
        assert torch.cuda.max_memory_allocated() >= torch.cuda.memory_allocated() >= 0
    """,
    "old constructors and type()": """
        y = torch.cuda.FloatTensor([1, 2]); assert y.is_cuda and y.type() == "torch.cuda.FloatTensor"
        assert isinstance(y, torch.cuda.FloatTensor) and not isinstance(y, torch.cuda.HalfTensor)
        assert not isinstance(torch.ones(1, device="cpu"), torch.cuda.FloatTensor)
        torch.set_default_tensor_type(torch.cuda.HalfTensor); assert torch.ones(1).type() == "torch.cuda.HalfTensor"
        torch.set_default_tensor_type("torch.FloatTensor"); assert torch.ones(1).type() == "torch.FloatTensor"
    """,
    "operators registered for CUDA": """
        @torch.library.custom_op("ts::twice", mutates_args=(), device_types="cuda")
        def twice(x: torch.Tensor) -> torch.Tensor:
            assert x.is_cuda
            return torch.empty_like(x).copy_(x * 2)
        y = twice(torch.ones(3, device="cuda")); assert y.is_cuda and y.sum() == 6
        library = torch.library.Library("ts", "FRAGMENT")
        library.define("thrice(Tensor x) -> Tensor")
        library.impl("thrice", lambda x: x * 3, "CUDA")
        assert torch.ops.ts.thrice(torch.ones(2, device="cuda")).sum() == 6
    """,
}


@pytest.mark.parametrize("check", CHECKS)
def test_devices(tilesight_run, check):
    import textwrap
    program = "import copy, io, pickle, threading, torch\n" + textwrap.dedent(CHECKS[check]) + "\nprint('done')\n"
    done = tilesight_run("p.py", files={"p.py": program})
    assert done.stdout == "done\n", done.stderr


@pytest.mark.parametrize("gpu, name, capability, count", [
    ("h100", "H100", (9, 0), 132), ("a100", "A100", (8, 0), 108), ("b200", "B200", (10, 0), 148),
    ("mi300x", "MI300X", (9, 4), 304)])
def test_like_names_the_gpu(tilesight_run, gpu, name, capability, count):
    program = f"""
        import torch, triton
        assert "{name}" in torch.cuda.get_device_name() and torch.cuda.get_device_capability() == {capability}
        properties = torch.cuda.get_device_properties("cuda")
        assert properties.multi_processor_count == {count}
        driver = triton.runtime.driver.active
        assert driver.utils.get_device_properties(0)["multiprocessor_count"] == {count}
        assert driver.get_current_target().warp_size == properties.warp_size
        print(torch.ones(1, device="cuda").device, driver.get_active_torch_device())
    """
    done = tilesight_run("--like", gpu, "p.py", files={"p.py": program})
    assert done.stdout == "cuda:0 cuda:0\n", done.stderr
    assert f"--like {gpu}" in " ".join(done.stderr.split())
