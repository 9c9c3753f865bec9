"""Tilesight shows what a tile kernel does before it reaches the accelerator.

    import tilesight as ts

    @ts.trace(client="sanitizer")
    @triton.jit
    def kernel(...): ...

    report = ts.check(kernel)[grid](x, y, n, BLOCK=1024)
    report.show()

or, for a program as it is: `tilesight run script.py`.
"""

from .api import check, clear, launches, load, save, trace
from .capture.pointers import data_ptr
from .client import Client
from .config import config
from .errors import ArgumentError, Error, FindingsError, InternalError
from .report import Finding, Report

__all__ = ["ArgumentError", "Client", "check", "clear", "config", "data_ptr", "Error", "Finding", "FindingsError",
           "InternalError", "launches", "load",
           "Report", "save", "trace"]
