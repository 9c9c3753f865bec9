"""The IR as a pass written in Python sees it: modules, operations, values, types, attributes.

Objects are handles of one run of one pass, over the functions that plugins in C get (include/tilesight/plugin.h). They are
equal if they stand for the same thing, mean nothing after the pass has returned, and a call that cannot be done raises
tilesight.Error and undoes the run.
"""

import enum

from .engine import native
from .errors import Error


class TypeKind(enum.IntEnum):
    INTEGER, FLOAT, INDEX, POINTER, TENSOR, DESCRIPTOR, VIEW, FUNCTION, NONE, OTHER = range(10)


class AttributeKind(enum.IntEnum):
    (UNIT, BOOL, INTEGER, FLOAT, STRING, ARRAY, DICTIONARY, DENSE_ELEMENTS, DENSE_ARRAY, SYMBOL, TYPE, KEYWORD, OTHER) = range(13)


_FACTS = ("known", "pure", "removable", "speculatable", "terminator", "reads", "writes", "function", "call", "elementwise")
_DONE, _REFUSED, _NOTE = range(3)


class _Handle:
    __slots__ = ("_run", "_number")

    def __init__(self, run, number):
        self._run, self._number = run, number

    @classmethod
    def _of(cls, run, number):
        return cls(run, number) if number else None

    def _ask(self, function, *arguments):
        return getattr(native().host, function)(self._run, self._number, *arguments)

    def __eq__(self, other):
        # The number says what kind of thing it stands for.
        return isinstance(other, _Handle) and other._number == self._number and other._run == self._run

    def __hash__(self):
        return hash(self._number)


def _number(thing, kind, what):
    if not isinstance(thing, kind):
        raise Error(f"{what} must be {kind.__name__}, not {type(thing).__name__}")
    return thing._number


class Type(_Handle):
    """`str(type)` is its text: `tensor<64x32xf16>`."""

    __slots__ = ()

    def __str__(self):
        return self._ask("type_text")

    def __repr__(self):
        return f"<type {self}>"

    @property
    def kind(self):
        return TypeKind(self._ask("type_kind"))

    @property
    def width(self):
        """Bits of an integer or float; 0 for others."""
        return self._ask("type_width")

    @property
    def element(self):
        """Of a tensor, descriptor or view, or what a pointer points to; else None."""
        return Type._of(self._run, self._ask("type_element"))

    @property
    def shape(self):
        """Of a tensor, descriptor or view; else ()."""
        return tuple(self._ask("type_extent", axis) for axis in range(self._ask("type_rank")))

    @property
    def encoding(self):
        """A tensor's or descriptor's layout, an Attribute; None without one."""
        return Attribute._of(self._run, self._ask("type_encoding"))

    def with_shape(self, shape):
        """A tensor of this element (of this type itself, if it is a scalar) and layout."""
        element, encoding = self.element if self.kind == TypeKind.TENSOR else self, self.encoding if self.kind == TypeKind.TENSOR else None
        return Type(self._run, native().host.type_tensor(self._run, list(shape), element._number, encoding._number if encoding else 0))


class Attribute(_Handle):
    """`str(attribute)` is its text, `attribute.value` a Python value, where there is one."""

    __slots__ = ()

    def __str__(self):
        return self._ask("attr_text")

    def __repr__(self):
        return f"<attribute {self}>"

    @property
    def kind(self):
        return AttributeKind(self._ask("attr_kind"))

    @property
    def type(self):
        """That a type attribute holds, or that a number has; else None."""
        return Type._of(self._run, self._ask("attr_type"))

    @property
    def value(self):
        """An int, bool or str (also of symbols and keywords), a list of an array's attributes or a dense array's integers,
        a Type, True of a unit attribute; None where only the text is known."""
        kind = self.kind
        if kind == AttributeKind.UNIT:
            return True
        if kind == AttributeKind.BOOL:
            return bool(self._ask("attr_integer"))
        if kind == AttributeKind.INTEGER:
            return self._ask("attr_integer")
        if kind in (AttributeKind.STRING, AttributeKind.SYMBOL, AttributeKind.KEYWORD):
            return self._ask("attr_string")
        if kind == AttributeKind.ARRAY:
            return [Attribute(self._run, self._ask("attr_element", i)) for i in range(self._ask("attr_count"))]
        if kind == AttributeKind.DENSE_ARRAY:
            if self.type.kind == TypeKind.FLOAT:
                return None
            return [self._ask("attr_element_integer", i) for i in range(self._ask("attr_count"))]
        return self.type if kind == AttributeKind.TYPE else None

    def entry(self, key):
        """Of a dictionary; None if it is not there."""
        return Attribute._of(self._run, self._ask("attr_entry", key))


class Location(_Handle):
    """A place in the user's source."""

    __slots__ = ()

    @property
    def place(self):
        """(file, line, column), or None."""
        return self._ask("location_file")

    @property
    def name(self):
        """The variable's name, or ""."""
        return self._ask("location_name")


