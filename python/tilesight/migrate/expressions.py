"""Python expressions, as far as rewriting block pointers needs to know them."""

import libcst as cst

SIMPLE = (cst.Name, cst.Integer, cst.Attribute, cst.Call, cst.Subscript)


def walk(node):
    """The node and all below, in the order of the text."""
    yield node
    for child in node.children:
        yield from walk(child)


def items(value):
    """The expressions of a tuple or list, or the expression alone."""
    return [element.value for element in value.elements] if isinstance(value, (cst.Tuple, cst.List)) else [value]


def number_of(node):
    """The value of an integer literal, a minus before it or not; None for anything else."""
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Minus):
        inner = number_of(node.expression)
        return None if inner is None else -inner
    return int(node.value, 0) if isinstance(node, cst.Integer) else None


def arithmetic_of(node):
    """The names in an expression of + - * // % on names and integers; None if it is anything else."""
    if isinstance(node, cst.Integer):
        return set()
    if isinstance(node, cst.Name):
        return {node.value}
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Minus):
        return arithmetic_of(node.expression)
    if isinstance(node, cst.BinaryOperation) and isinstance(
            node.operator, (cst.Add, cst.Subtract, cst.Multiply, cst.FloorDivide, cst.Modulo)):
        left, right = arithmetic_of(node.left), arithmetic_of(node.right)
        return None if left is None or right is None else left | right
    return None


def on_one_line(code):
    """The code of an expression without line breaks and comments."""
    if "\n" not in code:
        return code
    code = " ".join(part.split("#")[0].strip() for part in code.split("\n"))
    for bracket in "([":
        code = code.replace(f"{bracket} ", bracket)
    for bracket in ")]":
        code = code.replace(f" {bracket}", bracket)
    return code


def factor(text, node):
    """The text of an expression as an operand of *."""
    return text if isinstance(node, SIMPLE) or node.lpar else f"({text})"


def first_summand(text, node):
    """As the left operand of +."""
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, (cst.Add, cst.Subtract)):
        return text
    return text if number_of(node) is not None else later_summand(text, node)


def later_summand(text, node):
    """As the right operand of +, or a side of a comparison."""
    times = isinstance(node, cst.BinaryOperation) and isinstance(
        node.operator, (cst.Multiply, cst.FloorDivide, cst.Modulo))
    return text if times or isinstance(node, SIMPLE) or node.lpar else f"({text})"


def bare(text):
    """Without the parentheses around all of it."""
    node = cst.parse_expression(text)
    if len(node.lpar) == 1 and not isinstance(node, (cst.Tuple, cst.GeneratorExp)):
        node = node.with_changes(lpar=(), rpar=())
    return cst.Module([]).code_for_node(node)


def keyword(name, value):
    """The argument name=value; `value` is a node or text."""
    value = cst.parse_expression(value) if isinstance(value, str) else value
    return cst.Arg(value, cst.Name(name), equal=cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace("")))


def comma():
    return cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
