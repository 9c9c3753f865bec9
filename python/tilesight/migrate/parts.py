"""Block pointers taken apart: a variable that holds one becomes one variable for each part of it.

A part (the base, an extent, a stride, the place in a dimension) that is the same expression wherever the variable is
set, and cannot change in between, gets no variable: the expression is written where the part is used.
"""

import libcst as cst

from .block_pointers import arguments_of
from .expressions import arithmetic_of, bare, comma, items, keyword, number_of, on_one_line, walk
from .vendored import insert_import, without_removed_names

# Calls that may be made earlier than they stand: they read and write no memory.
PURE = ("program_id", "num_programs", "cdiv", "minimum", "maximum", "cast")
WIDE = 110  # columns of a line that is written anew, where arguments can be broken so


class Block:
    """What an expression that is a block pointer comes to. `parts`: part -> (text, may it be written where the part is
    used?); `facts`: whatever a target has to know of it, None where ways differ."""

    def __init__(self, rank, parts, facts):
        self.rank, self.parts, self.facts = rank, parts, facts


class Variable:
    """A variable that holds a block pointer. `texts`: part -> what to write for it, None if it is a variable."""

    def __init__(self, function, name):
        self.function, self.name = function, name
        self.rank = None
        self.texts, self.facts = {}, {}
        self.needed = set()  # parts
        self.uses = set()    # what a target has to know where the block pointer is made
        self.names = {}      # part -> the name of its variable


