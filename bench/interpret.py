"""Runs a program under Triton's interpreter without torch: `interpret.py SCRIPT`. What it imports as torch
is the stand-in of tensor.py."""

import os
import runpy
import sys
import types

os.environ["TRITON_INTERPRET"] = "1"

from tensor import Tensor

torch = types.ModuleType("torch")
torch.from_numpy = torch.Tensor = Tensor
sys.modules["torch"] = torch
runpy.run_path(sys.argv[1], run_name="__main__")
