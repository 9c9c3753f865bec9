#!/usr/bin/env python3
"""Writes the TTIR of the test kernels as Triton's front end makes it.

    path/to/venv/bin/python scripts/dump_ttir.py [--output tests/data/ttir] [KERNEL ...]

Run it with the Python of each Triton release. Files go to OUTPUT/<release>/: KERNEL.raw.ttir is the
front end's module, KERNEL.ttir the same after Triton's inliner. No GPU, driver or torch is needed.
File names in locations are shortened, so that the text does not depend on the machine.
"""

import argparse
import os
import pathlib
import re
import sys

os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")

import triton
from triton._C.libtriton import ir, passes
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource, make_backend

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = ROOT / "tests" / "data" / "ttir"


def compile_text(case):
    """The raw and the inlined module of one case."""
    fn = case["fn"]
    target = GPUTarget("cuda", 100, 32)
    backend = make_backend(target)
    options = backend.parse_options({"sanitize_overflow": False, **case["options"]})
    types = iter(case["types"])
    signature, constants, attributes = {}, {}, {}
    for position, name in enumerate(fn.arg_names):
        if name in case["constants"]:
            signature[name] = "constexpr"
            constants[name] = case["constants"][name]
        else:
            signature[name] = next(types)
            if signature[name].startswith("*") and position % 2 == 0:
                attributes[(position,)] = [["tt.divisibility", 16]]
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    source = ASTSource(fn, signature, constants, attributes)
    module = source.make_ir(target, options, backend.get_codegen_implementation(options),
                            backend.get_module_map(), context)
    raw = module.str()
    manager = ir.pass_manager(module.context)
    passes.common.add_inliner(manager)
    manager.run(module, "inline")
    return raw, module.str()


def shorten(text):
    """Locations without the machine's folders."""
    package = str(pathlib.Path(triton.__file__).resolve().parent.parent)
    text = text.replace(str(DATA) + "/", "").replace(package + "/", "")
    rest = re.search(r'"(/[^"]*\.py)"', text)
    if rest:
        sys.exit(f"{rest.group(1)}: a path of this machine is left in the text")
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--output", type=pathlib.Path, default=DATA)
    parser.add_argument("kernels", nargs="*", help="names; default: all")
    arguments = parser.parse_args()
    sys.path.insert(0, str(DATA))
    sys.dont_write_bytecode = True
    from kernels import CASES

    release = ".".join(triton.__version__.split(".")[:2])
    version = tuple(int(part) for part in release.split("."))
    folder = arguments.output / release
    folder.mkdir(parents=True, exist_ok=True)
    failed = 0
    for case in CASES:
        name = case["fn"].fn.__name__
        if arguments.kernels and name not in arguments.kernels:
            continue
        if not case["since"] <= version <= case["until"]:
            continue
        try:
            raw, inlined = compile_text(case)
        except Exception as problem:
            last = str(problem).strip().splitlines()
            print(f"{release} {name}: {type(problem).__name__}: {last[-1] if last else ''}", file=sys.stderr)
            failed += 1
            continue
        (folder / f"{name}.raw.ttir").write_text(shorten(raw))
        (folder / f"{name}.ttir").write_text(shorten(inlined))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
