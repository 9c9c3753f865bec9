"""Programs written for a GPU, where there is none: torch's `cuda` and `hip` devices become the CPU.

Every function of torch that takes a device is given the CPU instead, and `torch.cuda` answers as one
device would. Only processes of a `tilesight run` get this, and only where torch finds no device.
"""

import contextlib
import functools
import re
import time
import types

from .capture.driver import PROPERTIES

_GPU = re.compile(r"(cuda|hip)(:\d+)?")

# Functions that take a device= beside the constructors that torch itself lists.
_LIKE = ("empty_like", "zeros_like", "ones_like", "full_like", "rand_like", "randn_like", "randint_like",
         "as_tensor", "asarray", "empty_permuted", "load")
_METHODS = ("to", "new_empty", "new_zeros", "new_ones", "new_full", "new_tensor", "new_empty_strided")


def install(say):
    """Makes torch's GPU devices the CPU; `say(text)` is called when the program first asks for one.
    Torch is imported. Does nothing where there is a GPU."""
    import torch

    if torch.cuda.is_available():
        return

    def noticed():
        say("there is no GPU here: what the program puts on cuda is on the CPU")
        return "cpu"

    def on_cpu(value):
        if isinstance(value, str):
            return noticed() if _GPU.fullmatch(value) else value
        if isinstance(value, torch.device) and value.type in ("cuda", "hip"):
            return torch.device(noticed())
        return value

    def with_devices(function):
        @functools.wraps(function)
        def wrapped(*args, **kwargs):
            if kwargs:
                for name in ("device", "map_location"):
                    if name in kwargs:
                        device = kwargs[name]
                        kwargs[name] = noticed() if type(device) is int else on_cpu(device)
                if kwargs.get("pin_memory"):
                    kwargs["pin_memory"] = False
            return function(*map(on_cpu, args), **kwargs)
        return wrapped

    _wrap_functions(torch, with_devices)
    _wrap_tensor(torch.Tensor, with_devices, noticed)
    _replace_device_functions(torch, on_cpu)


def _wrap_functions(torch, with_devices):
    from torch.utils import _device

    constructors = {function.__name__: function for function in _device._device_constructors()}
    for module in (torch, torch.fft):
        for name, function in constructors.items():
            if getattr(module, name, None) is function:
                setattr(module, name, with_devices(function))
    for name in _LIKE:
        if hasattr(torch, name) and name not in constructors:
            setattr(torch, name, with_devices(getattr(torch, name)))
    # `with torch.device("cuda")` and torch.set_default_device
    _device.DeviceContext.__init__ = with_devices(_device.DeviceContext.__init__)


def _wrap_tensor(tensor, with_devices, noticed):
    def to(self, *args, **kwargs):
        if args and type(args[0]) is int:
            args = (noticed(), *args[1:])
        return move(self, *args, **kwargs)

    def cuda(self, *_, **__):
        noticed()
        return self

    for name in _METHODS:
        setattr(tensor, name, with_devices(getattr(tensor, name)))
    move = tensor.to
    tensor.to = functools.wraps(move)(to)
    tensor.cuda = cuda
    tensor.is_cuda = property(lambda self: self.device.type == "cpu")
    tensor.get_device = lambda self: 0
    tensor.pin_memory = lambda self, *_, **__: self
    tensor.record_stream = lambda self, *_: None


class _Event:
    """In place of torch.cuda.Event."""

    def __init__(self, *_, **__):
        self._time = 0.0

    def record(self, *_):
        self._time = time.perf_counter()

    def elapsed_time(self, end):
        return (end._time - self._time) * 1e3

    def synchronize(self):
        pass

    def wait(self, *_):
        pass

    def query(self):
        return True


class _Stream(contextlib.nullcontext):
    """In place of torch.cuda.Stream."""

    cuda_stream = 0

    def __init__(self, *_, **__):
        super().__init__()

    def synchronize(self):
        pass

    def wait_stream(self, *_):
        pass

    def wait_event(self, *_):
        pass

    def record_event(self, event=None):
        return event or _Event()

    def query(self):
        return True


def _replace_device_functions(torch, on_cpu):
    def nothing(*_, **__):
        return None

    properties = types.SimpleNamespace(
        name="no GPU (Tilesight)", major=9, minor=0, total_memory=80 << 30, warp_size=32,
        multi_processor_count=PROPERTIES["multiprocessor_count"],
        max_threads_per_multi_processor=2048, regs_per_multiprocessor=65536,
        shared_memory_per_block=49152, shared_memory_per_block_optin=PROPERTIES["max_shared_mem"],
        shared_memory_per_multiprocessor=PROPERTIES["max_shared_mem"] + 1024, L2_cache_size=50 << 20,
        gcnArchName="")
    replaced = {
        "is_available": lambda: True, "device_count": lambda: 1, "current_device": lambda: 0,
        "get_device_capability": lambda *_: (9, 0), "get_device_name": lambda *_: properties.name,
        "get_device_properties": lambda *_: properties, "is_bf16_supported": lambda *_, **__: True,
        "memory_allocated": lambda *_: 0, "max_memory_allocated": lambda *_: 0,
        "memory_reserved": lambda *_: 0, "max_memory_reserved": lambda *_: 0,
        "mem_get_info": lambda *_: (properties.total_memory, properties.total_memory),
        "Event": _Event, "Stream": _Stream, "current_stream": _Stream, "default_stream": _Stream,
        "stream": contextlib.nullcontext, "device": contextlib.nullcontext,
        "device_of": contextlib.nullcontext,
    }
    for name in ("set_device", "synchronize", "empty_cache", "reset_peak_memory_stats", "set_stream",
                 "reset_max_memory_allocated", "ipc_collect", "init"):
        replaced[name] = nothing
    for name, value in replaced.items():
        if hasattr(torch.cuda, name):
            setattr(torch.cuda, name, value)

    class Generator(torch.Generator):
        def __new__(cls, device="cpu"):
            return super().__new__(cls, device=on_cpu(device))

    torch.Generator = Generator
