"""Records which operations of Triton each test file executes, for the matrix in docs/triton-ops.md.

Off unless TILESIGHT_RECORD_OPERATIONS names a file: scripts/make_triton_ops.py --record sets it. A line of
the file is `release TAB test file TAB operations`, for a launch that ended without an unknown.
"""

import os
import re


def start():
    path = os.environ.get("TILESIGHT_RECORD_OPERATIONS")
    if not path:
        return
    import triton
    from tilesight.engine import native

    module = native()
    release = ".".join(triton.__version__.split(".")[:2])
    compile_text, launch = module.compile, module.launch
    operations = {}

    def compiled(text, file):
        kernel = compile_text(text, file)
        operations[id(kernel)] = kernel, sorted(set(re.findall(r"(?<![\w.])tt\.[a-z_]+(?:\.return)?\b", text)))
        return kernel

    def launched(kernel, *arguments, **keywords):
        report = launch(kernel, *arguments, **keywords)
        if not report.unknowns and id(kernel) in operations:
            test = os.environ.get("PYTEST_CURRENT_TEST", "").split("::")[0]
            with open(path, "a") as out:
                out.write(f"{release}\t{test}\t{' '.join(operations[id(kernel)][1])}\n")
        return report

    module.compile, module.launch = compiled, launched
