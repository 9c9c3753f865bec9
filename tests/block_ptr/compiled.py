"""Compiles the kernels that tests/gpu times for a GPU that need not be there, to machine code: on pointers written by
hand, and on Triton's block pointers, which restore_block_pointers puts back where this Triton has removed them. One line
of JSON a kernel: registers a thread, bytes of local memory, and instructions that read and write global memory with how
wide they are. Descriptors are not asked for."""

import inspect
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "tests" / "gpu"), str(ROOT / "tests" / "block_ptr")]

KERNELS = {  # name: (types, constexprs)
    "add": (dict(x="*fp32", y="*fp32", z="*fp32", n="i32"), dict(B=1024)),
    "softmax": (dict(x="*fp32", y="*fp32", M="i32", N="i32", stride="i32"), dict(BM=4, BN=1024)),
    "swap": (dict(x="*fp32", y="*fp32", A="i32", M="i32", N="i32"), dict(BM=64, BN=64)),
    "matmul": (dict(a="*fp16", b="*fp16", c="*fp16", M="i32", N="i32", K="i32", lda="i32", ldb="i32", ldc="i32"),
               dict(BT=False, BM=128, BN=128, BK=64)),
    "attention": (dict(q="*fp16", k="*fp16", v="*fp16", o="*fp16", T="i32", stride="i32", scale="fp32"),
                  dict(BM=128, BN=64, W=64)),
}
MEMORY = re.compile(r"\b(ld\.global\S*|st\.global\S*|cp\.async\.c[ag]\S*)")


def compiled(name, flavour):
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    import block_pointer_kernels

    function = getattr(block_pointer_kernels, f"{name}_{flavour}")
    types, constants = KERNELS[name]
    values = {"D": "never", **constants}
    for parameter in inspect.signature(function.fn).parameters.values():
        if parameter.default is not parameter.empty:
            values.setdefault(parameter.name, parameter.default)
    names = function.arg_names
    values = {n: values[n] for n in names if n not in types}
    signature = {n: types.get(n, "constexpr") for n in names}
    aligned = {(i,): [["tt.divisibility", 16]] for i, n in enumerate(names) if n in types and types[n] != "fp32"}
    return triton.compile(ASTSource(function, signature, values, aligned), target=GPUTarget("cuda", 90, 32),
                          options={"num_warps": 8}).asm


def usage(cubin):
    """(registers a thread, bytes of local memory) of a binary, by the tool that comes with Triton."""
    import triton

    tool = Path(triton.__file__).parent / "backends" / "nvidia" / "bin" / "cuobjdump"
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        said = subprocess.run([tool, "-res-usage", file.name], capture_output=True, text=True, check=True).stdout
    return int(re.search(r"REG:(\d+)", said)[1]), int(re.search(r"STACK:(\d+)", said)[1])


def main():
    import tilesight as ts

    ts.triton.restore_block_pointers()
    for name in KERNELS:
        for flavour in "by_hand", "triton":
            asm = compiled(name, flavour)
            registers, local = usage(asm["cubin"])
            counts = {}
            for instruction in MEMORY.findall(asm["ptx"]):
                counts[instruction] = counts.get(instruction, 0) + 1
            print(json.dumps({"kernel": name, "flavour": flavour, "registers": registers, "local": local,
                              "memory": dict(sorted(counts.items()))}))


if __name__ == "__main__":
    main()
