"""What `torch.cuda` answers: one device, as the GPU of --like would, on which everything has finished."""

import contextlib
import functools
import time
import types


class Event:
    """In place of torch.cuda.Event."""

    cuda_event = 0

    def __init__(self, *_, **__):
        self._time = None

    def record(self, *_):
        self._time = time.perf_counter()

    def elapsed_time(self, end):
        if self._time is None or end._time is None:
            raise RuntimeError("Both events must be recorded before calculating elapsed time.")
        return (end._time - self._time) * 1e3

    def synchronize(self):
        pass

    def wait(self, *_):
        pass

    def query(self):
        return True


class Stream(contextlib.nullcontext):
    """In place of torch.cuda.Stream: launches are over when they return."""

    cuda_stream = 0
    device_index = 0
    stream_id = 0
    device_type = 1
    priority = 0

    def __init__(self, *_, **__):
        super().__init__(self)  # what `with stream as s` gives

    def synchronize(self):
        pass

    def is_capturing(self):
        return False

    def wait_stream(self, *_):
        pass

    def wait_event(self, *_):
        pass

    def record_event(self, event=None):
        event = event or Event()
        event.record()
        return event

    def query(self):
        return True

    def __eq__(self, other):
        return isinstance(other, Stream)

    def __hash__(self):
        return 0


class StreamContext(contextlib.nullcontext):
    """In place of torch.cuda.stream(...) and torch.cuda.StreamContext."""

    def __init__(self, *_, **__):
        super().__init__()


class Device(contextlib.ContextDecorator):
    """In place of torch.cuda.device and device_of."""

    def __init__(self, device=None):
        self.idx = 0
        self.prev_idx = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False


class _NoGraphs:
    """In place of torch.cuda.CUDAGraph and torch.cuda.graph."""

    def __init__(self, *_, **__):
        raise RuntimeError("CUDA graphs cannot be captured under tilesight run: there is no GPU. Call the "
                           "function without a graph; its kernels are checked the same")


def _no_graphs(*_, **__):
    _NoGraphs()


def install(torch, gpu, where):
    Stream.device = where.gpu
    properties = _properties(gpu)

    def manual_seed(seed):
        where.notice()

    replaced = {
        "is_available": lambda: True, "device_count": lambda: 1, "current_device": _gives(0),
        "is_initialized": lambda: True, "_is_compiled": lambda: True, "_lazy_init": _gives(None),
        "get_device_capability": lambda *_, **__: gpu.capability,
        "get_device_name": lambda *_, **__: gpu.name,
        "get_device_properties": lambda *_, **__: properties,
        "get_arch_list": lambda: [gpu.arch if gpu.backend == "hip" else f"sm_{gpu.arch}"],
        "is_bf16_supported": lambda *_, **__: gpu.capability[0] >= 8,
        "is_tf32_supported": lambda: gpu.backend == "cuda" and gpu.capability[0] >= 8,
        "mem_get_info": _gives((gpu.memory, gpu.memory)), "memory_stats": lambda *_, **__: _Zeros(),
        "memory_summary": lambda *_, **__: "", "memory_snapshot": lambda *_, **__: [],
        "utilization": _gives(0), "clock_rate": lambda *_, **__: gpu.clock // 1000,
        "can_device_access_peer": lambda *_: False,
        "Event": Event, "Stream": Stream, "ExternalStream": Stream,
        "current_stream": Stream, "default_stream": Stream,
        "stream": StreamContext, "StreamContext": StreamContext, "device": Device, "device_of": Device,
        "_DeviceGuard": Device, "is_current_stream_capturing": lambda: False,
        "CUDAGraph": _NoGraphs, "graph": _NoGraphs, "make_graphed_callables": _no_graphs,
        "manual_seed": manual_seed, "manual_seed_all": lambda seed: manual_seed(seed),
        "get_sync_debug_mode": _gives(0),
    }
    for name in ("set_device", "synchronize", "empty_cache", "reset_peak_memory_stats", "set_stream",
                 "reset_max_memory_allocated", "reset_max_memory_cached", "reset_accumulated_memory_stats",
                 "ipc_collect", "init", "seed", "seed_all", "set_sync_debug_mode", "check_error",
                 "set_per_process_memory_fraction", "_sleep"):
        replaced[name] = _gives(None)
    # Bytes of the CUDA tensors are not counted: programs get zeros that fit together.
    for name in ("memory_allocated", "max_memory_allocated", "memory_reserved", "max_memory_reserved",
                 "memory_cached", "max_memory_cached", "device_memory_used", "memory_usage"):
        replaced[name] = _gives(0)
    for owner in (torch.cuda, torch.cuda.memory, torch.cuda.random, torch.cuda.streams):
        for name, value in replaced.items():
            if hasattr(owner, name):
                setattr(owner, name, value)
    _nvtx(torch)
    _accelerator(torch, where)
    _amp(torch)
    _old_constructors(torch, where)
    if gpu.backend == "hip" and torch.version.hip is None:
        torch.version.hip, torch.version.cuda = "6.4.0", None
    elif gpu.backend == "cuda" and torch.version.cuda is None:
        torch.version.cuda = "12.8"


