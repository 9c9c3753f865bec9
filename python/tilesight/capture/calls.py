"""Calls of a kernel with arguments that cannot be passed: which, and what to do instead."""

import difflib
import itertools
import os
import re
import sys

from . import arguments
from ..errors import ArgumentError

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class UnknownArgument(ArgumentError, KeyError):
    """A keyword that the kernel has no argument for; Triton raises KeyError."""

    __str__ = Exception.__str__  # KeyError's own shows the text in quotes


def refusal(function, error, args, kwargs):
    """An ArgumentError that names the argument behind `error`, which Triton's binder raised; None if
    no argument is to blame."""
    text = str(error)
    missing = re.search(r"dynamic_func\(\) missing .*?: (.+)", text)
    unknown = re.search(r"Keyword argument (\w+) was specified but unrecognised", text)
    if missing:
        problem = _missing(function, re.findall(r"'(\w+)'", missing.group(1)))
    elif unknown:
        near = difflib.get_close_matches(unknown.group(1), [p.name for p in function.params], 1)
        hint = f"; did you mean {near[0]}?" if near else \
            f"; it has {', '.join(p.name for p in function.params)}"
        problem = f"there is no argument {unknown.group(1)}{hint}"
    elif "dynamic_func()" in text:
        problem = text.replace("dynamic_func() ", "") + "; its arguments are " + ", ".join(p.name for p in function.params)
    else:
        named = [*zip((p.name for p in function.params), args), *kwargs.items()]
        constants = {p.name for p in function.params if p.is_constexpr}
        found = (_problem(name, value) for name, value in named if name not in constants)
        problem = next(filter(None, found), None)
    if problem is None:
        return None
    kind = UnknownArgument if unknown else ArgumentError
    return kind(f"kernel {function.__name__}: {problem}")


def _missing(function, names):
    constants = {p.name for p in function.params if p.is_constexpr}
    remedy = ", ".join(f"{name}=..." for name in names)
    what = ", ".join(f"{name} (a tl.constexpr)" if name in constants else name for name in names)
    subject = f"arguments {what} are" if len(names) > 1 else f"argument {what} is"
    return f"{subject} missing: give {remedy} in the call"


def _problem(name, value):
    """What is wrong with an argument, or None."""
    if isinstance(value, list):
        return f"argument {name} is a list: pass an array such as numpy.array(..., numpy.float32), or a tuple"
    if isinstance(value, complex):
        return f"argument {name} is complex, which kernels have no type for: pass its real and imaginary parts"
    if isinstance(value, int) and not -(1 << 63) <= value < 1 << 64:
        return f"argument {name} is {value}, which does not fit in 64 bits"
    dtype = getattr(value, "dtype", None)
    if dtype is not None:
        try:
            arguments.element_of(dtype, name)
        except Exception:
            return f"argument {name}: tensors of dtype {dtype} cannot be passed; {_dtype_remedy(dtype)}"
        return None
    if isinstance(value, (str, dict, set, bytes)):
        return (f"argument {name} is a {type(value).__name__}: pass a tensor or a number, or declare it "
                f"{name}: tl.constexpr")
    return None


def _dtype_remedy(dtype):
    if getattr(dtype, "byteorder", "=") == ">":
        return "give it the machine's byte order: array.astype(array.dtype.newbyteorder(\"=\"))"
    if "complex" in str(dtype):
        return "pass its real and imaginary parts: array.view(numpy.float32)"
    return "convert it, for example with array.astype(numpy.float32)"


def place():
    """(file, line, column) of the user's call that is being executed: the innermost frame that is
    neither Tilesight's nor Triton's."""
    triton = os.path.dirname(os.path.abspath(sys.modules["triton"].__file__))
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith((_PACKAGE + os.sep, triton + os.sep)):
        frame = frame.f_back
    if frame is None:
        return None
    column = 1
    if hasattr(frame.f_code, "co_positions"):
        position = next(itertools.islice(frame.f_code.co_positions(), frame.f_lasti // 2, None), None)
        if position and position[0] == frame.f_lineno and position[2] is not None:
            column = position[2] + 1
    return frame.f_code.co_filename, frame.f_lineno, column
