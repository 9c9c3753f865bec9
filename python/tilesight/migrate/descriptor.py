"""Block pointers become tensor descriptors (TMA on NVIDIA GPUs from Hopper on), where the rules of descriptors hold by
what is in the source, or by what the user promises.

The rules are those of block_ptr.py: the contiguous dimension has stride 1, the other strides and where blocks begin in
it are multiples of 16 bytes, every dimension is checked; what is written begins at no negative coordinate, in a tensor
whose rows are multiples of 16 bytes. How large an element is cannot be seen: multiples of 16 elements are taken.
"""

import libcst as cst

from .expressions import first_summand, items, later_summand, number_of
from .parts import Block, Parts
from .ranges import place_not_negative, whole_chunks

def rewrite(analysis, promises):
    """The file's text with descriptors. `promises`: what the user promises, "aligned", "inside"."""
    return Descriptor(analysis, promises).rewrite() if analysis.calls else analysis.module.code


class Descriptor(Parts):
    def __init__(self, analysis, promises):
        self.aligned, self.inside = "aligned" in promises, "inside" in promises
        self.padding_of = {}  # make -> "nan" or ""
        super().__init__(analysis)

    def order(self, rank):
        return ["descriptor", *map(str, range(rank))]

    def part_name(self, stem, part):
        return stem if part == "descriptor" else f"{stem}_{part}"

    def refuse(self, node, reason, promise=None):
        self.analysis.refuse(node, f"{reason}; --promise {promise} takes your word for it" if promise else reason)

    def facts_for_another(self, facts):
        return {**facts, "extent": None}

    # --- making and moving -------------------------------------------------------------------------------------------

    def make(self, call, given, dimensions):
        axes = self._axes(call, given, dimensions["strides"])
        row = axes[-1]
        extents = self.extents[self.analysis.function_of(call)]
        extent = self.line(dimensions["block_shape"][row])
        self._check_base(given["base"].value, extent)
        self._check_strides(dimensions["strides"], row, extent)
        self._check_place(dimensions["offsets"][row], row, extent, "offset")
        lists = [[self.line(dimensions[name][d]) for d in axes] for name in ("shape", "strides", "block_shape")]
        lists[1][-1] = "1"
        shape, strides, block = (f"[{', '.join(texts)}]" for texts in lists)
        padding = ', padding_option="nan"' if self.padding_of.get(call) == "nan" else ""
        parts = {"descriptor": (f"{self.language}.make_tensor_descriptor({self.line(given['base'].value)}, shape={shape}, "
                                f"strides={strides}, block_shape={block}{padding})", False)}
        facts = {"axes": axes, "extent": extent}
        for d, offset in enumerate(dimensions["offsets"]):
            parts[str(d)] = (first_summand(self.line(offset), offset), self.stable(offset, call))
            facts[d] = place_not_negative(self.analysis, offset, extents)
        return Block(len(axes), parts, facts)

    def advanced(self, block, d, step):
        axes = block.facts["axes"]
        if axes is not None and d == axes[-1]:
            self._check_place(step, d, block.facts["extent"], "step")
        text, _ = block.parts[str(d)]
        block.parts[str(d)] = (f"{text} + {later_summand(self.line(step), step)}", False)
        extents = self.extents.get(self.analysis.function_of(step), ())
        block.facts[d] = bool(block.facts[d]) and place_not_negative(self.analysis, step, extents)

    def _axes(self, call, given, strides):
        """The order of the descriptor's dimensions, the contiguous one last."""
        order = [number_of(item) for item in items(given["order"].value)]
        known = sorted(order) == list(range(len(strides))) if None not in order else False
        ones = [d for d in (order if known else reversed(range(len(strides)))) if number_of(strides[d]) == 1]
        if ones:
            last = ones[0]
        elif self.aligned and known and number_of(strides[order[0]]) is None:
            last = order[0]
        elif self.aligned or not known or number_of(strides[order[0]]) is not None:
            self.refuse(given["strides"], "no stride is 1: a descriptor needs a contiguous dimension")
        else:
            self.refuse(given["strides"], f"whether {self.line(strides[order[0]])}, the stride of dimension {order[0]}, is 1 "
                                          "cannot be seen", "aligned")
        return (*(d for d in range(len(strides)) if d != last), last)

    def _check_base(self, base, extent):
        """A pointer by its name is taken to be a multiple of 16 bytes, as torch's are; so is one so much further."""
        if self.aligned or isinstance(base, cst.Name) and not self.analysis.set_at(
                self.analysis.function_of(base), base.value):
            return
        value = self.analysis.set_once(base)
        if value is not None:
            return self._check_base(value, extent)
        if isinstance(base, cst.BinaryOperation) and isinstance(base.operator, cst.Add) and (
                whole_chunks(self.analysis, base.right, extent)):
            return self._check_base(base.left, extent)
        self.refuse(base, f"whether {self.line(base)} is a multiple of 16 bytes cannot be seen", "aligned")

    def _check_strides(self, strides, row, extent):
        for d, stride in enumerate(strides):
            number = number_of(stride)
            if d == row:
                continue
            if number is not None and (number <= 0 or number % 2):
                self.refuse(stride, f"{number}, the stride of dimension {d}, is no positive multiple of 16 bytes")
            if not self.aligned and not whole_chunks(self.analysis, stride, extent):
                self.refuse(stride, f"whether {self.line(stride)}, the stride of dimension {d}, is a multiple of 16 bytes "
                                    "cannot be seen", "aligned")

    def _check_place(self, node, d, extent, what):
        number = number_of(node)
        if number is not None and number % 2:
            self.refuse(node, f"{number}, the {what} of dimension {d}, is no multiple of 16 bytes")
        if not self.aligned and not whole_chunks(self.analysis, node, extent):
            self.refuse(node, f"whether {self.line(node)}, the {what} of dimension {d}, is a multiple of 16 bytes cannot "
                              "be seen", "aligned")

    # --- uses --------------------------------------------------------------------------------------------------------

    def uses_of(self, call, given, variable):
        what = self.analysis.calls[call]
        axes = variable.facts["axes"]
        if axes is None:
            self.refuse(call, f"{variable.name} is made with different contiguous dimensions")
        for name in ("cache_modifier", "eviction_policy", "volatile"):
            if name in given:
                self.refuse(given[name], f"a descriptor takes no {name}")
        unchecked = sorted(set(axes) - set(self.checked(given.get("boundary_check"), variable.rank)))
        if unchecked and not self.inside:
            self.refuse(call, f"dimension {unchecked[0]} is not in boundary_check, and a descriptor checks all", "inside")
        uses = {self.padding(given.get("padding_option"))} if what == "load" else {"written"}
        if what == "store":
            if number_of(given["value"].value) is not None or isinstance(given["value"].value, cst.Float):
                self.refuse(given["value"], "a descriptor is written a block, not a number: write tl.full(..)")
            hidden = [d for d in range(variable.rank) if not variable.facts[d]]
            if hidden and not self.aligned:
                self.refuse(call, f"whether this is written at negative coordinates of dimension {hidden[0]} cannot be seen",
                            "aligned")
        return self.order(variable.rank), uses

    def check_make(self, call, variable):
        if {"zero", "nan"} <= variable.uses:
            self.refuse(call, 'a descriptor has one padding, and loads of this ask for "zero" and "nan"')
        self.padding_of[call] = "nan" if "nan" in variable.uses else ""
        if "written" not in variable.uses:
            return
        given, axes = self.given(call), variable.facts["axes"]
        row = self.dimensions(given["shape"], "shape")[axes[-1]]
        extent = self.line(self.dimensions(given["block_shape"], "block_shape")[axes[-1]])
        if not self.aligned and not whole_chunks(self.analysis, row, extent):
            self.refuse(row, f"this is written, and whether {self.line(row)}, its extent in dimension {axes[-1]}, is a "
                             "multiple of 16 bytes cannot be seen", "aligned")
        if number_of(row) is not None and number_of(row) % 2:
            self.refuse(row, f"this is written, and its extent in dimension {axes[-1]} is no multiple of 16 bytes")
        for d, offset in enumerate(self.dimensions(given["offsets"], "offsets")):
            if (number_of(offset) or 0) < 0:
                self.refuse(offset, f"this is written at negative coordinates of dimension {d}")

    # --- writing -----------------------------------------------------------------------------------------------------

    def load(self, original, updated, variable, given, new):
        call = cst.parse_expression(f"{self.text(variable, 'descriptor')}.load({self._places(variable)})")
        axes = variable.facts["axes"]
        return self._permuted(call, [axes.index(d) for d in range(variable.rank)])

    def store(self, original, updated, variable, given, new):
        call = cst.parse_expression(f"{self.text(variable, 'descriptor')}.store({self._places(variable)}, value)")
        value = self._permuted(new["value"], list(variable.facts["axes"]))
        return call.with_changes(args=self.broken(original, [call.args[0], cst.Arg(value)]))

    def _places(self, variable):
        return "[" + ", ".join(self.text(variable, str(d)) for d in variable.facts["axes"]) + "]"

    def _permuted(self, value, axes):
        if axes == sorted(axes):
            return value
        if axes == [1, 0]:
            return cst.Call(cst.parse_expression(f"{self.language}.trans"), [cst.Arg(value)])
        dimensions = cst.parse_expression("(" + ", ".join(map(str, axes)) + ")")
        return cst.Call(cst.parse_expression(f"{self.language}.permute"),
                        [cst.Arg(value, comma=cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))),
                         cst.Arg(dimensions)])

    def element(self, variable):
        return f"{self.text(variable, 'descriptor')}.dtype"
