"""Every program of this folder under `tilesight run`, a batch of them a process.

A program passes when its own check does, every launch of it is clean, and there was one. Which launch
belongs to which program is known by the kernel's name, so no two programs may have a kernel of the same
name.
"""

import ast
import functools
import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parent
NO_PROGRAMS = {"run_batch.py", "test_programs.py"}
BATCH = 8

# Programs that do not pass yet, and why. They are strict: one that passes must leave the list.
WAITING = {
}


@functools.cache
def tree(name):
    return ast.parse((FOLDER / f"{name}.py").read_text())


def uses_torch(name):
    return any(isinstance(node, ast.Import) and any(alias.name == "torch" for alias in node.names)
               for node in tree(name).body)


def kernels(name):
    """The names of the program's functions under @triton.jit."""
    return [node.name for node in tree(name).body if isinstance(node, ast.FunctionDef)
            and any("triton.jit" in ast.unparse(decorator) for decorator in node.decorator_list)]


PROGRAMS = sorted(path.stem for path in FOLDER.glob("*.py") if path.name not in NO_PROGRAMS)
PLAIN = [name for name in PROGRAMS if not uses_torch(name) and name not in WAITING]
TORCH = [name for name in PROGRAMS if uses_torch(name) and name not in WAITING]

torch_only = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="needs torch")


def batches(names):
    return [pytest.param(names[i:i + BATCH], id=f"{names[i]}..{names[i:i + BATCH][-1]}")
            for i in range(0, len(names), BATCH)]


def run(names, folder):
    """What is wrong with each program, by name: an empty dict when nothing is."""
    report = folder / "report.json"
    done = subprocess.run(
        [sys.executable, "-m", "tilesight", "run", "--json", str(report), str(FOLDER / "run_batch.py"),
         *(str(FOLDER / f"{name}.py") for name in names)],
        text=True, capture_output=True, timeout=300, cwd=folder,
        env={**os.environ, "TILESIGHT_CACHE_DIR": str(folder / "cache")})
    if not report.exists():
        raise RuntimeError(f"tilesight run left no report (exit status {done.returncode}): {done.stderr}")
    said = json.loads(report.read_text())
    launched = {kernel["kernel"]: kernel for kernel in said["kernels"]}
    wrong = {}
    rest = done.stdout
    for name in names:
        ended = re.search(rf"^program \S*/{name}\.py: (passed|failed) after .*$", rest, re.MULTILINE)
        if not ended:
            wrong[name] = f"did not end (exit status {done.returncode}): {rest}{done.stderr}"
            break
        own, rest = rest[:ended.end()], rest[ended.end():]
        checked = [launched[kernel] for kernel in kernels(name) if kernel in launched]
        if ended[1] == "failed":
            wrong[name] = own
        elif not re.search(rf"^{name}: .*max error", own, re.MULTILINE):
            wrong[name] = f"did not say its error: {own}"
        elif not checked:
            wrong[name] = "no launch of its kernels was checked"
        elif any(kernel["verdict"] != "ok" for kernel in checked):
            wrong[name] = f"{[(kernel['kernel'], kernel['verdict']) for kernel in checked]}\n{done.stderr}"
    if not wrong and (done.returncode, said["verdict"]) != (0, "ok"):
        wrong["the run"] = f"exit status {done.returncode}: {done.stderr}"
    return wrong


def explain(wrong):
    return "\n".join(f"{name}: {what}" for name, what in wrong.items())


@pytest.mark.parametrize("names", batches(PLAIN))
def test_programs(names, tmp_path):
    wrong = run(names, tmp_path)
    assert not wrong, explain(wrong)


@torch_only
@pytest.mark.parametrize("names", batches(TORCH))
def test_programs_on_torch(names, tmp_path):
    wrong = run(names, tmp_path)
    assert not wrong, explain(wrong)


@pytest.mark.parametrize("name", [
    pytest.param(name, marks=[pytest.mark.slow,
                              pytest.mark.xfail(strict=True, raises=AssertionError, reason=reason),
                              *([torch_only] if uses_torch(name) else [])])
    for name, reason in WAITING.items()])
def test_programs_that_wait(name, tmp_path):
    wrong = run([name], tmp_path)
    assert not wrong, explain(wrong)


def test_kernel_names_tell_programs_apart():
    owners = {}
    for name in PROGRAMS:
        assert kernels(name), name
        for kernel in kernels(name):
            owners.setdefault(kernel, []).append(name)
    assert {kernel: names for kernel, names in owners.items() if len(names) > 1} == {}
    assert set(WAITING) <= set(PROGRAMS)
