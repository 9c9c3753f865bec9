"""`run_cases.py MODULE RESULTS [CASE...]`: runs the cases of liger_cases, conch_cases or gems_cases, and writes what became of each
into the file RESULTS: {name: "" or what is wrong}."""

import importlib
import json
import sys
import traceback

import torch

module, results, *chosen = sys.argv[1:]
importlib.import_module(module)
from cases import CASES, UNCOMPARED  # noqa: E402

said = {}
for name in chosen or CASES:
    torch.manual_seed(0)
    try:
        CASES[name]()
        said[name] = ""
    except BaseException as error:  # the next one runs all the same
        place = traceback.extract_tb(error.__traceback__)[-1]
        said[name] = f"{type(error).__name__}: {error} ({place.filename.split('/')[-1]}:{place.lineno})"
    print(f"{module} {name}: {said[name] or 'as expected'}", flush=True)
with open(results, "w") as file:
    json.dump({"cases": said, "uncompared": sorted(UNCOMPARED)}, file)