def _gives(value):
    """A function of its own each time: torch._dynamo wants no two names for one."""
    return lambda *_, **__: value


class _Zeros(dict):
    def __missing__(self, key):
        return 0


def _properties(gpu):
    return types.SimpleNamespace(
        name=gpu.name, major=gpu.capability[0], minor=gpu.capability[1], total_memory=gpu.memory,
        warp_size=gpu.warp, multi_processor_count=gpu.multiprocessors, is_integrated=False,
        is_multi_gpu_board=False, max_threads_per_multi_processor=gpu.threads,
        regs_per_multiprocessor=65536, shared_memory_per_block=gpu.shared_default,
        shared_memory_per_block_optin=gpu.shared, shared_memory_per_multiprocessor=gpu.shared_total,
        L2_cache_size=gpu.l2, clock_rate=gpu.clock, memory_clock_rate=gpu.memory_clock,
        memory_bus_width=gpu.bus, uuid="00000000-0000-0000-0000-000000000000",
        gcnArchName=f"{gpu.arch}:sramecc+:xnack-" if gpu.backend == "hip" else "")


def _nvtx(torch):
    @contextlib.contextmanager
    def ranged(*_, **__):
        yield

    for name, value in {"range_push": lambda *_, **__: 0, "range_pop": lambda *_, **__: 0,
                        "range_start": lambda *_, **__: 0, "range_end": lambda *_, **__: None,
                        "mark": lambda *_, **__: None, "range": ranged}.items():
        setattr(torch.cuda.nvtx, name, value)


def _accelerator(torch, where):
    """torch.accelerator, which names the device by itself."""
    accelerator = getattr(torch, "accelerator", None)
    if accelerator is None:
        return
    for name, value in {
            "is_available": lambda: True, "device_count": lambda: 1,
            "current_accelerator": lambda *_, **__: torch.device("cuda"),
            "current_device_index": lambda: 0, "current_device_idx": lambda: 0,
            "set_device_index": lambda *_: None, "set_device_idx": lambda *_: None,
            "synchronize": lambda *_: None, "current_stream": Stream, "set_stream": lambda *_: None,
            "empty_cache": lambda: None}.items():
        if hasattr(accelerator, name):
            setattr(accelerator, name, value)


def _amp(torch):
    """GradScaler and the old torch.cuda.amp work on the CPU's tensors."""
    torch.cuda.amp.common.amp_definitely_not_available = lambda: False


def _old_constructors(torch, where):
    """torch.cuda.FloatTensor and its kin: they make tensors, isinstance knows them, and they may be the default."""
    for name in dir(torch.cuda):
        if name.endswith("Tensor") and hasattr(torch, name):
            setattr(torch.cuda, name, _OldConstructor(name, (), {"plain": getattr(torch, name), "where": where,
                                                                 "__module__": "torch.cuda"}))
    plain_default = torch.set_default_tensor_type

    @functools.wraps(plain_default)
    def set_default_tensor_type(kind):
        if isinstance(kind, str) and kind.startswith("torch.cuda."):
            kind = getattr(torch.cuda, kind.removeprefix("torch.cuda."), kind)
        on_gpu = isinstance(kind, _OldConstructor)
        plain_default(kind.plain if on_gpu else kind)
        torch.set_default_device("cuda" if on_gpu else "cpu")

    torch.set_default_tensor_type = set_default_tensor_type


class _OldConstructor(type):
    """The class of torch.cuda.FloatTensor."""

    def __call__(cls, *args, **kwargs):
        cls.where.notice()
        return cls.where.put(cls.plain(*args, **kwargs), "cuda")

    def __instancecheck__(cls, value):
        return getattr(value, "is_cuda", False) and value.type() == f"torch.cuda.{cls.__name__}"
