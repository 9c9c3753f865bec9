"""All cases, by name."""

import importlib
from pathlib import Path

from case import CASES

for path in sorted(Path(__file__).parent.glob("cases_*.py")):
    importlib.import_module(path.stem)

__all__ = ["CASES"]
