"""`interpreted.py OUT NAME..`: runs cases under Triton's interpreter and writes the arrays after each launch to OUT
(.npz), as `case/argument`; what a case raised is `case` itself, as text. A process of its own, because Triton decides
at import whether it interprets; numpy arrays take the place of torch's tensors."""

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


def run(case):
    arguments = case.arguments()
    tensors = {k: Tensor(v) if isinstance(v, np.ndarray) else v for k, v in arguments.items()}
    case.kernel[case.grid](**tensors, **case.constants)
    return {k: v for k, v in arguments.items() if isinstance(v, np.ndarray)}


def main(out, names):
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    from table import CASES
    result = {}
    for name in names:
        try:
            result.update({f"{name}/{k}": v for k, v in run(CASES[name]).items()})
        except Exception:
            result[name] = np.array(traceback.format_exc())
    np.savez(out, **result)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
