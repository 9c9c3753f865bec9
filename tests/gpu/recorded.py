"""What record.py wrote, and the engine beside it. `recorded.py FILE.npz NAME` keeps a recording in the repository:
tests/data/gpu/NAME.npz, without the inputs, which this machine makes alike, and with only a digest of what the engine
has the same bytes of; and NAME.tsv, how far the engine is from it."""

import hashlib
import inspect
import json
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

TESTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS / "differential"))

from bounds import NotCompared, is_float, same, ulps
from table import CASES

FOLDER = TESTS / "data" / "gpu"


def digest(case):
    """Of the kernel and its inputs: a recording is of these alone."""
    arguments = case.arguments()
    text = inspect.getsource(case.kernel.fn) + repr(sorted((k, str(v)) for k, v in case.constants.items())) + repr(case.grid)
    total = hashlib.sha1(text.encode())
    for name, value in arguments.items():
        total.update(name.encode() + (value.tobytes() if isinstance(value, np.ndarray) else repr(value).encode()))
    return total.hexdigest()[:16]


def fingerprint(array):
    return hashlib.sha1(array.tobytes()).hexdigest()[:16]


class Recording:
    def __init__(self, path):
        self.path = Path(path)
        with np.load(path) as file:
            self.arrays = {name: file[name] for name in file.files}
        self.versions = json.loads(str(self.arrays["versions"]))
        self.errors = json.loads(str(self.arrays["errors"]))
        self.digests = json.loads(str(self.arrays["digests"])) if "digests" in self.arrays else {}
        self.equal = json.loads(str(self.arrays["equal"])) if "equal" in self.arrays else {}

    @property
    def name(self):
        return self.path.stem

    def after(self, case, here):
        """The arrays after the launch there, by name; `here`: the engine's. KeyError: it did not run there, or only
        a digest is known, which the engine's array does not have."""
        if case.name in self.errors:
            raise KeyError(self.errors[case.name].strip().splitlines()[-1])
        result = {}
        for name, value in case.arguments().items():
            if not isinstance(value, np.ndarray):
                continue
            key = f"{case.name}/after/{name}"
            if key in self.equal:
                if self.equal[key] != fingerprint(here[name]):
                    raise KeyError(f"{case.name}: {name} was the same bytes as there, and is not now")
                result[name] = here[name]
            else:
                result[name] = self.arrays.get(key, value)
        return result

    def stale(self, case):
        """Why it is not of this kernel and these inputs, or None."""
        if case.name in self.digests:
            return None if self.digests[case.name] == digest(case) else "the kernel or its inputs are others than when it was recorded"
        for name, value in case.arguments().items():
            key = f"{case.name}/before/{name}"
            if isinstance(value, np.ndarray) and self.arrays[key].tobytes() != value.tobytes():
                return f"{name} was another array there"
        return None


@dataclass(frozen=True)
class Distance:
    """How far apart two arrays are."""
    elements: int
    different: int
    unpromised: int  # of these, elements that the bound promises nothing of; the numbers below are of the others
    ulps: float  # of floats: the most units in the last place
    relative: float  # the most |a - b| / |b|, where both are finite and b is not 0
    used: float | None  # the share of the bound that the largest difference takes, where the bound is a size

    @staticmethod
    def of(got, expected, bound, arguments):
        apart, promised = ~same(got, expected), bound.promised(got, expected, arguments)
        different, unpromised = int(apart.sum()), int((apart & ~promised).sum())
        if unpromised and not isinstance(bound, NotCompared):
            got = np.where(promised.reshape(got.shape), got, expected)
            apart = apart & promised
        most, relative = 0.0, 0.0
        if is_float(got) and apart.any():
            most = float(ulps(got, expected).max())
            with np.errstate(all="ignore"):
                a, b = got.astype(np.float64), expected.astype(np.float64)
                ratio = np.abs(a - b) / np.abs(b)
            relative = float(np.nanmax(np.where(np.isfinite(ratio), ratio, 0)))
        used = bound.used(got, expected, arguments) if hasattr(bound, "used") else None
        return Distance(got.size, different, unpromised, most, relative, used)

    def row(self):
        return f"{self.elements}\t{self.different}\t{self.unpromised}\t{self.ulps:.6g}\t{self.relative:.3g}\t" + ("" if self.used is None else f"{self.used:.2g}")


def distances(case, got, expected):
    """(label, Distance) of each part that the kernel wrote."""
    before = case.arguments()
    for label, name, index in case.parts(expected):
        a, b = (np.ascontiguousarray(arrays[name][index]) for arrays in (got, expected))
        if not (a.tobytes() == b.tobytes() == np.ascontiguousarray(before[name][index]).tobytes()):
            yield label, Distance.of(a, b, case.bound(label, gpu=True), before)


def rows(recording):
    """The lines of NAME.tsv, and the engine's arrays by case."""
    import engine_run
    for case in CASES.values():
        here, _, _ = engine_run.run(case)
        try:
            if case.no_gpu:
                raise KeyError(case.no_gpu)
            there = recording.after(case, here)
        except KeyError as error:
            yield [f"{case.name}\t\t{error.args[0]}"], case, {}
            continue
        yield [f"{case.name}\t{label}\t{distance.row()}" for label, distance in distances(case, here, there)], case, here


def keep(path, name):
    import tilesight as ts
    ts.config.on_finding = "collect"
    recording = Recording(path)
    lines, arrays, equal = [], {}, {}
    for found, case, here in rows(recording):
        lines += found
        if case.name in recording.errors or case.no_gpu:
            continue
        assert recording.stale(case) is None, (case.name, recording.stale(case))
        for argument in here:
            key = f"{case.name}/after/{argument}"
            if key not in recording.arrays:
                continue
            if recording.arrays[key].tobytes() == here[argument].tobytes():
                equal[key] = fingerprint(here[argument])
            else:
                arrays[key] = recording.arrays[key]
    FOLDER.mkdir(parents=True, exist_ok=True)
    digests = {case.name: digest(case) for case in CASES.values()}
    np.savez_compressed(FOLDER / f"{name}.npz", versions=json.dumps(recording.versions), errors=json.dumps(recording.errors),
                        digests=json.dumps(digests), equal=json.dumps(equal), **arrays)
    (FOLDER / f"{name}.tsv").write_text("".join(f"{line}\n" for line in lines))


if __name__ == "__main__":
    keep(*sys.argv[1:])
