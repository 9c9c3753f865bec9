"""Tilesight shows what a tile kernel does before it reaches the accelerator.

    import tilesight as ts

    @ts.trace(client="sanitizer")
    @triton.jit
    def kernel(...): ...

    report = ts.check(kernel)[grid](x, y, n, BLOCK=1024)
    report.show()

or, for a program as it is: `tilesight run script.py`.
"""

import importlib

from .config import config
from .errors import ArgumentError, Error, FindingsError, InternalError, NoDeviceError

# Where the other names come from, at their first use: whatever only starts the package (the pytest plugin that
# every pytest of an environment loads, say) imports no numpy.
_HOMES = {"check": ".api", "clear": ".api", "launches": ".api", "load": ".api", "save": ".api", "trace": ".api",
          "data_ptr": ".capture.pointers", "opt": ".passes", "pass_": ".passes", "Client": ".client", "Finding": ".report", "Report": ".report",
          "triton": None}  # None: a package, not a name in a module

__all__ = ["ArgumentError", "config", "Error", "FindingsError", "InternalError", "NoDeviceError", *_HOMES]


def __getattr__(name):
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = _HOMES[name]
    module = importlib.import_module(home or f".{name}", __name__)
    value = globals()[name] = getattr(module, name) if home else module
    return value


def __dir__():
    return sorted({*globals(), *__all__})
