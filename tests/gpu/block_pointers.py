"""`block_pointers.py --out FOLDER`: block pointers on a GPU, with plain Triton and torch; Tilesight is not needed.

First numbers: every case of tests/block_ptr, by hand and at random, with Triton's own block pointers (where it has
them), the library's on pointers, and the library's on descriptors, against numpy. Then times: the kernels of
block_pointer_kernels.py on pointers written by hand, on Triton's block pointers and on the library's, with equal
results. Writes block-pointers.json and block-pointers.md; exit status 1 if numbers differ, or if the library on
pointers takes more than 1.1 times as long as pointers written by hand."""

import argparse
import json
import os
import subprocess
import sys
import time
import traceback
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "block_ptr")]

import numpy as np

LIMIT = 1.1
WORKERS = 8
SEEDS = 64
warnings.filterwarnings("ignore", message=".*make_block_ptr is deprecated.*")


# --- numbers ---------------------------------------------------------------------------------------------------------


def on_gpu(flavour):
    import torch

    from flavours import kernels

    def run(kernel, arguments):
        arrays = {k: v for k, v in arguments.items() if isinstance(v, np.ndarray)}
        tensors = {k: torch.from_numpy(v).cuda() for k, v in arrays.items()}
        getattr(kernels(flavour), kernel)[(1,)](**{**arguments, **tensors})
        torch.cuda.synchronize()
        for k, array in arrays.items():
            array[...] = tensors[k].cpu().numpy()
    return run


def trials():
    """(case's name, case, flavour, "read" or "write") of all that has to be equal."""
    from cases import BY_HAND, at_random
    from flavours import FLAVOURS, RELEASE

    for name, case in {**BY_HAND, **{f"seed {seed}": at_random(seed) for seed in range(SEEDS)}}.items():
        for flavour in [*FLAVOURS, "descriptors"]:
            if case.refused(flavour, RELEASE):
                continue
            if flavour != "descriptors" or case.suits_descriptors:
                yield name, case, flavour, "read"
            # A block pointer to int1 is one to int8: Triton up to 3.7 stores no int1.
            if case.dtype != "bool" and (flavour != "descriptors" or case.suits_descriptor_stores):
                yield name, case, flavour, "write"


def numbers_of(part, parts, done):
    """Prints one line of JSON for each trial of this part but the first `done`: "equal", "refused" where Triton's own
    block pointers do not compile, or what is wrong. Ends after a fault: this process can no longer use the GPU."""
    import torch

    from flavours import library

    library().ensure_allocator()
    for name, case, flavour, what in list(trials())[part::parts][done:]:
        try:
            if what == "read":
                values, expected, defined = case.read(on_gpu(flavour))
                np.testing.assert_array_equal(values[defined], expected[defined])
            else:
                np.testing.assert_array_equal(*case.write(on_gpu(flavour)))
            print(json.dumps("equal"), flush=True)
        except Exception as error:
            compiled = "PassManager" not in str(error)
            d, item = case.order[0], np.dtype(case.dtype).itemsize
            first = [(case.offsets[d] + k * case.step[d]) * item for k in range(case.steps)]
            text = (f"{name}, {what}, {flavour}: {case}\n"
                    f"strides {case.strides}, first bytes of the blocks' rows {first}\n"
                    f"{traceback.format_exc()[-1500:]}")
            print(json.dumps(text if compiled or flavour != "triton" else "refused"), flush=True)
        try:
            torch.cuda.synchronize()
        except Exception:
            os._exit(0)  # without what Python and torch would have to say at their end


def part_of(part):
    """What each trial of a part came to: one process after another, a new one after each fault."""
    results, count = [], len(list(trials())[part::WORKERS])
    while len(results) < count:
        command = [sys.executable, __file__, "--part", f"{part}/{WORKERS}", "--done", str(len(results))]
        process = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        lines = [json.loads(line) for line in process.stdout.splitlines() if line.startswith('"')]
        results += lines
        if process.returncode and len(results) < count:  # died without a word about it
            name, case, flavour, what = list(trials())[part::WORKERS][len(results)]
            results.append(f"{name}, {what}, {flavour}: {case}\nexit status {process.returncode}\n"
                           f"{process.stderr[-1500:]}")
        elif not lines:
            raise RuntimeError(f"part {part} says nothing: {process.stderr[-1500:]}")
    return results


