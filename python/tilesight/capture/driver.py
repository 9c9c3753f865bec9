"""A stand-in for the GPU driver, for programs that ask about a device where there is none.

It answers what Triton and its tutorials ask: a target, device 0, stream 0, the properties of the GPU
of --like. `do_bench` runs the function once. A real driver, where there is one, stays in place.
"""

import sys
import time

from . import gpus
from ..errors import NoDeviceError

class _Utils:
    def get_device_properties(self, device=0):
        gpu = gpus.chosen()
        return {"max_shared_mem": gpu.shared, "max_num_regs": 65536,
                "multiprocessor_count": gpu.multiprocessors, "warpSize": gpu.warp,
                "sm_clock_rate": gpu.clock, "mem_clock_rate": gpu.memory_clock, "mem_bus_width": gpu.bus}

    def __getattr__(self, name):
        raise RuntimeError(f"there is no GPU: driver.active.utils.{name} is not available under Tilesight")


class StandInDriver:
    """What `triton.runtime.driver.active` is without a GPU."""

    def __init__(self):
        from .triton import Backend
        self.target = Backend.shared().target
        self.utils = _Utils()
        self.binary_ext = "hsaco" if self.target.backend == "hip" else "cubin"

    @classmethod
    def is_active(cls):
        return True

    def get_current_target(self):
        return self.target

    def get_current_device(self):
        return 0

    def set_current_device(self, device):
        pass

    def get_current_stream(self, device=None):
        return 0

    def get_device_capability(self, device=None):
        return gpus.chosen().capability

    def get_active_torch_device(self):
        import torch
        # Under `tilesight run` it names the CPU's memory (torch_devices).
        return torch.device("cuda", 0) if torch.cuda.is_available() else torch.device("cpu")

    def get_device_interface(self):
        import torch
        return torch.cuda if torch.cuda.is_available() else torch.cpu

    def get_benchmarker(self):
        return run_once

    def get_empty_cache_for_benchmark(self):
        return None

    def clear_cache(self, cache):
        pass

    def map_python_to_cpp_type(self, ty):
        raise RuntimeError("there is no GPU: Tilesight does not compile kernels for a device")


def run_once(function, warmup=None, rep=None, grad_to_none=None, quantiles=None, return_mode="mean",
             **_):
    """In place of triton.testing.do_bench: runs `function` once; milliseconds in the shape asked."""
    start = time.perf_counter()
    function()
    elapsed = (time.perf_counter() - start) * 1e3
    if quantiles is not None:
        return [elapsed] * len(quantiles) if len(quantiles) > 1 else elapsed
    return [elapsed] if return_mode == "all" else elapsed


_create = None  # Triton's own way to make the driver, while the stand-in is installed


def require_device():
    """Raises Triton's own error, with what to do, where a launch needs the device that is not there."""
    active = sys.modules["triton.runtime.driver"].driver._active
    if _create is not None and (active is None or isinstance(active, StandInDriver)):
        try:
            _create()
        except RuntimeError as error:
            if "0 active drivers" not in str(error):
                raise
            raise NoDeviceError(
                f"{error} Triton runs this kernel natively, because its client is \"off\" or it is not "
                "traced, and there is no GPU. To execute it on the CPU, set ts.config.client = \"null\" for "
                "traced kernels (it checks nothing), or launch it with ts.check or `tilesight run`") from None


def install(patches):
    """Puts the stand-ins in place; `patches(owner, name, value)` remembers how to undo it."""
    import triton.testing

    global _create
    # The attribute triton.runtime.driver is the object, not the module.
    module = sys.modules["triton.runtime.driver"]
    create = _create = module._create_driver

    def create_driver():
        try:
            return create()
        except Exception:  # no active driver, or one that fails to start
            return StandInDriver()

    patches(module, "_create_driver", create_driver)
    for name in ("do_bench", "do_bench_cudagraph"):
        if hasattr(triton.testing, name):
            patches(triton.testing, name, run_once)


def uninstall():
    """Forgets the stand-in driver, so that Triton looks for a device again."""
    global _create
    _create = None
    shared = sys.modules["triton.runtime.driver"].driver
    for name in ("_active", "_default"):
        if isinstance(getattr(shared, name, None), StandInDriver):
            setattr(shared, name, None)
