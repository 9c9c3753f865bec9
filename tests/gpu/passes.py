"""`passes.py --out FOLDER [--tool TILESIGHT]`: Tilesight's passes inside of Triton on a GPU. Each kernel of pass_kernels.py is
compiled without a pass and with it: results, registers, spills, instructions (PTX and SASS) and times, as passes.json and
passes.md. TILESIGHT is the command, where the Python module is not built; without a GPU, `--dry` compiles for one and says
what the passes do. Exit status 1 if results differ, or a pass does nothing to a kernel that is here for it."""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent.parent / "python")]
warnings.filterwarnings("ignore", message=".*make_block_ptr is deprecated.*")

import triton

CHECKS, FUSE, HOIST = "remove-boundary-checks", "fuse-reshape", "hoist-layout-conversions"


@dataclass
class Subject:
    """A kernel, one pass for it, and a launch. Tensors are (type, shape) and come first; `numbers` are the other arguments."""

    kernel: str
    run: str                      # the pass, with options
    tensors: dict
    outputs: list
    numbers: dict = field(default_factory=dict)
    constants: dict = field(default_factory=dict)
    grid: tuple = (1,)
    options: dict = field(default_factory=dict)
    note: str = ""

    @property
    def name(self):
        return self.kernel + (f", {self.note}" if self.note else "")


