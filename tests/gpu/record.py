"""`record.py --out FILE.npz`: runs the table of tests/differential on a GPU, through plain Triton and torch, and
writes the arrays before and after each launch, as `NAME/before/ARGUMENT` and `NAME/after/ARGUMENT`; `versions` is JSON,
`errors` what was raised. Tilesight is not needed. One process for each file of cases, side by side: a kernel that
breaks the context takes its own file's cases with it, no others."""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

import numpy as np

DIFFERENTIAL = Path(__file__).resolve().parents[1] / "differential"


def versions():
    import torch
    import triton
    driver = subprocess.run(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"], capture_output=True, text=True)
    return {"gpu": torch.cuda.get_device_name(0), "capability": "%d.%d" % torch.cuda.get_device_capability(0), "triton": triton.__version__,
            "torch": torch.__version__, "cuda": torch.version.cuda, "driver": driver.stdout.strip(), "numpy": np.__version__,
            "python": platform.python_version()}


def cases_of(file):
    sys.path.insert(0, str(DIFFERENTIAL))
    from table import CASES
    return [case for case in CASES.values() if Path(case.kernel.fn.__code__.co_filename).stem == file]


def record(file, out):
    """The cases of one file, in this process."""
    import torch
    import triton
    triton.set_allocator(lambda size, alignment, stream: torch.empty(size, dtype=torch.int8, device="cuda"))
    result, errors = {}, {}
    for case in cases_of(file):
        if case.no_gpu:
            continue
        arguments = case.arguments()
        arrays = {k: v for k, v in arguments.items() if isinstance(v, np.ndarray)}
        try:
            tensors = {k: torch.from_numpy(v).cuda() for k, v in arrays.items()}
            case.kernel[case.grid](**{**arguments, **tensors}, **case.constants)
            torch.cuda.synchronize()
            after = {k: v.cpu().numpy() for k, v in tensors.items()}
        except Exception:
            errors[case.name] = traceback.format_exc()[-2000:]
            continue
        result |= {f"{case.name}/before/{k}": v for k, v in arrays.items()} | {f"{case.name}/after/{k}": v for k, v in after.items()}
    np.savez(out, errors=json.dumps(errors), **result)


def record_all(out):
    """The whole table, written to `out`; returns the errors by case."""
    result, errors = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        running = []
        for path in sorted(DIFFERENTIAL.glob("cases_*.py")):
            part = Path(folder) / f"{path.stem}.npz"
            running.append((path.stem, part, subprocess.Popen([sys.executable, __file__, "--file", path.stem, "--out", part])))
        for name, part, process in running:
            if process.wait() != 0:
                errors[name] = f"exit status {process.returncode}"
                continue
            with np.load(part) as file:
                errors |= json.loads(str(file["errors"]))
                # What a launch leaves as it was is kept once.
                result |= {k: file[k] for k in file.files if k != "errors" and not unchanged(k, file)}
    np.savez_compressed(out, errors=json.dumps(errors), versions=json.dumps(versions()), **result)
    return errors


def unchanged(key, file):
    name, when, argument = key.rsplit("/", 2)
    before = f"{name}/before/{argument}"
    return when == "after" and file[before].tobytes() == file[key].tobytes()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", required=True)
    parser.add_argument("--file", help="only this file of cases, in this process")
    options = parser.parse_args()
    if options.file:
        record(options.file, options.out)
        return
    errors = record_all(options.out)
    print(versions())
    for name, text in errors.items():
        print(f"{name}: {text.strip().splitlines()[-1]}")
    print(f"{options.out}: {os.path.getsize(options.out)} bytes, {len(errors)} errors")


if __name__ == "__main__":
    main()