class Parts(cst.CSTTransformer):
    """Rewrites a file. What is written is up to the target, which derives from this:

    order(rank): its parts, in order;  make(call, given, dimensions): a Block;  advanced(block, d, step, text): moves one;
    load(call, variable, given), store(...): the expression;  part_name(variable, part): a name to try first;
    check_make(call, variable): called when the uses of what is made are known;  element(variable): the type of an element;  uses_of(call, given, rank): parts and uses that a load or store needs.
    """

    def __init__(self, analysis):
        super().__init__()
        self.analysis = analysis
        self._names_of_file = {node.value for node in analysis.nodes if isinstance(node, cst.Name)}
        self._given = {}      # Function -> names that are taken there
        self.language, self.import_language = _language(analysis)
        self.variables = {}   # (Function, name) -> Variable
        self.results = {}     # Function -> {place in a returned tuple, or None: Variable}
        self.temporary = {}   # a call that is no variable's -> Variable
        self.before = {}      # statement -> calls to assign to variables in front of it
        self.extents = {}     # Function -> texts of extents of blocks: constexprs above 0
        self._passed = {}     # a call of a function in this file -> {argument: parameter's Variable}
        self._check()
        self._definitions = self._find_definitions()
        self._find_parts()
        self._find_needs()
        for variable in (*self.variables.values(), *self.temporary.values()):
            self._give_names(variable)

    def rewrite(self):
        """The text of the file."""
        module = self.analysis.module.visit(self)
        if self.import_language:
            line = cst.parse_statement(f"import triton.language as {self.language}\n")
            module = insert_import(self.analysis, module, line)
        before, after = (_comments(m) for m in (self.analysis.module, module))
        for comment in before:
            if comment not in after:
                self._refuse_comment(comment)
            after.remove(comment)
        return module.code

    def _refuse_comment(self, text):
        comment = next(n for n in self.analysis.nodes if isinstance(n, cst.Comment) and n.value == text)
        self.analysis.refuse(comment, "there is no place for this comment: move it above the statement")

    # --- what is understood ------------------------------------------------------------------------------------------

    def is_block(self, node):
        if isinstance(node, (cst.Name, cst.Call)) and self.analysis.function_of(node) is not None:
            return "block" in self.analysis.kind(node)
        return False

    def _check(self):
        analysis = self.analysis
        for node in analysis.nodes:
            if isinstance(node, cst.Call) and self._returned_by(node):
                self._check_returning_call(node)
            if isinstance(node, cst.Assign) and not self._returned_by(node.value) and any(map(self.is_block, items(node.value))):
                self._check_assignment(node)
            elif isinstance(node, (cst.AnnAssign, cst.NamedExpr)) and node.value is not None and (
                    self.is_block(node.value)):
                analysis.refuse(node, "write a plain assignment of the block pointer; --to vendored-file takes it")
            elif isinstance(node, cst.Param) and self.is_block(node.name) and (node.annotation or node.default):
                analysis.refuse(node, f"{node.name.value} is a block pointer, and has an annotation or a default")

    def _check_returning_call(self, call):
        """The call of a function that returns block pointers: all that it returns is assigned to names."""
        up = self.analysis.parent(call)
        if not (isinstance(up, cst.Assign) and up.value is call and len(up.targets) == 1):
            self.analysis.refuse(call, "give what this returns a name first, in a line of its own")
        if len(self.analysis.callees(call)) != 1:
            self.analysis.refuse(call, f"there are several functions named {call.func.value}")
        returned, target = self._returned_by(call), up.targets[0].target
        targets = {i: element.value for i, element in enumerate(target.elements)} if isinstance(
            target, (cst.Tuple, cst.List)) else {None: target}
        if any(not isinstance(targets.get(i), cst.Name) for i in returned):
            self.analysis.refuse(up, "write a name for each value that is returned")

    def _check_assignment(self, node):
        """One block pointer, or several side by side that are set independently of each other."""
        refused = "write one assignment for each block pointer; --to vendored-file takes it"
        if len(node.targets) != 1:
            self.analysis.refuse(node, refused)
        targets, values = items(node.targets[0].target), items(node.value)
        if len(targets) != len(values) or not all(map(self.is_block, values)) or any(
                not isinstance(target, cst.Name) for target in targets):
            self.analysis.refuse(node, refused)
        names = [target.value for target in targets]
        for target, value in zip(targets, values):
            inside = {name.value for name in walk(value) if isinstance(name, cst.Name)}
            if inside & (set(names) - {target.value}):
                self.analysis.refuse(node, refused)

    # --- the parts of each variable ----------------------------------------------------------------------------------

    def _variable(self, function, name):
        return self.variables.setdefault((function, name), Variable(function, name))

    def _find_definitions(self):
        """[(Variable, expression)]. Calls within other expressions get variables of their own."""
        result = []
        for node in self.analysis.nodes:
            function = self.analysis.function_of(node)
            if isinstance(node, cst.Return) and node.value is not None:
                values = enumerate(items(node.value)) if isinstance(node.value, cst.Tuple) else [(None, node.value)]
                result += [(self._results(function)[i], value) for i, value in values if self.is_block(value)]
            elif isinstance(node, cst.Assign) and self._returned_by(node.value):
                continue
            elif self._sets_blocks(node):
                result += [(self._variable(function, target.value), value)
                           for target, value in zip(items(node.targets[0].target), items(node.value))]
            elif isinstance(node, cst.Call):
                for value in self._pointers_in(node):
                    if isinstance(value, cst.Call):
                        self.temporary[value] = Variable(function, None)
                        result.append((self.temporary[value], value))
                        self.before.setdefault(self._statement(value), []).append(value)
        return result

    def _returned_by(self, value):
        """Which of the values that a call returns are block pointers: places in a tuple, or None for a single one."""
        if not isinstance(value, cst.Call) or value in self.analysis.calls:
            return []
        return sorted({i for callee in self.analysis.callees(value) for i, kinds in callee.returns.items()
                       if "block" in kinds}, key=str)

    def _results(self, function):
        """{place in a returned tuple, or None: Variable} of a function that returns block pointers."""
        return self.results.setdefault(function, {
            i: Variable(function, "the result") for i, kinds in function.returns.items() if "block" in kinds})

    def _unpacked(self, node):
        """[(Variable that is set, Variable of the result)] of an assignment from a call."""
        target = node.targets[0].target
        results = self._results(self.analysis.callees(node.value)[0])
        return [(self.variable_of(target if i is None else target.elements[i].value), result)
                for i, result in results.items()]

    def _sets_blocks(self, node):
        return isinstance(node, cst.Assign) and any(map(self.is_block, items(node.value)))

    def _pointers_in(self, call):
        """The arguments of a load, a store, or a function of this file, that are block pointers."""
        what = self.analysis.calls.get(call)
        if what in ("load", "store"):
            return [self.analysis.pointer_argument(call).value]
        if what is None and self.analysis.callees(call):
            return [argument.value for argument in call.args if self.is_block(argument.value)]
        return []

    def _statement(self, call):
        """The statement that a call is a part of, in front of which it may be made."""
        analysis, node = self.analysis, call
        for inner in walk(call):
            if isinstance(inner, cst.Call) and inner not in analysis.calls and not self._is_pure(inner):
                analysis.refuse(call, "give this block pointer a name first, in a line of its own")
            if isinstance(inner, cst.NamedExpr):
                analysis.refuse(inner, "an assignment within a block pointer")
        while not isinstance(node, (cst.SimpleStatementLine, cst.SimpleStatementSuite)):
            node = analysis.parent(node)
            if node is None or isinstance(node, (cst.IfExp, cst.BooleanOperation, cst.Lambda, cst.CompFor, cst.NamedExpr,
                                                 cst.BaseCompoundStatement)):
                analysis.refuse(call, "give this block pointer a name first, in a line of its own")
        if len(node.body) != 1:
            analysis.refuse(call, "write one statement a line here")
        return node

    def _is_pure(self, call):
        name = self.analysis.qualified(call.func)
        return (name.startswith("triton.") and name.rsplit(".", 1)[-1] in PURE or
                isinstance(call.func, cst.Attribute) and call.func.attr.value == "to" or
                isinstance(call.func, cst.Name) and call.func.value in ("min", "max"))

    def _find_parts(self):
        before = None
        while before != self._state():
            before = self._state()
            for variable, value in self._definitions:
                block = self.block(value)
                if block is not None:
                    self._merge(variable, block, value)
            for node in self._unpackings():
                for variable, result in self._unpacked(node):
                    if result.rank is not None:
                        parts = {part: (None, False) for part in result.texts}
                        self._merge(variable, Block(result.rank, parts, self.facts_for_another(result.facts)), node)
            for call in self._calls_with_blocks():
                for argument, parameter in self._parameters(call).items():
                    block = self.block(argument.value)
                    if block is not None:
                        parts = {part: (None, False) for part in block.parts}
                        self._merge(parameter, Block(block.rank, parts, self.facts_for_another(block.facts)), argument)

    def _state(self):
        results = (variable for each in self.results.values() for variable in each.values())
        return [(v.rank, dict(v.texts), dict(v.facts))
                for v in (*self.variables.values(), *self.temporary.values(), *results)]

    def _unpackings(self):
        return [node for node in self.analysis.nodes if isinstance(node, cst.Assign) and self._returned_by(node.value)]

    def _merge(self, variable, block, place):
        if variable.rank not in (None, block.rank):
            self.analysis.refuse(place, f"{variable.name} has {variable.rank} dimensions elsewhere, {block.rank} here")
        variable.rank = block.rank
        for part, (text, inline) in block.parts.items():
            text = text if inline and variable not in self._results(variable.function).values() else None
            if variable.texts.setdefault(part, text) != text:
                variable.texts[part] = None
        for fact, value in block.facts.items():
            if variable.facts.setdefault(fact, value) != value:
                variable.facts[fact] = None

    def facts_for_another(self, facts):
        """Of the facts, what holds in another function, which has other names."""
        return facts

    def _calls_with_blocks(self):
        return [node for node in self.analysis.nodes if isinstance(node, cst.Call) and node not in self.analysis.calls
                and self._pointers_in(node)]

    def _parameters(self, call):
        """{argument: Variable of the parameter} for the block pointers among the arguments of a call."""
        if call not in self._passed:
            callees = self.analysis.callees(call)
            if len(callees) != 1:
                self.analysis.refuse(call, f"there are several functions named {callees[0].name}")
            names = self.analysis.passed_as(call, callees[0])
            self._passed[call] = {
                argument: self._variable(callees[0], name)
                for argument, name in zip(call.args, names) if name is not None and self.is_block(argument.value)}
        return self._passed[call]

    def block(self, value):
        """The Block that an expression comes to; None while it is not known yet."""
        if isinstance(value, cst.Name):
            variable = self._variable(self.analysis.function_of(value), value.value)
            if variable.rank is None:
                return None
            return Block(variable.rank, {part: (self.text(variable, part), variable.texts[part] is not None)
                                         for part in variable.texts}, dict(variable.facts))
        what = self.analysis.calls.get(value)
        given = arguments_of(self.analysis, value)
        for argument in given.values():
            for inner in walk(argument):
                if inner in self.analysis.calls and not (self.is_block(inner) and inner is argument.value):
                    self.analysis.refuse(inner, "give this a name first, in a line of its own")
        if what == "make":
            dimensions = {name: self.dimensions(given[name], name)
                          for name in ("shape", "strides", "offsets", "block_shape")}
            rank = len(dimensions["block_shape"])
            for name, values in dimensions.items():
                if len(values) != rank:
                    self.analysis.refuse(given[name], f"{name} has {len(values)} elements, block_shape has {rank}")
            self.extents.setdefault(self.analysis.function_of(value), set()).update(
                self.line(extent) for extent in dimensions["block_shape"])
            return self.make(value, given, dimensions)
        inner = self.block(value.func.value if what == "method" else given["base"].value)
        if inner is None:
            return None
        steps = self.dimensions(given["offsets"], "offsets")
        if len(steps) != inner.rank:
            self.analysis.refuse(given["offsets"], f"{len(steps)} steps for {inner.rank} dimensions")
        for d, step in enumerate(steps):
            if number_of(step) != 0:
                self.advanced(inner, d, step)
        return inner

    def given(self, call):
        """{parameter: argument} of a call on block pointers."""
        return arguments_of(self.analysis, call)

    def dimensions(self, argument, name):
        value = argument.value
        if isinstance(value, (cst.Tuple, cst.List)):
            if any(not isinstance(element, cst.Element) for element in value.elements):
                self.analysis.refuse(argument, f"{name} with *")
            return [element.value for element in value.elements]
        if isinstance(value, (cst.Integer, cst.BinaryOperation, cst.UnaryOperation)):
            return [value]
        self.analysis.refuse(argument, f"write {name} as a tuple: {self.line(value)} may be one or not")

    # --- which parts are needed --------------------------------------------------------------------------------------

    def _find_needs(self):
        for call, what in self.analysis.calls.items():
            if what in ("load", "store"):
                variable = self.variable_of(self.analysis.pointer_argument(call).value)
                if variable.rank is None:
                    self.analysis.refuse(call, f"where the block pointer {variable.name} is made cannot be seen")
                parts, uses = self.uses_of(call, arguments_of(self.analysis, call), variable)
                variable.needed |= set(parts)
                variable.uses |= set(uses)
        for node in self.analysis.nodes:
            if isinstance(node, cst.Attribute) and node.attr.value in ("dtype", "type") and self.is_block(node.value):
                if not isinstance(node.value, cst.Name):
                    self.analysis.refuse(node, "give this block pointer a name first, in a line of its own")
                self.variable_of(node.value).needed.add(self.order(1)[0])
        flows = [(self.variable_of(name), variable) for variable, value in self._definitions
                 for name in [self._source(value)] if name is not None]
        flows += [(self.variable_of(argument.value), parameter) for call in self._calls_with_blocks()
                  for argument, parameter in self._parameters(call).items()]
        # Whoever calls a function takes all the parts that it returns.
        for node in self._unpackings():
            for variable, result in self._unpacked(node):
                flows += [(result, variable), (variable, result)]
        changed = True
        while changed:
            changed = False
            for source, target in flows:
                if not (target.needed <= source.needed and target.uses <= source.uses):
                    source.needed |= target.needed
                    source.uses |= target.uses
                    changed = True
        for variable, value in self._definitions:
            made = value
            while self.analysis.calls.get(made) in ("advance", "method"):
                made = self._inner(made)
            if self.analysis.calls.get(made) == "make":
                self.check_make(made, variable)

    def check_make(self, call, variable):
        """Called for each block pointer that is made, when the uses of its variable are known."""

    def _inner(self, call):
        given = arguments_of(self.analysis, call)
        return call.func.value if self.analysis.calls[call] == "method" else given["base"].value

    def _source(self, value):
        """The variable's Name that an expression takes its parts from, or None."""
        while self.analysis.calls.get(value) in ("advance", "method"):
            value = self._inner(value)
        return value if isinstance(value, cst.Name) else None

    def checked(self, argument, rank):
        """The dimensions in a boundary_check, sorted."""
        value = None if argument is None else argument.value
        if value is None or isinstance(value, cst.Name) and value.value == "None":
            return []
        result = [number_of(item) for item in items(value)]
        if None in result:
            self.analysis.refuse(argument, f"write the dimensions out: {self.line(value)} is no tuple of numbers")
        if len(set(result)) != len(result) or any(not 0 <= d < rank for d in result):
            self.analysis.refuse(argument, f"dimensions are 0 to {rank - 1}, each once")
        return sorted(result)

    def padding(self, argument):
        """"zero", "nan", or "" for no particular value."""
        value = None if argument is None else argument.value
        if value is None or isinstance(value, cst.Name) and value.value == "None":
            return ""
        text = value.evaluated_value if isinstance(value, cst.SimpleString) else None
        if text not in ("", "zero", "nan"):
            self.analysis.refuse(argument, f'write "zero" or "nan" out: what {self.line(value)} is cannot be seen')
        return text

    def variable_of(self, value):
        if value in self.temporary:
            return self.temporary[value]
        return self._variable(self.analysis.function_of(value), value.value)

    # --- names and texts ---------------------------------------------------------------------------------------------

    def _give_names(self, variable):
        taken = self._given.setdefault(variable.function, set(self._names_of_file))
        if variable.name is None:
            call = next(c for c, v in self.temporary.items() if v is variable)
            variable.name = self._base_name(call)
            variable.name = next(name for name in _numbered(variable.name) if name not in taken)
            taken.add(variable.name)
        for stem in _numbered(variable.name, "_at"):
            names = {part: self.part_name(stem, part) for part in self._kept(variable)}
            if not (set(names.values()) - {variable.name}) & taken:
                variable.names = names
                taken |= set(names.values())
                return

    def _base_name(self, call):
        inner = call
        while self.analysis.calls.get(inner) in ("advance", "method"):
            inner = self._inner(inner)
        if isinstance(inner, cst.Name):
            return f"{inner.value}_moved"
        base = arguments_of(self.analysis, inner)["base"].value
        return f"{base.value}_block" if isinstance(base, cst.Name) else "block"

    def _kept(self, variable):
        """The parts that become variables."""
        return [part for part in self.order(variable.rank or 0)
                if part in variable.needed and variable.texts.get(part) is None]

    def text(self, variable, part):
        """What to write for a part of a variable."""
        text = variable.texts[part]
        return variable.names.get(part, f"<{part}>") if text is None else text

    def line(self, node):
        """The code of an expression on one line, without comments."""
        return on_one_line(self.analysis.code(node))

    def stable(self, node, make):
        """Is the expression, which stands in `make`, the same wherever the block pointer is used? Arithmetic of names
        that are set before, and not in a loop."""
        names = arithmetic_of(node)
        if names is None:
            return False
        function = self.analysis.function_of(make)
        place = self.analysis.place(make)
        return all(target < place and not in_loop
                   for name in names for target, in_loop in self.analysis.set_at(function, name))

    # --- writing -----------------------------------------------------------------------------------------------------

    def _assignments(self, variable, value):
        """Statements, as text, that set the variable's parts to those of an expression."""
        block = self.block(value)
        result = []
        for part in self._kept(variable):
            name, (text, _) = variable.names[part], block.parts[part]
            if text == name:
                continue
            if text.startswith(f"{name} + "):
                step = text.removeprefix(f"{name} + ")
                result.append(f"{name} += {bare(step)}")
            else:
                result.append(f"{name} = {bare(text)}")
        return result

    def _statements(self, original, updated):
        """The small statements that those of a line become, and whether anything changed."""
        result, changed = [], False
        for value in self.before.get(original, ()):
            changed = True
            result += map(_small, self._assignments(self.temporary[value], value))
        for old, new in zip(original.body, updated.body):
            if isinstance(old, cst.Assign) and self._returned_by(old.value):
                changed = True
                result.append(new.with_changes(targets=[self._unpacking(old, new)],
                                               semicolon=cst.MaybeSentinel.DEFAULT))
            elif isinstance(old, cst.Return) and old.value is not None and any(map(self.is_block, items(old.value))):
                changed = True
                result.append(self._return(old, new))
            elif self._sets_blocks(old):
                changed = True
                for target, value in zip(items(old.targets[0].target), items(old.value)):
                    result += map(_small, self._assignments(self.variable_of(target), value))
            else:
                result.append(new.with_changes(semicolon=cst.MaybeSentinel.DEFAULT) if changed else new)
        return result or [cst.Pass()], changed

    def _unpacking(self, old, new):
        """The target of an assignment from a call, with the parts in place of each block pointer."""
        variables = {id(variable): variable for variable, _ in self._unpacked(old)}
        targets = []
        for target in items(old.targets[0].target):
            variable = self.variable_of(target) if isinstance(target, cst.Name) else None
            if id(variable) in variables:
                targets += [cst.Name(variable.names[part]) for part in self._kept(variable)]
            else:
                targets.append(target)
        return new.targets[0].with_changes(target=_tuple(targets))

    def _return(self, old, new):
        function = self.analysis.function_of(old)
        alone = not isinstance(old.value, cst.Tuple)
        values = []
        for i, (value, changed) in enumerate(zip(items(old.value), items(new.value))):
            if not self.is_block(value):
                values.append(changed)
                continue
            block, result = self.block(value), self._results(function)[None if alone else i]
            values += [cst.parse_expression(bare(block.parts[part][0])) for part in self._kept(result)]
        if not values:
            self.analysis.refuse(old, "the block pointer that is returned is not used")
        return cst.Return(_tuple(values))

    def leave_SimpleStatementLine(self, original, updated):
        small, changed = self._statements(original, updated)
        lost = _missing(original, small)
        leading = [*updated.leading_lines, *(cst.EmptyLine(comment=cst.Comment(text)) for text in lost)]
        if not changed:
            return updated.with_changes(leading_lines=leading) if lost else updated
        if len(original.body) > 1:
            return updated.with_changes(body=small, leading_lines=leading)
        lines = [cst.SimpleStatementLine([statement.with_changes(semicolon=cst.MaybeSentinel.DEFAULT)])
                 for statement in small]
        lines[0] = lines[0].with_changes(leading_lines=leading)
        lines[-1] = lines[-1].with_changes(trailing_whitespace=updated.trailing_whitespace)
        return cst.FlattenSentinel(lines)

    def leave_SimpleStatementSuite(self, original, updated):
        small, changed = self._statements(original, updated)
        return updated.with_changes(body=small) if changed else updated

    def leave_Call(self, original, updated):
        what = self.analysis.calls.get(original)
        if what in ("load", "store"):
            variable = self.variable_of(self.analysis.pointer_argument(original).value)
            given = arguments_of(self.analysis, original)
            new = dict(zip(map(id, original.args), updated.args))
            return getattr(self, what)(original, updated, variable, given,
                                       {name: new[id(argument)].value for name, argument in given.items()})
        if what is None and self._pointers_in(original):
            return updated.with_changes(args=self._expanded(original, updated))
        return updated

    def _expanded(self, original, updated):
        """Arguments, with the parts of each block pointer in its place."""
        parameters, result = self._parameters(original), []
        for old, new in zip(original.args, updated.args):
            if old not in parameters:
                result.append(new)
                continue
            variable, parameter = self.variable_of(old.value), parameters[old]
            for part in self._kept(parameter):
                text = bare(self.text(variable, part))
                new_one = cst.Arg(cst.parse_expression(text)) if old.keyword is None else keyword(
                    parameter.names[part], text)
                result.append(new_one.with_changes(comma=comma()))
            if self._kept(parameter):
                result[-1] = result[-1].with_changes(comma=new.comma)
        return result

    def leave_FunctionDef(self, original, updated):
        function = self.analysis.function_at(original)
        parameters = updated.params
        changes = {}
        for kind in ("posonly_params", "params", "kwonly_params"):
            result = []
            for parameter in getattr(parameters, kind):
                variable = self.variables.get((function, parameter.name.value))
                if variable is None or not self.is_block_parameter(function, parameter.name.value):
                    result.append(parameter)
                    continue
                names = [variable.names[part] for part in self._kept(variable)]
                result += [cst.Param(cst.Name(name), comma=comma()) for name in names]
                if names:
                    result[-1] = result[-1].with_changes(comma=parameter.comma)
            changes[kind] = result
        return updated.with_changes(params=parameters.with_changes(**changes))

    def is_block_parameter(self, function, name):
        return "block" in function.kinds.get(name, ())

    def leave_Attribute(self, original, updated):
        inner = original.value
        if (original.attr.value == "element_ty" and isinstance(inner, cst.Attribute)
                and inner.attr.value in ("dtype", "type") and self.is_block(inner.value)):
            return cst.parse_expression(self.element(self.variable_of(inner.value)))
        return updated

    def leave_ImportFrom(self, original, updated):
        return without_removed_names(original, updated, self.analysis)

    def broken(self, call, arguments):
        """The arguments of a call that may have become too long for a line, broken between them."""
        _, column = self.analysis.place(call)
        first = column + len(self.analysis.code(call.func))
        depth = self.analysis.indentation(call)
        space = cst.ParenthesizedWhitespace(indent=True, last_line=cst.SimpleWhitespace(" " * max(first - depth, 4)))
        at, result = first, []
        for k, argument in enumerate(arguments):
            argument = argument.with_changes(comma=cst.MaybeSentinel.DEFAULT)
            width = max(map(len, self.analysis.code(argument).split("\n"))) + 2
            if k and at + width > WIDE:
                result[-1] = result[-1].with_changes(comma=cst.Comma(whitespace_after=space))
                at = first
            at += width
            result.append(argument.with_changes(comma=comma() if k + 1 < len(arguments) else cst.MaybeSentinel.DEFAULT))
        return result


