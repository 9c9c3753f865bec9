"""The GPUs that a program can be told of, where there is none: `tilesight run --like NAME`.

Figures are those that the vendor's driver reports for the usual model of that name.
"""

import dataclasses

from ..config import config

DEFAULT = "h100"


@dataclasses.dataclass(frozen=True)
class Gpu:
    key: str
    name: str            # as torch.cuda.get_device_name answers
    backend: str         # Triton's: "cuda" or "hip"
    capability: tuple    # (major, minor); for AMD what torch answers
    arch: object         # Triton's: 90, "gfx942"
    multiprocessors: int
    memory: int          # bytes
    shared: int          # bytes that a program may use (opt-in)
    shared_default: int  # bytes without opting in
    shared_total: int    # bytes of a multiprocessor
    l2: int              # bytes
    clock: int           # kHz
    memory_clock: int    # kHz
    bus: int             # bits
    warp: int = 32
    threads: int = 2048  # resident on a multiprocessor


def _nvidia(key, name, capability, multiprocessors, memory, shared, total, l2, clock, memory_clock, bus,
            threads=2048):
    arch = capability[0] * 10 + capability[1]
    return Gpu(key, name, "cuda", capability, arch, multiprocessors, int(memory * 2**30), shared, 49152, total,
               l2 << 20, clock, memory_clock, bus, 32, threads)


def _amd(key, name, arch, capability, multiprocessors, memory, shared, l2, clock, memory_clock, bus):
    return Gpu(key, name, "hip", capability, arch, multiprocessors, memory << 30, shared, shared, shared,
               l2 << 20, clock, memory_clock, bus, 64, 2048)


_TABLE = [
    _nvidia("t4", "Tesla T4", (7, 5), 40, 14.7, 65536, 65536, 4, 1590000, 5001000, 256, 1024),
    _nvidia("v100", "Tesla V100-SXM2-32GB", (7, 0), 80, 31.7, 98304, 98304, 6, 1530000, 877000, 4096),
    _nvidia("a100", "NVIDIA A100-SXM4-80GB", (8, 0), 108, 79.2, 166912, 167936, 40, 1410000, 1593000, 5120),
    _nvidia("a10", "NVIDIA A10", (8, 6), 72, 22.0, 101376, 102400, 6, 1695000, 6251000, 384, 1536),
    _nvidia("l4", "NVIDIA L4", (8, 9), 58, 22.0, 101376, 102400, 48, 2040000, 6251000, 192, 1536),
    _nvidia("l40s", "NVIDIA L40S", (8, 9), 142, 44.4, 101376, 102400, 96, 2520000, 9001000, 384, 1536),
    _nvidia("rtx4090", "NVIDIA GeForce RTX 4090", (8, 9), 128, 23.5, 101376, 102400, 72, 2520000, 10501000,
            384, 1536),
    _nvidia("h100", "NVIDIA H100 80GB HBM3", (9, 0), 132, 79.1, 232448, 233472, 50, 1980000, 2619000, 5120),
    _nvidia("h200", "NVIDIA H200", (9, 0), 132, 139.8, 232448, 233472, 50, 1980000, 3201000, 6144),
    _nvidia("b200", "NVIDIA B200", (10, 0), 148, 178.4, 232448, 233472, 126, 1965000, 3996000, 8192),
    _amd("mi250x", "AMD Instinct MI250X", "gfx90a", (9, 0), 110, 64, 65536, 8, 1700000, 1600000, 4096),
    _amd("mi300x", "AMD Instinct MI300X", "gfx942", (9, 4), 304, 192, 65536, 4, 2100000, 1300000, 8192),
    _amd("mi355x", "AMD Instinct MI355X", "gfx950", (9, 5), 256, 288, 163840, 4, 2400000, 2000000, 8192),
]

GPUS = {gpu.key: gpu for gpu in _TABLE}


def chosen():
    """The Gpu of --like; --num-sms changes its number of multiprocessors."""
    gpu = GPUS[config.command_line().get("like") or DEFAULT]
    if config.num_sms:
        gpu = dataclasses.replace(gpu, multiprocessors=config.num_sms)
    return gpu