def subjects():
    def cdiv(a, b):
        return -(-a // b)

    n = 1 << 26
    yield Subject("add", CHECKS + f'{{assume="grid.x={n // 1024} n={n}"}}', dict(x=("fp32", [n]), y=("fp32", [n]), z=("fp32", [n])), ["z"], dict(n=n), dict(B=1024),
                  (n // 1024,))
    yield Subject("softmax", CHECKS + '{assume="columns=4096"}', dict(x=("fp32", [16384, 4096]), y=("fp32", [16384, 4096])), ["y"], dict(columns=4096), dict(B=4096), (16384,),
                  dict(num_warps=8))
    yield Subject("layer_norm", CHECKS + '{assume="columns%1024=0"}', dict(x=("fp16", [8192, 8192]), w=("fp16", [8192]), b=("fp16", [8192]), y=("fp16", [8192, 8192])), ["y"],
                  dict(columns=8192), dict(B=1024), (8192,))
    size, tiles = 4096, dict(BM=128, BN=128, BK=64)
    square = {each: ("fp16", [size, size]) for each in "abc"}
    sizes, all_known = dict(M=size, N=size, K=size), f"grid.x={size // 128} grid.y={size // 128} M={size} N={size} K={size}"
    for kernel in ("matmul", "block_matmul"):
        for note, promise in (("K%64=0", "K%64=0"), ("all sizes", all_known)):
            if kernel == "matmul" or note == "all sizes":
                yield Subject(kernel, f'{CHECKS}{{assume="{promise}"}}', square, ["c"], sizes, tiles, (size // 128, size // 128), dict(num_warps=8, num_stages=3), note)
    batch = dict(batches=16, M=1024, N=1024, K=1024)
    cube = {each: ("fp16", [16, 1024, 1024]) for each in "abc"}
    yield Subject("batched", FUSE, cube, ["c"], batch, tiles, (8, 8, 16), dict(num_warps=8, num_stages=3))
    yield Subject("batched", FUSE + '{assume="grid.z=16 batches=16"}', cube, ["c"], batch, tiles, (8, 8, 16), dict(num_warps=8, num_stages=3), "batches known")
    yield Subject("heads", FUSE, dict(q=("fp16", [4096, 16, 64]), k=("fp16", [4096, 16, 64]), o=("fp32", [4096, 16, 64])), ["o"], dict(T=4096), dict(H=16, D=64, B=64), (64, 16))
    yield Subject("slices_sum", FUSE + '{assume="grid.x=128 M=8192"}', dict(x=("fp16", [32, 8192, 128]), y=("fp32", [8192, 128])), ["y"], dict(M=8192), dict(K=128, Z=32, BM=64),
                  (128,))
    yield Subject("gather", FUSE, dict(x=("fp16", [64, 1000, 64]), y=("fp16", [96, 1000, 64]), which=("i32", [96])), ["y"], dict(Z=64, M=1000), dict(K=64, BM=64), (cdiv(1000, 64), 96),
                  note="a third of the slices is outside")
    for rows, warps in ((32, 4), (64, 2)):
        whole = ("fp16", [32, 4096, 64])
        yield Subject("attention", HOIST, dict(q=whole, k=whole, v=whole, o=("fp32", whole[1])), ["o"], dict(T=4096, scale=0.125), dict(BM=rows, BN=64, D=64), (4096 // rows, 32),
                      dict(num_warps=warps, num_stages=2), f"{rows} rows, {warps} warps")
    yield Subject("project", HOIST, dict(x=("fp16", [1024 * 256, 64]), w=("fp16", [64, 64]), y=("fp16", [1024 * 256, 64])), ["y"], dict(T=256), dict(B=32, D=64), (1024,))
    yield Subject("twice", HOIST, dict(x=("fp16", [2048 * 32, 64]), w=("fp16", [8, 64, 64]), y=("fp32", [2048 * 32, 64])), ["y"], dict(T=8, U=8), dict(B=32, D=64), (2048,))
    yield Subject("twice", HOIST + "{budget=0}", dict(x=("fp16", [2048 * 32, 128]), w=("fp16", [8, 128, 128]), y=("fp32", [2048 * 32, 128])), ["y"], dict(T=8, U=8), dict(B=32, D=128),
                  (2048,), note="128 wide, no budget")


def function_of(subject):
    """The kernel again, so that nothing compiled before is used."""
    import pass_kernels

    return triton.jit(getattr(pass_kernels, subject.kernel).fn)


def signature_of(subject):
    types = {name: "*" + type for name, (type, _) in subject.tensors.items()}
    numbers = {name: "fp32" if isinstance(value, float) else "i32" for name, value in subject.numbers.items()}
    return {**types, **numbers, **{name: "constexpr" for name in subject.constants}}


def compiled_without_gpu(subject, capability=90):
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    source = ASTSource(function_of(subject), signature=signature_of(subject), constexprs=subject.constants)
    return triton.compile(source, target=GPUTarget("cuda", capability, 32), options=subject.options)


def instructions(kernel):
    """(PTX, SASS): how many instructions each has."""
    ptx = sum(1 for line in kernel.asm["ptx"].splitlines() if re.match(r"\s+(@!?%p\d+ )?[a-z][\w.:]*\s.*;", line) or line.strip() in ("ret;", "}"))
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(kernel.asm["cubin"])
        file.flush()
        try:
            text = subprocess.run(["cuobjdump", "-sass", file.name], capture_output=True, text=True, check=True).stdout
        except (OSError, subprocess.CalledProcessError):
            return ptx, None
    return ptx, len(re.findall(r"/\*[0-9a-f]{4,}\*/\s+[^/\s]", text)) or None


def with_pass(subject, compile):
    """What `compile()` gives with the pass installed, and what the pass said."""
    from tilesight.triton import install_passes

    installed = install_passes([subject.run])
    try:
        return compile(), installed.remarks
    finally:
        installed.remove()


def fired(remarks):
    return sorted({f"{r['kind']} {r['rule']}" for r in remarks if r["kind"] == "done"})


def random_tensors(subject):
    import torch

    torch.manual_seed(0)
    made = {}
    for name, (type, shape) in subject.tensors.items():
        if type == "i32":
            made[name] = torch.randint(-16, 80, shape, device="cuda", dtype=torch.int32)
        else:
            made[name] = torch.randn(shape, device="cuda", dtype=dict(fp16=torch.float16, fp32=torch.float32)[type])
    return made


def row_of(subject):
    import torch

    tensors = random_tensors(subject)

    def launcher():
        kernel = function_of(subject)
        return lambda: kernel[subject.grid](**tensors, **subject.numbers, **subject.constants, **subject.options)

    def outputs(launch):
        for name in subject.outputs:
            tensors[name].fill_(-1)
        compiled = launch()
        torch.cuda.synchronize()
        return compiled, [tensors[name].clone() for name in subject.outputs]

    launch, other = launcher(), launcher()
    before, expected = outputs(launch)
    (after, got), remarks = with_pass(subject, lambda: outputs(other))
    again, _ = outputs(other)
    assert again.hash == after.hash, "what is timed is what was compiled with the pass"
    times = {"before": [], "after": []}
    for _ in range(5):
        for name, one in (("before", launch), ("after", other)):
            times[name].append(triton.testing.do_bench(one, warmup=10, rep=60, return_mode="median"))
    stages = {stage: before.asm[stage] != after.asm[stage] for stage in ("ttir", "ttgir", "ptx")}
    strip = [re.sub(r"//.*|\s*\.loc.*|\s*\.file.*", "", k.asm["ptx"]) for k in (before, after)]
    return dict(name=subject.name, run=subject.run, fired=fired(remarks),
                refused=sorted({f"{r['rule']}" for r in remarks if r["kind"] == "refused"}),
                equal=all(torch.equal(a, b) for a, b in zip(expected, got)), changed={**stages, "ptx": strip[0].split() != strip[1].split()},
                registers=[before.n_regs, after.n_regs], spills=[before.n_spills, after.n_spills],
                instructions=[instructions(before), instructions(after)], ms=[min(times["before"]), min(times["after"])])


def markdown(document):
    versions = document["versions"]
    lines = [f"{versions['gpu']}, Triton {versions['triton']}; before → after; times are the smallest of five medians.", "",
             "| kernel | pass | done | registers | spills | instructions (SASS) | ms | ratio |", "|---|---|---|---|---|---|---|---|"]

    def change(pair):
        return f"{pair[0]} → {pair[1]}" if pair[0] != pair[1] else f"{pair[0]}"

    for row in document["rows"]:
        if "error" in row:
            lines.append(f"| {row['name']} | {row['run'].split('{')[0]} | error | | | | | |")
            continue
        done = ", ".join(rule.split()[1] for rule in row["fired"]) or "nothing"
        if not row["changed"]["ptx"]:
            done += "; the same PTX"
        if not row["equal"]:
            done += "; RESULTS DIFFER"
        sass = change([pair[1] if pair[1] is not None else f"{pair[0]} PTX" for pair in row["instructions"]])
        lines.append(f"| {row['name']} | {row['run'].split('{')[0]} | {done} | {change(row['registers'])} | {change(row['spills'])} | {sass} | "
                     f"{row['ms'][0]:.4f} → {row['ms'][1]:.4f} | {row['ms'][1] / row['ms'][0]:.3f} |")
    return "\n".join(lines) + "\n"


def verdict(row):
    if "error" in row:
        return f"{row['name']}: {row['error']}"
    if not row["equal"]:
        return f"{row['name']}: results differ"
    if not row["fired"]:
        return f"{row['name']}: {row['run']} does nothing"


def use_tool(path):
    """The passes run by a command instead of the Python module."""
    from tilesight.passes import Optimized
    from tilesight.triton import passes

    def run(text, file, names, plugins=(), **_):
        with tempfile.TemporaryDirectory() as folder:
            source, result, remarks = (Path(folder) / each for each in ("in.mlir", "out.mlir", "remarks.json"))
            source.write_text(text)
            command = [path, "opt", source, "-o", result, "--remarks-json", remarks]
            for name in names:
                command += ["--pass", name]
            for library in plugins:
                command += ["--plugin", library]
            subprocess.run(command, check=True)
            after = Optimized(result.read_text())
            after.remarks = json.loads(remarks.read_text())
            return after

    passes.run = run


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--tool", help="the command `tilesight`, where its Python module is not there")
    parser.add_argument("--dry", action="store_true", help="compile only, for a GPU that need not be there")
    options = parser.parse_args()
    os.environ.setdefault("TRITON_CACHE_DIR", tempfile.mkdtemp(prefix="tilesight-triton-"))
    if options.tool:
        use_tool(options.tool)
    if options.dry:
        silent = False
        for subject in subjects():
            if subject.kernel == "block_matmul" and not hasattr(triton.language, "advance"):
                continue
            _, remarks = with_pass(subject, lambda: compiled_without_gpu(subject))
            print(subject.name, subject.run.split("{")[0], fired(remarks) or "nothing", sorted({r["rule"] for r in remarks if r["kind"] == "refused"}))
            silent |= not fired(remarks)
        return 1 if silent else 0
    import torch

    triton.set_allocator(lambda size, alignment, stream: torch.empty(size, dtype=torch.int8, device="cuda"))
    start, rows = time.time(), []
    for subject in subjects():
        try:
            rows.append(row_of(subject))
        except Exception:
            rows.append(dict(name=subject.name, run=subject.run, error=traceback.format_exc()[-1500:]))
        print(json.dumps(rows[-1]), flush=True)
    document = dict(versions=dict(gpu=torch.cuda.get_device_name(0), triton=triton.__version__, torch=torch.__version__), rows=rows,
                    problems=list(filter(None, map(verdict, rows))))
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "passes.json").write_text(json.dumps(document, indent=1))
    (options.out / "passes.md").write_text(markdown(document))
    print(markdown(document))
    print("\n".join(document["problems"]) or "no problems", f"({time.time() - start:.0f} s)")
    return 1 if document["problems"] else 0


if __name__ == "__main__":
    sys.exit(main())
