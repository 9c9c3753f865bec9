"""The oracle's process: `python -m oracle.worker`, one JSON request a line, one JSON answer a line.

A process of its own, because Triton decides at import whether it interprets, and because a kernel that
is wrong may loop for ever.
"""

import importlib
import importlib.util
import json
import os
import runpy
import sys
import traceback
import warnings


def load(request):
    if "path" in request:
        spec = importlib.util.spec_from_file_location(request["module"], request["path"])
        module = importlib.util.module_from_spec(spec)
        sys.modules[request["module"]] = module
        spec.loader.exec_module(module)
        return module
    return importlib.import_module(request["module"])


def run_script(path, session):
    """Runs a program as it is; its launches come to the session."""
    from triton.runtime.interpreter import InterpretedFunction
    original = InterpretedFunction.run
    InterpretedFunction.run = lambda kernel, *args, grid, warmup=False, **kwargs: \
        session.check(kernel)[grid](*args, **kwargs)
    try:
        runpy.run_path(path, run_name="__main__")
    finally:
        InterpretedFunction.run = original


def answer(request):
    from .kernels import Session
    session = Session()
    results = None
    try:
        if "script" in request:
            run_script(request["script"], session)
        else:
            module = load(request)
            case = next(c for c in module.CASES if c.name == request["case"])
            try:
                results = case.launch(session.check)
            except AssertionError:
                if not request["any_result"]:
                    raise
    except Exception:
        return {"error": traceback.format_exc()}
    return {"faults": [f.as_json() for f in session.faults.faults.values()],
            "events": [f.as_json() for f in session.faults.events.values()],
            "launches": session.launches,
            "results": [array.tolist() for array in results or ()]}


def main():
    os.environ["TRITON_INTERPRET"] = "1"
    warnings.simplefilter("ignore")
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a kernel prints is no answer
    from .kernels import prepare_interpreter
    prepare_interpreter()
    for line in sys.stdin:
        try:
            reply = answer(json.loads(line))
        except Exception:
            reply = {"error": traceback.format_exc()}
        print(json.dumps(reply), file=out, flush=True)


if __name__ == "__main__":
    main()
