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


# Of where a block begins, for descriptors: sums and products are taken not to leave 32 bits.


def place_not_negative(analysis, node, extents):
    """As not_negative, and for program ids, sums and products, and variables that are set once."""
    def again(inner):
        return place_not_negative(analysis, inner, extents)

    if not_negative(analysis, node, extents):
        return True
    if isinstance(node, cst.BinaryOperation):
        return isinstance(node.operator, (cst.Add, cst.Multiply)) and again(node.left) and again(node.right)
    if isinstance(node, cst.Call):
        return analysis.qualified(node.func).startswith("triton.language.") and (
            analysis.qualified(node.func).rsplit(".", 1)[-1] in ("program_id", "num_programs"))
    value = analysis.set_once(node)
    return value is not None and again(value)


def whole_chunks(analysis, node, extent):
    """Is so many elements a multiple of 16 bytes, whatever the type? `extent`: the text of an extent of a block that is
    (Triton refuses a descriptor whose block is narrower, and extents are powers of two), or None."""
    def again(inner):
        return whole_chunks(analysis, inner, extent)

    number = number_of(node)
    if number is not None:
        return number % 16 == 0
    if analysis.code(node) == extent:
        return True
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Minus):
        return again(node.expression)
    if isinstance(node, cst.BinaryOperation):
        if isinstance(node.operator, cst.Multiply):
            return again(node.left) or again(node.right)
        return isinstance(node.operator, (cst.Add, cst.Subtract)) and again(node.left) and again(node.right)
    bounds = _bounds(analysis, node)
    if bounds is not None:
        start, step = bounds
        return (start is None or again(start)) and step is not None and again(step)
    value = analysis.set_once(node)
    return value is not None and again(value)
