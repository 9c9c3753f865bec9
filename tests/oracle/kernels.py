"""Runs a kernel's grid under the interpreter, x fastest, on numpy arrays."""

import ast
import inspect
import os

import numpy as np
import triton
import triton.language as tl
from triton.runtime import interpreter as interp

from .faults import Faults
from .hooks import Hooks
from .memory import Memory

TRITON_FOLDER = os.path.dirname(triton.__file__)

BUILTIN_TRANSFORMER = interp.FunctionRewriter.ast_transformer


class Current:
    """The launch in progress. Loops find it here, as they are rewritten into calls of this module."""

    faults = None


def as_int(value):
    return int(value.handle.data.item() if isinstance(value, tl.tensor) else value)


def loop_over(name, *bounds, **_):
    """Stands for `range` in a kernel: the loop variable is a tile of the width the compiler gives it."""
    wide = any(isinstance(b, tl.tensor) and b.dtype.primitive_bitwidth == 64 for b in bounds)
    dtype, np_dtype = (tl.int64, np.int64) if wide else (tl.int32, np.int32)
    loops = Current.faults.loops
    loops.append([name, 0, 0])
    depth = len(loops)
    try:
        for trip, value in enumerate(range(*map(as_int, bounds))):
            loops[depth - 1:] = [[name, value, trip]]
            yield tl.tensor(interp.TensorHandle(np.array([value], dtype=np_dtype), dtype), dtype)
    finally:
        del loops[depth - 1:]


def while_begin():
    Current.faults.loops.append(["", -1, -1])


def while_trip():
    loop = Current.faults.loops[-1]
    loop[1] += 1
    loop[2] += 1


def while_end():
    Current.faults.loops.pop()


class Transformer(type(BUILTIN_TRANSFORMER)):
    """The interpreter's own rewriting, and loops that know their iteration."""

    def visit_For(self, node):
        self.generic_visit(node)
        call = node.iter
        plain = isinstance(call.func, ast.Name) and call.func.id == "range"
        if plain or (isinstance(call.func, ast.Attribute) and call.func.attr == "range"):
            call.func = ast.Name(id="oracle_loop_over", ctx=ast.Load())
            call.args.insert(0, ast.Constant(value=getattr(node.target, "id", "")))
        return node

    def visit_While(self, node):
        self.generic_visit(node)
        call = lambda name: ast.Expr(ast.Call(ast.Name(id=name, ctx=ast.Load()), [], []))
        node.body.insert(0, call("oracle_while_trip"))
        return [call("oracle_while_begin"), node, call("oracle_while_end")]


def prepare_interpreter():
    interp.FunctionRewriter.ast_transformer = Transformer()
    # The rewritten functions see the interpreter module's names.
    interp.oracle_loop_over = loop_over
    interp.oracle_while_begin = while_begin
    interp.oracle_while_trip = while_trip
    interp.oracle_while_end = while_end
    interp.interpreter_builder.options = interp.InterpreterOptions(debug=True, sanitize_overflow=False)


TYPES = {
    "float16": tl.float16, "float32": tl.float32, "float64": tl.float64, "bool": tl.int1,
    "int8": tl.int8, "int16": tl.int16, "int32": tl.int32, "int64": tl.int64,
    "uint8": tl.uint8, "uint16": tl.uint16, "uint32": tl.uint32, "uint64": tl.uint64,
}


class Session:
    """All launches of one case; `faults` gathers over them."""

    def __init__(self):
        self.faults = Faults(TRITON_FOLDER)
        self.launches = 0

    def check(self, kernel):
        """`session.check(kernel)[grid](*args, **kwargs)`, as `tilesight.check`."""
        return Launcher(self, kernel)


class Launcher:
    def __init__(self, session, kernel):
        self.session, self.kernel = session, kernel

    def __getitem__(self, grid):
        return lambda *args, **kwargs: self._launch(grid, args, kwargs)

    def _launch(self, grid, args, kwargs):
        function = self.kernel.fn
        options = ("num_warps", "num_stages", "num_ctas")
        kwargs = {k: v for k, v in kwargs.items() if k not in options}
        bound = inspect.signature(function).bind(*args, **kwargs)
        bound.apply_defaults()
        memory = Memory()
        annotations = inspect.get_annotations(function)
        constexprs = {name for name, ty in annotations.items() if "constexpr" in str(ty)}
        values = {name: value if name in constexprs else argument(memory, name, value)
                  for name, value in bound.arguments.items()}
        size = grid(bound.arguments) if callable(grid) else grid
        size = tuple(size) + (1,) * (3 - len(size))

        faults = self.session.faults
        Hooks(interp, tl, memory, faults).install(interp.interpreter_builder)
        Current.faults = faults
        self.session.launches += 1
        patches = interp._patch_lang(function)
        try:
            interp.interpreter_builder.set_grid_dim(*size)
            body = self.kernel.rewrite()
            for z in range(size[2]):
                for y in range(size[1]):
                    for x in range(size[0]):
                        interp.interpreter_builder.set_grid_idx(x, y, z)
                        faults.program = (x, y, z)
                        faults.loops.clear()
                        run_program(body, values)
        finally:
            patches.restore()


def run_program(body, values):
    body(**values)


def argument(memory, name, value):
    if hasattr(value, "numpy") and hasattr(value, "data_ptr"):  # a torch tensor on the CPU
        value = value.numpy()
    if isinstance(value, np.ndarray):
        dtype = tl.pointer_type(TYPES[str(value.dtype)])
        address = memory.add(name, value)
        return tl.tensor(interp.TensorHandle(np.array([address], dtype=np.uint64), dtype), dtype)
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool):
        return tl.tensor(interp.TensorHandle(np.array([value]), tl.int1), tl.int1)
    return interp._implicit_cvt(value)
