"""`interpreted.py OUT SEED..`: reads and writes every case by hand, and those of the seeds, under Triton's interpreter,
with both flavours. What differs from the reference goes to OUT, a line each. A process of its own, because Triton
decides at import whether it interprets; numpy arrays take the place of torch's tensors."""

import os
import sys
import traceback
import types
import warnings
from pathlib import Path

HERE = Path(__file__).resolve().parent
os.environ["TRITON_INTERPRET"] = "1"
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "bench")]

import numpy as np

from tensor import Tensor

torch = types.ModuleType("torch")
torch.from_numpy = torch.Tensor = Tensor
sys.modules["torch"] = torch

from cases import BY_HAND, at_random
from flavours import FLAVOURS, RELEASE, kernels


def interpreted(flavour):
    def run(kernel, arguments):
        tensors = {k: Tensor(v) if isinstance(v, np.ndarray) else v for k, v in arguments.items()}
        getattr(kernels(flavour), kernel)[(1,)](**tensors)
    return run


def check(case, flavour):
    """What is wrong, or None."""
    try:
        values, expected, defined = case.read(interpreted(flavour))
        np.testing.assert_array_equal(values[defined], expected[defined])
        if case.dtype != "bool":  # a block pointer to int1 is one to int8: Triton up to 3.7 stores no int1 there
            np.testing.assert_array_equal(*case.write(interpreted(flavour)))
    except Exception:
        return traceback.format_exc()
    return None


def main(out, seeds):
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    cases = {**BY_HAND, **{f"seed {seed}": at_random(int(seed)) for seed in seeds}}
    tried = 0
    with open(out, "w") as file:
        for name, case in cases.items():
            for flavour in FLAVOURS:
                if case.refused(flavour, RELEASE):
                    continue
                wrong = check(case, flavour)
                tried += 1
                if wrong:
                    print(f"{name}, {flavour}, Triton {RELEASE}: {case}\n{wrong}", file=file)
    print(tried)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