class Value(_Handle):
    """The result of an operation, or the argument of a block."""

    __slots__ = ()

    def __repr__(self):
        return f"<value %{self.name or '?'}: {self.type}>"

    @property
    def type(self):
        """None if it is not known: a result of an operation that no table has."""
        return Type._of(self._run, self._ask("value_type"))

    @type.setter
    def type(self, type):
        self._ask("value_set_type", _number(type, Type, "a value's type"))

    @property
    def op(self):
        """The operation whose result it is; None for arguments."""
        return Operation._of(self._run, self._ask("value_op"))

    @property
    def block(self):
        """The block whose argument it is; None for results."""
        return Block._of(self._run, self._ask("value_block"))

    @property
    def index(self):
        return self._ask("value_index")

    @property
    def name(self):
        """Without %; "" if it has a number. Setting it is a wish."""
        return self._ask("value_name")

    @name.setter
    def name(self, name):
        self._ask("value_set_name", name)

    @property
    def uses(self):
        """[(operation, place among its operands)]; the place is None where it is passed on to a block."""
        found = (self._ask("value_use", use) for use in range(self._ask("value_use_count")))
        return [(Operation(self._run, op), None if place == 2**32 - 1 else place) for op, place in found]

    def replace_uses(self, other):
        self._ask("value_replace_uses", _number(other, Value, "what takes a value's place"))

    def is_outside(self, op):
        """Defined neither by the operation nor in it."""
        return bool(self._ask("value_is_outside", _number(op, Operation, "what a value is outside of")))

    # --- what is known of integers; of tensors: of all their elements

    @property
    def constant(self):
        """The integer that it always is, by a constant, also through splat and broadcast; else None."""
        return self._ask("constant_integer")

    @property
    def range(self):
        """(least, most), both possible; wrap-around is respected."""
        return self._ask("range")

    def is_multiple(self, divisor):
        return bool(self._ask("is_multiple", divisor))

    def difference(self, other):
        """(least, most) of self - other."""
        return self._ask("difference", _number(other, Value, "what is subtracted"))

    @property
    def truth(self):
        """True or False if an i1 (or every element) always is; else None."""
        known = self._ask("truth")
        return None if known < 0 else bool(known)


class Block(_Handle):
    __slots__ = ()

    @property
    def region(self):
        return Region(self._run, self._ask("block_region"))

    @property
    def arguments(self):
        return [Value(self._run, self._ask("block_argument", i)) for i in range(self._ask("block_argument_count"))]

    @property
    def first(self):
        return Operation._of(self._run, self._ask("block_first"))

    @property
    def last(self):
        return Operation._of(self._run, self._ask("block_last"))

    @property
    def ops(self):
        ops, op = [], self.first
        while op:
            ops.append(op)
            op = op.next
        return ops

    def add_argument(self, type, location=None):
        return Value(self._run, self._ask("block_add_argument", _number(type, Type, "an argument's type"), location._number if location else 0))

    def erase_argument(self, index):
        """It must be unused."""
        self._ask("block_erase_argument", index)

    def move_body(self, before=None, at_end=None):
        """All its operations, to stand before an operation or at the end of a block."""
        self._ask("block_move_body", _point(before, at_end))


class Region(_Handle):
    __slots__ = ()

    @property
    def op(self):
        return Operation(self._run, self._ask("region_op"))

    @property
    def blocks(self):
        return [Block(self._run, self._ask("region_block", i)) for i in range(self._ask("region_block_count"))]

    def add_block(self):
        return Block(self._run, self._ask("region_add_block"))


def _point(before, at_end):
    if (before is None) == (at_end is None):
        raise Error("say where: before=OPERATION or at_end=BLOCK")
    return (0, _number(before, Operation, "before")) if before is not None else (_number(at_end, Block, "at_end"), 0)