def _tuple(values):
    """The values side by side without parentheses; a single one alone."""
    if len(values) == 1:
        return values[0]
    elements = [cst.Element(value, comma=comma()) for value in values[:-1]]
    return cst.Tuple([*elements, cst.Element(values[-1])], lpar=(), rpar=())


def _small(text):
    return cst.parse_statement(text).body[0]


def _comments(node):
    return [inner.value for inner in walk(node) if isinstance(inner, cst.Comment)]


def _missing(original, small):
    """Comments within the statements of a line that are not in those that it becomes."""
    before = [text for statement in original.body for text in _comments(statement)]
    for text in (text for statement in small for text in _comments(statement)):
        if text in before:
            before.remove(text)
    return before


def _language(analysis):
    """(how the file names triton.language, must that be imported?)"""
    for node in analysis.module.body:
        if not isinstance(node, cst.SimpleStatementLine):
            continue
        for small in node.body:
            if not isinstance(small, (cst.Import, cst.ImportFrom)) or isinstance(small.names, cst.ImportStar):
                continue
            origin = analysis.code(small.module) + "." if isinstance(small, cst.ImportFrom) and small.module else ""
            for name in small.names:
                if origin + analysis.code(name.name) == "triton.language":
                    return (name.asname.name.value if name.asname else analysis.code(name.name)), False
    for call in analysis.calls:  # imported elsewhere, in a function or a try statement
        if isinstance(call.func, cst.Attribute) and analysis.word(call) is not None:
            return analysis.code(call.func.value), False
    names = {node.value for node in analysis.nodes if isinstance(node, cst.Name)}
    return next(name for name in ("tl", "triton_language", "_tl") if name not in names), True


def _numbered(name, between=""):
    yield name
    for n in range(2, 10000):
        yield f"{name}{between}{n}"
