"""`descriptor_rules.py --out FOLDER`: where a block may lie that a GPU reads or writes through a tensor descriptor, with
plain Triton and torch; Tilesight is not needed.

Each trial is one kernel: a descriptor of a two-dimensional tensor, made in the kernel, and one block of it (or three,
in a loop) read or written at a coordinate. It comes to "equal" (to numpy), "wrong", or a fault, which ends its process.
Writes descriptor-rules-N.tsv as it goes, a line a trial, and prints how many trials of each kind came to what."""

import argparse
import collections
import itertools
import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import triton
import triton.language as tl

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "block_ptr"))
WORKERS = 14
ROWS, CHUNKS = 20, 12  # the tensor: 20 rows of 12 chunks of 16 bytes


@triton.jit(do_not_specialize=["M", "N", "stride", "r", "c", "dr", "dc"])
def read(x, y, M, N, stride, r, c, dr, dc, STEPS: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    d = tl.make_tensor_descriptor(x, (M, N), (stride, 1), (BM, BN))
    for k in range(0, STEPS):
        tile = d.load([r + k * dr, c + k * dc])
        tl.store(y + k * BM * BN + tl.arange(0, BM)[:, None] * BN + tl.arange(0, BN)[None, :], tile)


@triton.jit(do_not_specialize=["M", "N", "stride", "r", "c", "dr", "dc"])
def write(x, y, M, N, stride, r, c, dr, dc, STEPS: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    d = tl.make_tensor_descriptor(x, (M, N), (stride, 1), (BM, BN))
    for k in range(0, STEPS):
        tile = tl.load(y + k * BM * BN + tl.arange(0, BM)[:, None] * BN + tl.arange(0, BN)[None, :])
        d.store([r + k * dr, c + k * dc], tile)


def kernels():
    """(what, dtype, rows and bytes of the block's row, steps): each is compiled once."""
    for what, dtype, rows, row, steps in itertools.product(
            ("read", "write"), ("int8", "float16", "float32", "float64"), (1, 8), (16, 32, 128, 256), (1, 3)):
        if steps == 1 or row in (16, 128):
            yield what, dtype, rows, row, steps


def places(dtype):
    """(row, column, steps of both) of blocks: inside, across each edge, outside; at chunks and between them."""
    chunk = 16 // np.dtype(dtype).itemsize
    width = CHUNKS * chunk
    for r in (0, 3, -3, ROWS - 1, ROWS, -40):
        yield r, 0, 1, chunk
        yield r, chunk, 1, chunk
    for c in (1, chunk + 1, width - 1, width - chunk, width, width + 1, width + chunk, -1, -chunk, -chunk - 1, -width, -40 * chunk,
              40 * chunk):
        yield 0, c, 0, 1 if c % chunk else chunk


def trials():
    for kernel in kernels():
        for place in places(kernel[1]):
            yield [*kernel, *place]


def outcome(what, dtype, rows, row, steps, r, c, dr, dc):
    import torch

    item = np.dtype(dtype).itemsize
    bn, width = row // item, CHUNKS * 16 // item
    x = np.arange(ROWS * width).reshape(ROWS, width).astype(dtype) + 1
    y = (np.arange(steps * rows * bn).reshape(steps, rows, bn).astype(dtype) + 3)
    expected_x, expected_y = x.copy(), np.zeros_like(y) if what == "read" else y.copy()
    for k in range(steps):
        for i, j in itertools.product(range(rows), range(bn)):
            a, b = r + k * dr + i, c + k * dc + j
            if 0 <= a < ROWS and 0 <= b < width:
                if what == "read":
                    expected_y[k, i, j] = x[a, b]
                else:
                    expected_x[a, b] = y[k, i, j]
    on_gpu = [torch.from_numpy(each).cuda() for each in (x, y)]
    {"read": read, "write": write}[what][(1,)](*on_gpu, ROWS, width, width, r, c, dr, dc, STEPS=steps, BM=rows, BN=bn)
    torch.cuda.synchronize()
    x, y = (each.cpu().numpy() for each in on_gpu)
    return "equal" if (x == expected_x).all() and (y == expected_y).all() else "wrong"


def part(number, done):
    """Prints what each trial of a part came to; ends after a fault."""
    import torch

    triton.set_allocator(lambda size, alignment, stream: torch.empty(size, dtype=torch.int8, device="cuda"))
    for trial in mine(number)[done:]:
        try:
            print(json.dumps(outcome(*trial)), flush=True)
        except Exception as error:
            print(json.dumps((str(error).splitlines() or [repr(error)])[0][:120]), flush=True)
            os._exit(0)


def mine(number):
    groups = list(kernels())[number::WORKERS]
    return [trial for trial in trials() if tuple(trial[:5]) in groups]


def all_of(number, out, until):
    """Tries a part, one process until a fault, and keeps each trial in a file of its own part as it ends."""
    wanted, results = mine(number), []
    while len(results) < len(wanted) and time.monotonic() < until:
        process = subprocess.run([sys.executable, __file__, "--part", str(number), str(len(results))],
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        lines = [json.loads(line) for line in process.stdout.splitlines() if line.startswith('"')]
        lines = lines or [f"exit status {process.returncode}: {process.stderr[-200:]!r}"]
        with open(out / f"descriptor-rules-{number}.tsv", "a") as file:
            for trial, result in zip(wanted[len(results):], lines):
                print(*trial, result, sep="\t", file=file)
        results += lines
    return list(zip(wanted, results))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--seconds", type=float, default=240, help="what was not tried by then is left out (240)")
    parser.add_argument("--part", type=int, nargs=2)
    options = parser.parse_args()
    if options.part:
        return part(*options.part)
    options.out.mkdir(parents=True, exist_ok=True)
    for number in range(WORKERS):
        names = "what dtype rows row_bytes steps r c dr dc outcome".split()
        (options.out / f"descriptor-rules-{number}.tsv").write_text("\t".join(names) + "\n")
    until = time.monotonic() + options.seconds
    with ThreadPoolExecutor(WORKERS) as pool:
        results = [result for each in pool.map(lambda number: all_of(number, options.out, until), range(WORKERS)) for result in each]
    counts = collections.Counter((*trial[:5], result) for trial, result in results)
    for kind, count in sorted(counts.items(), key=str):
        print(*kind, count, sep="\t")
    missing = sum(1 for _ in trials()) - len(results)
    if missing:
        print(f"{missing} trials were left out: --seconds {options.seconds:g} were over")


if __name__ == "__main__":
    main()
