"""Kernels on restored block pointers, compiled for a GPU to machine code: they read and write memory as kernels on
pointers written by hand do. (On Triton 3.6 to 3.8: those on Triton's own block pointers.)"""

import json
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def test_as_many_and_as_wide_instructions(tmp_path):
    environment = {**os.environ, "TRITON_CACHE_DIR": str(tmp_path), "PYTHONWARNINGS": "ignore"}
    done = subprocess.run([sys.executable, str(HERE / "compiled.py")], env=environment, capture_output=True, text=True,
                          timeout=300)
    assert done.returncode == 0, done.stderr
    found = {}
    for line in map(json.loads, done.stdout.splitlines()):
        found[line["kernel"], line["flavour"]] = line
    kernels = {kernel for kernel, _ in found}
    assert kernels == {"add", "softmax", "swap", "matmul", "attention"}
    for kernel in kernels:
        by_hand, restored = found[kernel, "by_hand"], found[kernel, "triton"]
        assert restored["memory"] == by_hand["memory"] and restored["memory"], kernel
        assert restored["local"] == 0, f"{kernel} spills registers"
