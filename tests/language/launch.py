"""Kernels from text, and launches that must be clean."""

import importlib.util
import itertools
import sys

import tilesight as ts

HEAD = """import triton
import triton.language as tl
from triton.language.extra.cuda import libdevice
from triton.language.extra.hip import libdevice as ocml
"""
number = itertools.count()


def kernel(folder, source):
    """The function `kernel` of a module with this text (Triton wants its source in a file)."""
    name = f"language_kernel_{next(number)}"
    path = folder / f"{name}.py"
    path.write_text(HEAD + source)
    spec = importlib.util.spec_from_file_location(name, path)
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.kernel


def clean(function, *arguments, grid=(1,), **constants):
    """Runs a kernel and insists on a verdict without findings or unknowns."""
    report = ts.check(function)[grid](*arguments, **constants)
    assert not report.unknowns, report.unknowns
    assert not report.findings, [f["message"] for f in report.findings]
    return report


def check(function, *arguments, grid=(1,), **constants):
    return ts.check(function)[grid](*arguments, **constants)
