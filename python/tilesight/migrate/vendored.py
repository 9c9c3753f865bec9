"""Calls of Triton's block pointers become calls of block_ptr.py, a file beside: the least rewriting."""

import libcst as cst

from .block_pointers import PARAMETERS, arguments_of
from .expressions import walk

RENAMED = {"pointer": "ptr", "base": "ptr"}  # of load, store, advance


def rewrite(analysis, package):
    """The file's text with calls of block_ptr.py. `package`: does the file lie in a package?"""
    if not analysis.calls:
        return analysis.module.code
    names = {node.value for node in analysis.nodes if isinstance(node, cst.Name)}
    alias, imported = _imported(analysis)
    if alias is None:
        alias = next(name for name in ("bp", "block_ptr", "_block_ptr") if name not in names)
    changed = analysis.module.visit(_Calls(analysis, alias))
    if not imported:
        changed = _with_import(analysis, changed, alias, package)
    return changed.code


def _imported(analysis):
    """(name, True) by which the file has imported block_ptr already, or (None, False)."""
    for node in analysis.nodes:
        if isinstance(node, cst.ImportAlias) and analysis.code(node.name).split(".")[-1] == "block_ptr":
            return (node.asname.name.value if node.asname else "block_ptr"), True
    return None, False


class _Calls(cst.CSTTransformer):
    def __init__(self, analysis, alias):
        self.analysis, self.alias = analysis, alias

    def _name(self, word):
        return cst.Attribute(cst.Name(self.alias), cst.Name(word))

    def leave_Call(self, original, updated):
        what = self.analysis.calls.get(original)
        if what is None:
            return updated
        given = arguments_of(self.analysis, original)
        if what == "make":
            self._check_tuples(original, given)
            return updated.with_changes(func=self._name("make_block_ptr"), args=[
                self._as_tuple(new, name) for name, new in zip(given, updated.args)])
        if what == "method":
            first = cst.Arg(updated.func.value, comma=cst.Comma(whitespace_after=cst.SimpleWhitespace(" ")))
            steps = self._as_tuple(updated.args[0], "offsets").with_changes(keyword=None, equal=cst.MaybeSentinel.DEFAULT)
            return updated.with_changes(func=self._name("advance"), args=[first, steps])
        word = "advance" if what == "advance" else what
        if what == "advance":
            self._check_steps(given["offsets"])
        kept = [self._argument(old, new, name, what) for name, old, new in self._pairs(original, updated, what)
                if name in given]
        if kept and len(kept) < len(updated.args):
            kept[-1] = kept[-1].with_changes(comma=updated.args[-1].comma)
        return updated.with_changes(func=self._name(word), args=kept)

    def _pairs(self, original, updated, what):
        position = 0
        for old, new in zip(original.args, updated.args):
            if old.keyword is not None:
                yield old.keyword.value, old, new
            else:
                yield PARAMETERS[what][position], old, new
                position += 1

    def _argument(self, old, new, name, what):
        if what == "advance" and name == "offsets":
            new = self._as_tuple(new, name)
        if old.keyword is not None:
            return new.with_changes(keyword=cst.Name(RENAMED.get(name, name)))
        if name in ("pointer", "base", "value", "offsets"):
            return new
        return new.with_changes(keyword=cst.Name(name), equal=cst.AssignEqual(
            whitespace_before=cst.SimpleWhitespace(""), whitespace_after=cst.SimpleWhitespace("")))

    # One dimension may be written without a tuple; the library wants one.

    def _check_tuples(self, call, given):
        block = given["block_shape"].value
        if isinstance(block, (cst.Tuple, cst.List)) and len(block.elements) > 1:
            return
        for name in ("shape", "strides", "offsets", "block_shape", "order"):
            self._check_steps(given[name], name)

    def _check_steps(self, argument, name="offsets"):
        if isinstance(argument.value, (cst.Name, cst.Call, cst.Attribute, cst.Subscript)):
            self.analysis.refuse(argument, f"write {name} as a tuple: {self.analysis.code(argument.value)} may be one or not")

    def _as_tuple(self, argument, name):
        value = argument.value
        if name in ("shape", "strides", "offsets", "block_shape", "order") and isinstance(
                value, (cst.Integer, cst.BinaryOperation, cst.UnaryOperation)):
            return argument.with_changes(value=cst.Tuple([cst.Element(value, cst.Comma())]))
        return argument

    def leave_Attribute(self, original, updated):
        # .type of Triton's block pointer is .dtype of the library's
        if original.attr.value == "type" and "block" in self.analysis.kind(original.value) and isinstance(
                original.value, cst.Name):
            return updated.with_changes(attr=cst.Name("dtype"))
        return updated

    def leave_ImportFrom(self, original, updated):
        return without_removed_names(original, updated, self.analysis)


def without_removed_names(original, updated, analysis):
    """An import without make_block_ptr and advance, which new releases of Triton do not have."""
    if original.module is None or isinstance(original.names, cst.ImportStar) or original.relative or (
            analysis.code(original.module) not in ("triton.language", "triton.language.core")):
        return updated
    kept = [name for name in updated.names if name.name.value not in ("make_block_ptr", "advance")]
    if len(kept) == len(updated.names):
        return updated
    if not kept:
        return cst.RemoveFromParent()
    kept[-1] = kept[-1].with_changes(comma=updated.names[-1].comma)
    return updated.with_changes(names=kept)


def _with_import(analysis, module, alias, package):
    text = "from . import block_ptr" if package else "import block_ptr"
    line = cst.parse_statement(f"{text} as {alias}\n" if alias != "block_ptr" else f"{text}\n")
    return insert_import(analysis, module, line)


def insert_import(analysis, module, line):
    """With the import behind the last import of Triton at the top of the file."""
    last = None
    for statement in analysis.module.body:
        if isinstance(statement, (cst.SimpleStatementLine, cst.Try)) and any(
                isinstance(inner, (cst.Import, cst.ImportFrom)) and "triton" in analysis.code(inner)
                for inner in walk(statement)):
            last = statement
    if last is None:
        analysis.refuse(analysis.module.body[0] if analysis.module.body else analysis.module,
                        "there is no import of Triton at the top of the file to put another one behind")
    # The original's position, by how many statements stand before it: a removed import leaves one fewer.
    before = analysis.module.body.index(last) - (len(analysis.module.body) - len(module.body))
    body = list(module.body)
    body.insert(max(before, 0) + 1, line)
    return module.with_changes(body=body)
