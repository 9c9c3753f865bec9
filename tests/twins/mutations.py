"""Mutants of clean cases: one small change to a kernel, or to how it is launched."""

import ast
import copy
import inspect
from dataclasses import dataclass


@dataclass
class Mutant:
    change: str  # what was changed, for people
    source: str  # of a module with the case and what it needs


def mutants(case):
    """Every mutant of the kernels that `case` launches and of its launches."""
    tree = ast.parse(inspect.getsource(case.module))
    functions = {n.name: n for n in tree.body if isinstance(n, ast.FunctionDef)}
    needed = reachable(functions, case.launch.__name__)
    tree.body = [n for n in tree.body if not isinstance(n, ast.FunctionDef) or n.name in needed]
    for name in needed:
        node = functions[name]
        changes = kernel_changes if is_kernel(node) else launch_changes
        for index, original in enumerate(ast.walk(node)):
            for change, replacement in changes(original):
                yield Mutant(f"{name}: {change}", replaced(tree, name, index, replacement))


def is_kernel(node):
    return any("jit" in ast.unparse(d) for d in node.decorator_list)


def reachable(functions, name):
    todo, seen = [name], []
    while todo:
        name = todo.pop(0)
        if name in seen or name not in functions:
            continue
        seen.append(name)
        todo += [n.id for n in ast.walk(functions[name]) if isinstance(n, ast.Name)]
    return seen


def replaced(tree, name, index, replacement):
    """The module's source with the `index`-th node (in walking order) of function `name` replaced."""
    tree = copy.deepcopy(tree)
    function = next(n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == name)
    target = list(ast.walk(function))[index]

    class Swap(ast.NodeTransformer):
        def visit(self, node):
            return replacement if node is target else self.generic_visit(node)

    Swap().visit(function)
    return ast.unparse(ast.fix_missing_locations(tree))


def shown(node):
    return ast.unparse(node)


def changed(node, **fields):
    new = copy.deepcopy(node)
    for name, value in fields.items():
        setattr(new, name, value)
    return new


def plus(node, amount):
    op = ast.Add() if amount > 0 else ast.Sub()
    return ast.BinOp(copy.deepcopy(node), op, ast.Constant(abs(amount)))


def becomes(node, new):
    return f"{shown(node)} becomes {shown(new)}", new


def called(node, *names):
    return (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
            and node.func.attr in names)


SLACK = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}


def kernel_changes(node):
    """(what is changed, the node that replaces this one) for every operator that applies."""
    if isinstance(node, ast.Compare) and type(node.ops[0]) in SLACK:
        yield becomes(node, changed(node, ops=[SLACK[type(node.ops[0])]()]))
        for amount in (1, -1):
            yield becomes(node, changed(node, comparators=[plus(node.comparators[0], amount)]))
    if called(node, "load", "store", "atomic_add", "atomic_max"):
        for dropped in ("mask", "other"):
            kept = [k for k in node.keywords if k.arg not in (dropped, "other" if dropped == "mask" else "")]
            if len(kept) < len(node.keywords) and any(k.arg == dropped for k in node.keywords):
                yield becomes(node, changed(node, keywords=kept))
    if isinstance(node, ast.BinOp):
        yield from arithmetic_changes(node)
    if called(node, "program_id") and node.args:
        for axis in {0, 1} - {getattr(node.args[0], "value", None)}:
            yield becomes(node, changed(node, args=[ast.Constant(axis)]))
    if called(node, "cdiv"):
        yield becomes(node, ast.BinOp(copy.deepcopy(node.args[0]), ast.FloorDiv(), copy.deepcopy(node.args[1])))
    if called(node, "to") and "int64" in shown(node):
        yield becomes(node, copy.deepcopy(node.func.value))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "min":
        yield becomes(node, copy.deepcopy(node.args[1]))
    if isinstance(node, ast.For):
        yield from loop_changes(node)


def arithmetic_changes(node):
    if isinstance(node.op, ast.BitAnd):  # a conjunct less
        yield becomes(node, copy.deepcopy(node.left))
        yield becomes(node, copy.deepcopy(node.right))
    if isinstance(node.op, ast.Add):
        yield becomes(node, changed(node, op=ast.Sub()))
        left, right = node.left, node.right
        if all(isinstance(s, ast.BinOp) and isinstance(s.op, ast.Mult) for s in (left, right)):
            # rows * a + columns * b: the strides swapped
            yield becomes(node, changed(node, left=changed(left, right=copy.deepcopy(right.right)),
                                        right=changed(right, right=copy.deepcopy(left.right))))
    if isinstance(node.op, ast.Sub):
        yield becomes(node, changed(node, op=ast.Add()))
    if isinstance(node.op, ast.Mult):  # a stride too large, or by one
        yield becomes(node, changed(node, right=plus(node.right, 1)))
        yield becomes(node, copy.deepcopy(node.left))
    if isinstance(node.op, ast.Mod):
        yield becomes(node, copy.deepcopy(node.left))
        yield becomes(node, changed(node, right=plus(node.right, 1)))
    if isinstance(node.op, ast.FloorDiv):
        yield becomes(node, copy.deepcopy(node.left))


def loop_changes(node):
    """The loop's bound, one further and one less."""
    if not (isinstance(node.iter, ast.Call) and node.iter.args):
        return
    at = 0 if len(node.iter.args) == 1 else 1
    for amount in (1, -1):
        args = [copy.deepcopy(a) for a in node.iter.args]
        args[at] = plus(args[at], amount)
        new = changed(node, iter=changed(node.iter, args=args))
        yield f"loop over {shown(node.iter)} becomes {shown(new.iter)}", new


def launch_changes(node):
    """Another block size, a program more."""
    if isinstance(node, ast.Call):
        for position, keyword in enumerate(node.keywords):
            value = getattr(keyword.value, "value", None)
            if keyword.arg and keyword.arg.isupper() and type(value) is int and value >= 4:
                for other in (value * 2, value // 2):
                    new = copy.deepcopy(node)
                    new.keywords[position].value = ast.Constant(other)
                    yield f"{keyword.arg}={value} becomes {keyword.arg}={other}", new
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple):
        for axis, size in enumerate(node.slice.elts):
            sizes = [copy.deepcopy(s) for s in node.slice.elts]
            sizes[axis] = plus(size, 1)
            yield becomes(node, changed(node, slice=changed(node.slice, elts=sizes)))
