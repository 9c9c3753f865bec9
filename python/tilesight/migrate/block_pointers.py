"""Finds the block pointers of a Python file: which calls make, move, read and write them.

Works on names and assignments alone, function by function and across calls within the file. What is not understood is
refused by place, never guessed.
"""

import libcst as cst
from libcst.metadata import MetadataWrapper, ParentNodeProvider, PositionProvider, QualifiedNameProvider

from .expressions import walk

LANGUAGE = "triton.language."
METHODS = ("dtype", "type")  # of a block pointer, before .element_ty
LIBRARY = "block_ptr."  # calls of the vendored file: migrated before


class Refused(Exception):
    """Something that is not understood. line, column: 1-based."""

    def __init__(self, line, column, reason):
        super().__init__(reason)
        self.line, self.column, self.reason = line, column, reason


class Function:
    """What is known of one function of the file."""

    def __init__(self, node):
        self.node = node
        self.name = node.name.value
        parameters = node.params
        self.parameters = [p.name.value for p in (*parameters.posonly_params, *parameters.params)]
        self.keywords = [p.name.value for p in parameters.kwonly_params]
        self.kinds = {}     # variable -> set of "block", "other"
        self.returns = {}   # position in a returned tuple, or None -> set of kinds


class Analysis:
    """Of one file. `calls`: Call node -> "make", "advance", "method", "load" or "store", for block pointers only."""

    def __init__(self, text):
        wrapper = MetadataWrapper(cst.parse_module(text), unsafe_skip_copy=True)
        self.module = wrapper.module
        self._positions = wrapper.resolve(PositionProvider)
        self._parents = wrapper.resolve(ParentNodeProvider)
        self._names = wrapper.resolve(QualifiedNameProvider)
        self.calls = {}
        self.functions = []
        self._function_of = {}
        self._set_at = None
        self.nodes = list(walk(self.module))
        for node in self.nodes:
            if isinstance(node, cst.FunctionDef):
                self.functions.append(Function(node))
        self._by_node = {function.node: function for function in self.functions}
        self._by_name = {}
        for function in self.functions:
            self._by_name.setdefault(function.name, []).append(function)
        # First what comes from block pointers; then everything that is not known to is something else.
        self._settled = False
        self._find_kinds()
        self._settled = True
        self._find_kinds()
        self._find_calls()
        self._check_uses()

    # --- of nodes ----------------------------------------------------------------------------------------------------

    def place(self, node):
        """(line, column) of a node, 1-based."""
        start = self._positions[node].start
        return start.line, start.column + 1

    def refuse(self, node, reason):
        raise Refused(*self.place(node), reason)

    def parent(self, node):
        return self._parents.get(node)

    def code(self, node):
        return self.module.code_for_node(node)

    def function_of(self, node):
        """The Function that a node is in; None at the top of the file."""
        if node not in self._function_of:
            up = self.parent(node)
            self._function_of[node] = (None if up is None else
                                       self._by_node[up] if isinstance(up, cst.FunctionDef) else self.function_of(up))
        return self._function_of[node]

    def function_at(self, node):
        """The Function of a FunctionDef."""
        return self._by_node[node]

    def indentation(self, node):
        """Columns in front of the statement that a node is in."""
        while not isinstance(node, (cst.SimpleStatementLine, cst.BaseCompoundStatement)):
            node = self.parent(node)
        return self.place(node)[1] - 1

    def set_at(self, function, name):
        """[(place, is it in a loop?)] of all that sets a variable of a function."""
        if self._set_at is None:
            self._set_at = {}
            for node in self.nodes:
                if isinstance(node, (cst.AssignTarget, cst.AugAssign, cst.AnnAssign, cst.For, cst.CompFor, cst.NamedExpr)):
                    self._note_targets(node)
        return self._set_at.get((function, name), [])

    def _note_targets(self, node):
        function, up, in_loop = self.function_of(node), node, False
        while up is not None and not isinstance(up, cst.FunctionDef):
            in_loop = in_loop or isinstance(up, (cst.For, cst.While, cst.CompFor))
            up = self.parent(up)
        for inner in walk(node.target):
            if isinstance(inner, cst.Name):
                self._set_at.setdefault((function, inner.value), []).append((self.place(inner), in_loop))

    def loop_of(self, function, name):
        """The For whose variable this is, if nothing else sets it, else None."""
        if len(self.set_at(function, name)) != 1 or function is None or name in (
                *function.parameters, *function.keywords):
            return None
        return next((node for node in self.nodes if isinstance(node, cst.For) and isinstance(node.target, cst.Name)
                     and node.target.value == name and self.function_of(node) is function), None)

    def set_once(self, node):
        """The expression that a variable is set to, if nothing else sets it, else None."""
        if not isinstance(node, cst.Name) or len(self.set_at(self.function_of(node), node.value)) != 1:
            return None
        function = self.function_of(node)
        if function is None or node.value in (*function.parameters, *function.keywords):
            return None
        return next((a.value for a in self.nodes if isinstance(a, cst.Assign) and len(a.targets) == 1
                     and isinstance(a.targets[0].target, cst.Name) and a.targets[0].target.value == node.value
                     and self.function_of(a) is function), None)

    def qualified(self, node):
        """The dotted name that an expression stands for, as imports say, or ""."""
        names = self._names.get(node, ())
        names = names() if callable(names) else names
        for name in names:
            if name.name.startswith(LANGUAGE):
                return name.name
        return next((name.name for name in names), "")

    def word(self, call):
        """make_block_ptr, advance, load or store if `call` calls Triton's, else None."""
        name = self.qualified(call.func)
        name = name.removeprefix(LANGUAGE).removeprefix("core.") if name.startswith(LANGUAGE) else ""
        return name if name in ("make_block_ptr", "advance", "load", "store") else None

    # --- which values are block pointers -----------------------------------------------------------------------------

    def _find_kinds(self):
        changed = True
        while changed:
            before = self._state()
            for node in self.nodes:
                function = self.function_of(node)
                if isinstance(node, cst.Assign):
                    for target in node.targets:
                        self._assign(function, target.target, node.value)
                elif isinstance(node, cst.AnnAssign) and node.value is not None:
                    self._assign(function, node.target, node.value)
                elif isinstance(node, cst.NamedExpr):
                    self._assign(function, node.target, node.value)
                elif isinstance(node, cst.AugAssign) and isinstance(node.target, cst.Name):
                    self._put(function, node.target.value, {"other"})
                elif isinstance(node, (cst.For, cst.CompFor)):
                    self._assign(function, node.target, None)
                elif isinstance(node, cst.Return) and function is not None and node.value is not None:
                    self._return(function, node.value)
                elif isinstance(node, cst.Call):
                    self._pass(function, node)
            changed = self._state() != before

    def _state(self):
        return [({k: frozenset(v) for k, v in f.kinds.items()}, {k: frozenset(v) for k, v in f.returns.items()})
                for f in self.functions]

    def _put(self, function, name, kinds):
        if function is not None:
            function.kinds.setdefault(name, set()).update(kinds)

    def _assign(self, function, target, value):
        if isinstance(target, cst.Name):
            self._put(function, target.value, {"other"} if value is None else self.kind(value))
        elif isinstance(target, (cst.Tuple, cst.List)):
            for i, element in enumerate(target.elements):
                if isinstance(value, (cst.Tuple, cst.List)) and len(value.elements) == len(target.elements):
                    self._assign(function, element.value, value.elements[i].value)
                elif isinstance(element.value, cst.Name):
                    self._put(function, element.value.value, self._element_kind(value, i))
                else:
                    self._assign(function, element.value, None)

    def _element_kind(self, value, i):
        result = set()
        if isinstance(value, cst.Call):
            for callee in self.callees(value):
                result |= callee.returns.get(i, set())
        return result or self._unknown()

    def _return(self, function, value):
        if isinstance(value, cst.Tuple):
            for i, element in enumerate(value.elements):
                function.returns.setdefault(i, set()).update(self.kind(element.value))
        else:
            function.returns.setdefault(None, set()).update(self.kind(value))

    def _pass(self, function, call):
        for callee in self.callees(call):
            for argument, name in zip(call.args, self.passed_as(call, callee)):
                if name is not None:
                    callee.kinds.setdefault(name, set()).update(self.kind(argument.value))

    def callees(self, call):
        """The functions of this file that a call may mean."""
        return self._by_name.get(call.func.value, []) if isinstance(call.func, cst.Name) else []

    def passed_as(self, call, callee):
        """The parameter for each argument of a call; None where that is not plain."""
        position, result = 0, []
        for argument in call.args:
            if argument.keyword is not None:
                result.append(argument.keyword.value)
            elif argument.star or position >= len(callee.parameters):
                result.append(None)
            else:
                result.append(callee.parameters[position])
                position += 1
        return result

    def kind(self, value):
        """What an expression may be: a set of "block", "other"."""
        if isinstance(value, cst.Name):
            function = self.function_of(value)
            known = function.kinds.get(value.value) if function is not None else {"other"}
            return set(known) if known else self._unknown()
        if isinstance(value, cst.IfExp):
            return self.kind(value.body) | self.kind(value.orelse)
        if isinstance(value, cst.Call):
            if self.word(value) in ("make_block_ptr", "advance") or self._is_method(value):
                return {"block"}
            result = set()
            for callee in self.callees(value):
                result |= callee.returns.get(None, set())
            return result or self._unknown()
        return {"other"}

    def _unknown(self):
        return {"other"} if self._settled else set()

    def _is_method(self, call):
        return (isinstance(call.func, cst.Attribute) and call.func.attr.value == "advance"
                and "block" in self.kind(call.func.value))

    # --- which calls are on block pointers ---------------------------------------------------------------------------

    def _find_calls(self):
        for node in self.nodes:
            if isinstance(node, cst.Name):
                self._check_name(node)
            if not isinstance(node, cst.Call):
                continue
            word = self.word(node)
            if word == "make_block_ptr":
                self.calls[node] = "make"
            elif word == "advance":
                self.calls[node] = "advance"
            elif word in ("load", "store"):
                if self._on_block(node, word):
                    self.calls[node] = word
            elif self._is_method(node):
                self.calls[node] = "method"
            elif LIBRARY not in self.qualified(node.func):
                for argument in node.args:
                    if argument.keyword is not None and argument.keyword.value == "boundary_check":
                        self.refuse(node, f"{self.code(node.func)} has a boundary_check and is not tl.load or tl.store")

    def _on_block(self, call, word):
        named = {a.keyword.value: a.value for a in call.args if a.keyword is not None}
        pointer = named.get("pointer", call.args[0].value if call.args and call.args[0].keyword is None else None)
        if pointer is None or any(a.star for a in call.args):
            if any(a.star for a in call.args) and any("block" in f.kinds.get(k, ()) for f in self.functions for k in f.kinds):
                self.refuse(call, f"arguments of tl.{word} with *: whether it is on a block pointer cannot be seen")
            return False
        plain = [a for a in call.args if a.keyword is None]
        checked = named.get("boundary_check", plain[3].value if len(plain) > 3 else None)
        says_so = checked is not None and not _is_nothing(checked) or (
            word == "load" and not _is_nothing(named.get("padding_option", plain[4].value if len(plain) > 4 else None)))
        kinds = self.kind(pointer)
        if says_so and isinstance(pointer, cst.Name) and kinds == {"other"} and not self._is_parameter(pointer):
            self.refuse(call, f"where the block pointer {pointer.value} is made cannot be seen")
        if kinds == {"block", "other"}:
            self.refuse(call, f"{self.code(pointer)} is a block pointer on some ways here and not on others")
        return says_so or kinds == {"block"}

    def _is_parameter(self, name):
        function = self.function_of(name)
        return function is not None and name.value in (*function.parameters, *function.keywords)

    def _check_name(self, node):
        if node.value not in ("make_block_ptr", "boundary_check"):
            return
        up = self.parent(node)
        if node.value == "boundary_check" or isinstance(up, (cst.ImportAlias, cst.FunctionDef)):
            return
        expression = up if isinstance(up, cst.Attribute) and up.attr is node else node
        call = self.parent(expression)
        if LIBRARY in self.qualified(expression):
            return
        if not (isinstance(call, cst.Call) and call.func is expression):
            self.refuse(node, "make_block_ptr is not called here")
        if self.word(call) is None:
            self.refuse(node, f"{self.code(expression)} is not Triton's, as far as the file's imports tell")

    # --- whether every use is understood -----------------------------------------------------------------------------

    def pointer_argument(self, call):
        """The argument that is the block pointer, of all calls but "make" and "method"."""
        names = ("base", ) if self.calls[call] == "advance" else ("pointer", )
        for argument in call.args:
            if argument.keyword is not None and argument.keyword.value in names:
                return argument
        if not call.args or call.args[0].keyword is not None or call.args[0].star:
            self.refuse(call, "the block pointer of this call cannot be seen")
        return call.args[0]

    def _check_uses(self):
        for call, what in self.calls.items():
            for argument in call.args:
                if argument.star:
                    self.refuse(call, "arguments with * or **")
            function = self.function_of(call)
            if function is None:
                self.refuse(call, "this is in no function")
            if what in ("load", "store", "advance"):
                self.pointer_argument(call)
        for node in self.nodes:
            if isinstance(node, cst.Name) and self.function_of(node) is not None and "block" in self.kind(node):
                self._check_use(node, node)
            elif isinstance(node, cst.Call) and self.calls.get(node) in ("make", "advance", "method"):
                self._check_use(node, node)

    def _check_use(self, node, subject):
        up = self.parent(node)
        if isinstance(up, cst.Assign) and up.value is node and any(
                not isinstance(target.target, cst.Name) for target in up.targets):
            self.refuse(node, "a block pointer is kept in something else than a variable")
        if isinstance(up, (cst.Param, cst.AssignTarget, cst.Assign, cst.Return, cst.AnnAssign, cst.Global)):
            return
        if isinstance(up, cst.IfExp):
            self.refuse(up, "block pointers are chosen by an expression: write it as an if statement")
        if isinstance(up, cst.Attribute) and up.value is node:
            after = self.parent(up)
            if up.attr.value == "advance" and isinstance(after, cst.Call) and after.func is up:
                return
            if (up.attr.value in METHODS and isinstance(after, cst.Attribute) and after.attr.value == "element_ty"):
                return
            self.refuse(up, f"{self.code(up)}: of a block pointer only .advance and .dtype.element_ty are understood")
        if isinstance(up, cst.Attribute) or isinstance(up, cst.Arg) and up.keyword is node:
            return  # the name of something else
        if isinstance(up, cst.Arg):
            call = self.parent(up)
            if isinstance(call, cst.Call):
                if call in self.calls and self.calls[call] not in ("make", "method"):
                    if self.pointer_argument(call) is up:
                        return
                elif self.callees(call):
                    return
                else:
                    self.refuse(node, f"a block pointer goes to {self.code(call.func)}, which is not in this file")
        if isinstance(up, cst.Element):
            around = self.parent(up)
            if isinstance(around, cst.Tuple):
                outer = self.parent(around)
                if isinstance(outer, (cst.Return, cst.AssignTarget)) or (
                        isinstance(outer, cst.Assign) and all(
                            isinstance(t.target, cst.Tuple) and len(t.target.elements) == len(around.elements)
                            for t in outer.targets)):
                    return
            self.refuse(subject, "a block pointer in a tuple or list: give it a name of its own")
        if isinstance(up, (cst.FunctionDef, cst.NameItem)):
            return
        self._unknown_use(subject)

    def _unknown_use(self, node):
        self.refuse(node, "a block pointer is used here in a way that is not understood")


