"""kernels.py twice: on Triton's own block pointers, and on those of the library."""

import importlib.util
import sys
from pathlib import Path

import triton
import triton.language as tl

RELEASE = tuple(int(x) for x in triton.__version__.split(".")[:2])
NATIVE = RELEASE < (3, 9)  # Triton has block pointers of its own
HERE = Path(__file__).resolve().parent


def from_file(name, path):
    """The module of a file, which may lie anywhere; found again under its name."""
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, path)
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


def library():
    """The file, as a project that has copied it would import it: without Tilesight."""
    return from_file("block_ptr_of_the_tests", HERE.parents[1] / "python" / "tilesight" / "triton" / "block_ptr.py")


def descriptors():
    """The library with descriptors wherever it may take them, for kernels that know nothing of them."""
    name = "block_ptr_descriptors"
    if name not in sys.modules:
        from_file(name, HERE / "on_descriptors.py")
    return sys.modules[name]


def kernels(flavour):
    """The kernels on "triton"'s block pointers, on the "library"'s, or on the library's with "descriptors"."""
    name = f"block_ptr_kernels_{flavour}"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, HERE / "kernels.py")
        module = sys.modules[name] = importlib.util.module_from_spec(spec)
        module.bp = {"triton": lambda: tl, "library": library, "descriptors": descriptors}[flavour]()
        spec.loader.exec_module(module)
    return sys.modules[name]


FLAVOURS = ["library", "triton"] if NATIVE else ["library"]