class Operation(_Handle):
    __slots__ = ()

    def __repr__(self):
        return f"<operation {self.name}>"

    @property
    def name(self):
        """"tt.load"."""
        return self._ask("op_name")

    @property
    def facts(self):
        """What is known of it, as a set of: known, pure, removable, speculatable, terminator, reads, writes, function, call,
        elementwise. Empty for operations that no table has."""
        bits = self._ask("op_facts")
        return {fact for bit, fact in enumerate(_FACTS) if bits >> bit & 1}

    @property
    def parent(self):
        return Operation._of(self._run, self._ask("op_parent"))

    @property
    def block(self):
        return Block._of(self._run, self._ask("op_block"))

    @property
    def next(self):
        return Operation._of(self._run, self._ask("op_next"))

    @property
    def previous(self):
        return Operation._of(self._run, self._ask("op_previous"))

    def is_inside(self, ancestor):
        """Also of itself."""
        return bool(self._ask("op_is_inside", _number(ancestor, Operation, "an ancestor")))

    @property
    def operands(self):
        return [Value(self._run, self._ask("op_operand", i)) for i in range(self._ask("op_operand_count"))]

    @property
    def results(self):
        return [Value(self._run, self._ask("op_result", i)) for i in range(self._ask("op_result_count"))]

    @property
    def result(self):
        """The only one."""
        results = self.results
        if len(results) != 1:
            raise Error(f"{self.name} has {len(results)} results")
        return results[0]

    def group(self, name):
        """The operands of a group of its table: `load.group("mask")` is [] or [mask]."""
        first, count = self._ask("op_operand_group", name)
        return self.operands[first:first + count]

    @property
    def attributes(self):
        """Key -> Attribute. A copy; values equal to a default are not there."""
        return {key: self.attribute(key) for key in (self._ask("op_attribute_key", i) for i in range(self._ask("op_attribute_count")))}

    def attribute(self, key):
        return Attribute._of(self._run, self._ask("op_attribute", key))

    @property
    def regions(self):
        return [Region(self._run, self._ask("op_region", i)) for i in range(self._ask("op_region_count"))]

    @property
    def successors(self):
        return [Block(self._run, self._ask("op_successor", i)) for i in range(self._ask("op_successor_count"))]

    @property
    def location(self):
        return Location._of(self._run, self._ask("op_location"))

    @location.setter
    def location(self, location):
        self._ask("op_set_location", location._number if location else 0)

    @property
    def max_trips(self):
        """How often the body of an scf.for runs, at most; None if that is not known."""
        trips = self._ask("max_trips")
        return None if trips < 0 else trips

    def walk(self, name=None):
        """It and all in it, outer ones first; only those of a name, if one is given. They may be erased on the way, but for
        the one that stands next: this is a list that was made before."""
        found, number = [], 0
        while number := self._ask("walk", number):
            op = Operation(self._run, number)
            if name is None or op.name == name:
                found.append(op)
        return found

    # --- edits

    def copy(self, before=None, at_end=None):
        """With all in it; operands stay."""
        return Operation(self._run, self._ask("op_copy", _point(before, at_end)))

    def move(self, before=None, at_end=None):
        self._ask("op_move", _point(before, at_end))

    def erase(self):
        """Its results must be unused."""
        self._ask("op_erase")

    def set_operand(self, index, value):
        self._ask("op_set_operand", index, _number(value, Value, "an operand"))

    def set_operands(self, values, groups=None):
        """All anew; `groups` says how many operands each group has (ptr, mask, other), if their number does not tell."""
        self._ask("op_set_operands", [_number(value, Value, "an operand") for value in values], groups)

    def set_attribute(self, key, attribute):
        """None takes it away."""
        self._ask("op_set_attribute", key, 0 if attribute is None else _number(attribute, Attribute, "an attribute"))


class Module(Operation):
    """What a pass gets: the outermost operation, and what makes new things."""

    __slots__ = ()

    def create(self, name, operands=(), results=(), attributes=None, *, before=None, at_end=None, groups=None, regions=0, location=None):
        """A new operation, to stand before another one, or at the end of a block. `results` are types, `attributes` a
        dictionary of key and Attribute. Give it the location of the operation whose place it takes."""
        number = native().host.op_create(
            self._run, name, _point(before, at_end), [_number(value, Value, "an operand") for value in operands],
            [_number(type, Type, "a result") for type in results],
            [(key, _number(value, Attribute, f"the attribute {key}")) for key, value in (attributes or {}).items()],
            groups, regions, location._number if location else 0)
        return Operation(self._run, number)

    def constant(self, value, type, *, before=None, at_end=None, location=None):
        """A constant integer or index, or a tensor of equal ones."""
        return Value(self._run, native().host.constant(self._run, _point(before, at_end), _number(type, Type, "a constant's type"), value,
                                                       location._number if location else 0))

    def type(self, text):
        return Type(self._run, native().host.type_parse(self._run, text))

    def parse_attribute(self, text):
        """From its text: `array<i32: 0, 1>`, `16 : i32`, `"text"`."""
        return Attribute(self._run, native().host.attr_parse(self._run, text))

    def keyword(self, text):
        """An enumeration's case, bare in text."""
        return Attribute(self._run, native().host.attr_make_keyword(self._run, text))

    def assume(self, promises):
        """What the user promises, for the ranges of values: "grid.x=16 N=1024 M=1..4096 K%64=0"."""
        native().host.assume(self._run, promises)

    def done(self, op, rule, message):
        """A remark at an operation (None: the module): what was done, under a short stable name."""
        self._remark(_DONE, op, rule, message)

    def refused(self, op, rule, message):
        self._remark(_REFUSED, op, rule, message)

    def note(self, op, message, rule=""):
        self._remark(_NOTE, op, rule, message)

    def _remark(self, kind, op, rule, message):
        native().host.remark(self._run, op._number if op is not None else 0, kind, rule, message)
