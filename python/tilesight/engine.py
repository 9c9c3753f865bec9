"""Launches on the native engine: between capture's view of a launch and the `_native` module."""

import functools
import json
import os

from .config import config
from .errors import Error


@functools.lru_cache(maxsize=None)
def native():
    """The native module, or an error that says how to get it."""
    try:
        from . import _native
    except ImportError as error:
        raise Error(f"the native part of Tilesight cannot be loaded ({error}); install it with "
                    "`pip install .` in the project's folder, with this Python") from error
    return _native


def _compiled(kernel):
    if kernel.native is None:
        from .capture.triton import Backend

        shared = Backend.shared()
        built = native().compile(kernel.text, kernel.file)
        built.describe(kernel.name, json.dumps(kernel.config), shared.version, shared.target_name,
                       kernel.sources)
        kernel.native = built
    return kernel.native


def current_test():
    """The pytest node that is running, or ""."""
    text = os.environ.get("PYTEST_CURRENT_TEST", "")
    return text.rsplit(" (", 1)[0] if text else ""


def threads():
    """Threads of the engine: what is set, else all cores (0), shared among pytest-xdist's workers."""
    chosen = config.threads
    if chosen is not None:
        return chosen
    workers = os.environ.get("PYTEST_XDIST_WORKER_COUNT")
    return max(1, _cores() // int(workers)) if workers else 0


def _cores():
    """That this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def launch(kernel, bound, grid, clients, autotune=None, index=0, uninitialized=(), keep=0,
           keep_short=False, trace=None):
    """Runs one launch in place and returns its native report.

    kernel         a capture.triton.Specialisation
    bound          parameter name -> value, as Triton's binder gave them
    grid           (x, y, z)
    clients        names and tilesight.Client objects
    autotune       what the report says about the chosen configuration, or None
    uninitialized  arrays that hold no data yet
    keep           a launch with at most this many bytes keeps a copy of its inputs
    keep_short     they are used before the program goes on: what the launch cannot write is not copied
    trace          the native TraceFolder that it is recorded in, or None
    """
    built = _compiled(kernel)
    described, storages = kernel.layout.describe(list(bound.values()))
    staged = []
    for row in storages:
        pages = None
        if row[5] is not None:
            pages = row[5](row[0], row[1])
            row[0] = pages.address
            staged.append(pages)
        row[5] = pages and pages.pager
    if kernel.gives_addresses:
        from .capture import pointers

        for row in storages:
            owner = row[6][0] if isinstance(row[6], tuple) else row[6]
            pointers.remember(owner, row[2], row[1], for_good=False)
    empty = _uninitialized_rows(storages, uninitialized) if uninitialized else ()
    configuration = "" if autotune is None else json.dumps({**kernel.config, "autotune": autotune})
    rows = [(*row[:5], row[7], row[5], row[6]) for row in storages]
    report = native().launch(built, grid, described, rows, clients, threads(),
                             bool(config.address_only), index, current_test(), configuration, empty,
                             keep, keep_short, config.num_sms or 0, _multiprocessors(), config.seed or 0, config.timeout or 0.0,
                             "tracer" in clients, trace)
    for pages in staged:
        pages.bring_back()
    return report


def _multiprocessors():
    """Of the GPU that the program is told of."""
    from .capture import gpus

    return gpus.chosen().multiprocessors


def _uninitialized_rows(storages, arrays):
    from .capture import storage

    bases = {storage.of(array).base for array in arrays}
    return tuple(row for row, entry in enumerate(storages) if entry[2] in bases)


def unknown_launch(index, kernel, reason, file, line):
    """The report of a launch that was not executed at all."""
    return native().unknown_launch(index, kernel, reason, file, line)