def all_numbers():
    """(how many are equal, how many Triton's own block pointers refuse, [what is wrong])"""
    with ThreadPoolExecutor(WORKERS) as pool:
        results = [result for part in pool.map(part_of, range(WORKERS)) for result in part]
    return (results.count("equal"), results.count("refused"),
            [result for result in results if result not in ("equal", "refused")])


# --- times -----------------------------------------------------------------------------------------------------------


def subjects():
    """(name, kernel's name, arguments, outputs, grid, constants, options). Sizes with and without tails."""
    import torch

    torch.manual_seed(0)

    def halves(*shape):
        return torch.randn(shape, device="cuda", dtype=torch.float16)

    def floats(*shape):
        return torch.randn(shape, device="cuda", dtype=torch.float32)

    def cdiv(a, b):
        return -(-a // b)

    for n in (1 << 26, (1 << 26) - 8):
        yield (f"add, {n}", "add", dict(x=floats(n), y=floats(n), z=floats(n), n=n), ["z"], (cdiv(n, 1024),),
               dict(B=1024), {})
    for m, n in ((8192, 8192), (8191, 8000)):
        yield (f"softmax, {m} x {n}", "softmax", dict(x=floats(m, n), y=floats(m, n), M=m, N=n, stride=n), ["y"],
               (cdiv(m, 4),), dict(BM=4, BN=1024), {})
    for a, m, n in ((64, 1024, 1024), (64, 1000, 1016)):
        yield (f"swap, {a} x {m} x {n}", "swap", dict(x=floats(a, m, n), y=floats(a, n, m), A=a, M=m, N=n), ["y"],
               (cdiv(m, 64), cdiv(n, 64), a), dict(BM=64, BN=64), {})
    tiles = dict(BM=128, BN=128, BK=64)
    for size in (4096, 4000):
        for transposed in (False, True):
            yield (f"matmul{', b column-major' if transposed else ''}, {size}", "matmul",
                   dict(a=halves(size, size), b=halves(size, size), c=halves(size, size), M=size, N=size, K=size,
                        lda=size, ldb=size, ldc=size), ["c"], (cdiv(size, 128), cdiv(size, 128)),
                   dict(BT=transposed, **tiles), dict(num_warps=8, num_stages=3))
    for t in (4096, 4000):
        yield (f"attention, 32 heads, {t} x 64", "attention",
               dict(q=halves(32, t, 64), k=halves(32, t, 64), v=halves(32, t, 64), o=halves(32, t, 64), T=t, stride=64,
                    scale=0.18), ["o"], (cdiv(t, 128), 32), dict(BM=128, BN=64, W=64), dict(num_warps=4, num_stages=3))


def flavours_of(kernel):
    from flavours import NATIVE

    yield "by hand", f"{kernel}_by_hand", dict(D="never")
    if NATIVE:
        yield "Triton's", f"{kernel}_triton", dict(D="never")
    yield "library", f"{kernel}_library", dict(D="never")
    checks = dict(CHECK=(0, 1), CHECK_T=(0, 1)) if kernel == "attention" else {}
    yield "library, descriptors", f"{kernel}_library", dict(D="promise", **checks)


def timed(launches):
    """Milliseconds of each launch: the median of rounds that take them in turn, as clocks and memory warm up."""
    import torch

    flush = torch.empty(256 << 20, dtype=torch.int8, device="cuda")  # larger than the L2 cache
    times = {name: [] for name in launches}
    for round in range(30):
        for name, launch in launches.items():
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            flush.zero_()
            start.record()
            launch()
            end.record()
            end.synchronize()
            if round >= 5:
                times[name].append(start.elapsed_time(end))
    return {name: float(np.median(each)) for name, each in times.items()}


def row_of(name, kernel, arguments, outputs, grid, constants, options):
    import torch

    import block_pointer_kernels as kernels

    launches, results, registers, errors = {}, {}, {}, {}
    for flavour, function, own in flavours_of(kernel):
        def launch(function=getattr(kernels, function), own=own):
            return function[grid](**arguments, **constants, **own, **options)
        for each in outputs:
            arguments[each].fill_(-1)
        try:
            compiled = launch()
            torch.cuda.synchronize()
        except Exception:
            errors[flavour] = traceback.format_exc()[-1500:]
            continue
        registers[flavour] = [compiled.n_regs, compiled.n_spills]
        results[flavour] = [arguments[each].clone() for each in outputs]
        launches[flavour] = launch
    expected = results["by hand"]
    equal = {flavour: all(bool((a == b).all()) for a, b in zip(expected, got)) for flavour, got in results.items()}
    apart = {flavour: max(float((a.double() - b.double()).abs().max()) for a, b in zip(expected, got))
             for flavour, got in results.items()}
    return dict(name=name, ms=timed(launches), registers=registers, equal=equal, apart=apart, errors=errors)


def markdown(document):
    versions = document["versions"]
    flavours = ["Triton's", "library", "library, descriptors"]
    lines = [f"{versions['gpu']}, Triton {versions['triton']}. Time as a ratio to pointers written by hand; registers "
             "and spills a thread in brackets.", "",
             "| kernel | by hand, ms | " + " | ".join(flavours) + " |", "|---|---|" + "---|" * len(flavours)]
    for row in document["times"]:
        base = row["ms"]["by hand"]
        cells = [f"{base:.3f} [{'+'.join(map(str, row['registers']['by hand']))}]"]
        for flavour in flavours:
            if flavour in row["errors"]:
                cells.append("error")
            elif flavour not in row["ms"]:
                cells.append("-")
            else:
                cells.append(f"{row['ms'][flavour] / base:.2f} [{'+'.join(map(str, row['registers'][flavour]))}]"
                             + ("" if row["equal"][flavour] else f", apart by {row['apart'][flavour]:.2g}"))
        lines.append(f"| {row['name']} | " + " | ".join(cells) + " |")
    lines += ["", f"Numbers: {document['checked']} reads and writes equal to numpy, {len(document['wrong'])} "
              f"not; {document['refused']} that Triton's own block pointers do not compile."]
    return "\n".join(lines) + "\n"


def verdict(document):
    """What is wrong, a line each."""
    for text in document["wrong"]:
        yield f"numbers: {text}"
    for row in document["times"]:
        for flavour, text in row["errors"].items():
            yield f"{row['name']}, {flavour}: {text}"
        for flavour, equal in row["equal"].items():
            # The order in which a descriptor's dot adds may differ: Triton gives it other instructions.
            if not equal and flavour != "library, descriptors":
                yield f"{row['name']}, {flavour}: results differ by {row['apart'][flavour]}"
        if "library" in row["ms"] and row["ms"]["library"] > LIMIT * row["ms"]["by hand"]:
            yield f"{row['name']}: {row['ms']['library'] / row['ms']['by hand']:.2f} of pointers written by hand"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--part", help="K/N: only the numbers of every N-th trial, in this process")
    parser.add_argument("--done", type=int, default=0, help="with --part: how many of them are done")
    options = parser.parse_args()
    if options.part:
        numbers_of(*map(int, options.part.split("/")), options.done)
        return 0
    import torch
    import triton

    from flavours import library

    start = time.time()
    checked, refused, wrong = all_numbers()
    print(f"numbers: {checked} equal, {refused} refused, {len(wrong)} not, {time.time() - start:.0f} s", flush=True)
    library().ensure_allocator()
    times = []
    for subject in subjects():
        times.append(row_of(*subject))
        print(json.dumps(times[-1]), flush=True)
    versions = dict(gpu=torch.cuda.get_device_name(0), triton=triton.__version__, torch=torch.__version__)
    document = dict(versions=versions, checked=checked, refused=refused, wrong=wrong, times=times,
                    remarks=library().remarks())
    problems = list(verdict(document))
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "block-pointers.json").write_text(json.dumps({**document, "problems": problems}, indent=1))
    (options.out / "block-pointers.md").write_text(markdown(document))
    print(markdown(document))
    print("\n".join(problems) or "no problems", f"({time.time() - start:.0f} s)")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
