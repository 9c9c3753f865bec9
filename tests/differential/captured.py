"""A case as a launch for run_launches: its IR text and its arguments, as the Python module hands them to the engine."""

import ctypes

import numpy as np
from tilesight import engine
from tilesight.capture.arguments import DESCRIPTOR, SCALAR, TENSOR

from engine_run import run


def capture(case, monkeypatch):
    """(request, storages before, storages after, report) of a case, run on the engine."""
    taken = []
    original = engine.launch

    def launch(kernel, bound, grid, *args, **kwargs):
        described, rows = kernel.layout.describe(list(bound.values()))
        storages = lambda: [ctypes.string_at(row[0], row[1]) for row in rows]
        before = storages()
        report = original(kernel, bound, grid, *args, **kwargs)
        taken.append(({"text": kernel.text, "grid": list(grid), "arguments": [argument(row) for row in described]}, before, storages()))
        return report

    monkeypatch.setattr(engine, "launch", launch)
    report = run(case)[2]
    return *taken[0], report


def arrays_of(case, request, storages):
    """The case's array arguments, as they lie in storages."""
    rows = {row["name"]: row for row in request["arguments"]}
    result = {}
    for name, array in case.arguments().items():
        if isinstance(array, np.ndarray):
            raw = storages[rows[name]["storage"]][rows[name]["offset"]:][:array.nbytes]
            result[name] = np.frombuffer(raw, array.dtype).reshape(array.shape)
    return result


def argument(row):
    kind, name = row[:2]
    if kind == SCALAR:
        return {"name": name, "element": row[2], "bits": row[3]}
    if kind not in (TENSOR, DESCRIPTOR):
        return {"name": name, "text": row[2]}
    view = {"name": name, "element": row[2], "shape": row[4], "strides": row[5], "offset": row[6], "storage": row[7]}
    return view | ({"block": row[9], "padding_nan": row[10]} if kind == DESCRIPTOR else {})