def _is_nothing(value):
    return value is None or isinstance(value, cst.Tuple) and not value.elements or (
        isinstance(value, cst.Name) and value.value == "None") or (
        isinstance(value, cst.SimpleString) and value.evaluated_value == "")


def arguments(analysis, call, parameters):
    """{parameter: argument} of a call with those positional parameters."""
    result, position = {}, 0
    for argument in call.args:
        if argument.keyword is not None:
            name = argument.keyword.value
            if name not in parameters:
                analysis.refuse(argument, f"{analysis.code(call.func)} has no argument {name} that is understood")
        elif position < len(parameters):
            name = parameters[position]
            position += 1
        else:
            analysis.refuse(argument, f"{analysis.code(call.func)} has too many arguments")
        if name in result:
            analysis.refuse(argument, f"{name} is given twice")
        result[name] = argument
    return result


PARAMETERS = {
    "make": ("base", "shape", "strides", "offsets", "block_shape", "order"),
    "advance": ("base", "offsets"),
    "method": ("offsets", ),
    "load": ("pointer", "mask", "other", "boundary_check", "padding_option", "cache_modifier", "eviction_policy",
             "volatile"),
    "store": ("pointer", "value", "mask", "boundary_check", "cache_modifier", "eviction_policy"),
}


def arguments_of(analysis, call):
    """{parameter: argument} of a call on block pointers, with mask and other refused, or left out if they are None."""
    what = analysis.calls[call]
    given = arguments(analysis, call, PARAMETERS[what])
    for name in ("mask", "other"):
        if name in given:
            if not _is_nothing(given[name].value):
                analysis.refuse(given[name], f"a block pointer takes no {name}")
            del given[name]
    needed = {"make": PARAMETERS["make"], "advance": ("base", "offsets"), "method": ("offsets", ),
              "load": ("pointer", ), "store": ("pointer", "value")}[what]
    for name in needed:
        if name not in given:
            analysis.refuse(call, f"{analysis.code(call.func)} has no {name}")
    return given
