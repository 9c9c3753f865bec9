"""What the source alone shows of a number: that it is not negative, that it is a multiple of 16 bytes."""

import libcst as cst

from .expressions import number_of

LOOPS = ("range", "builtins.range", "triton.language.range", "triton.language.static_range",
         "triton.language.core.range", "triton.language.core.static_range")


def not_negative(analysis, node, extents):
    """Is it a literal, an extent of a block (`extents`: their texts) or a loop variable, and at least 0?"""
    number = number_of(node)
    if number is not None:
        return number >= 0
    if analysis.code(node) in extents:
        return True
    bounds = _bounds(analysis, node)
    if bounds is None:
        return False
    start, step = bounds
    return (start is None or not_negative(analysis, start, extents)) and (
        step is None or number_of(step) != 0 and not_negative(analysis, step, extents))


def _bounds(analysis, node):
    """(start, step) of the loop whose variable a node is, None for each that is not written; or None."""
    loop = analysis.loop_of(analysis.function_of(node), node.value) if isinstance(node, cst.Name) else None
    if loop is None or not isinstance(loop.iter, cst.Call) or analysis.qualified(loop.iter.func) not in LOOPS:
        return None
    plain = [argument.value for argument in loop.iter.args if argument.keyword is None and not argument.star]
    if any(argument.star or argument.keyword is not None and argument.keyword.value in ("arg1", "arg2", "step")
           for argument in loop.iter.args):
        return None
    return (plain[0] if len(plain) > 1 else None), (plain[2] if len(plain) > 2 else None)
