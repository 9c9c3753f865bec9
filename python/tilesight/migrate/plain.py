"""Block pointers become pointers and masks, written out: no helper file is needed.

The coordinates of each dimension are a 64-bit tensor: offset + arange. Addresses, bounds and padding are those of
Triton 3.7's block pointers.
"""

import libcst as cst

from .expressions import factor, first_summand, keyword, later_summand, number_of
from .parts import Block, Parts
from .ranges import not_negative

KEPT = ("cache_modifier", "eviction_policy", "volatile")


def rewrite(analysis):
    """The file's text with pointers and masks."""
    return Plain(analysis).rewrite() if analysis.calls else analysis.module.code


class Plain(Parts):
    def order(self, rank):
        return ["base", *(f"shape_{d}" for d in range(rank)), *(f"stride_{d}" for d in range(rank)),
                *map(str, range(rank))]

    def part_name(self, stem, part):
        return f"{stem}_{part}"

    def make(self, call, given, dimensions):
        base = given["base"].value
        parts = {"base": (first_summand(self.line(base), base), isinstance(base, cst.Name) and self.stable(base, call))}
        facts = {}
        for d, node in enumerate(dimensions["shape"]):
            parts[f"shape_{d}"] = (first_summand(self.line(node), node), self.stable(node, call))
        for d, node in enumerate(dimensions["strides"]):
            parts[f"stride_{d}"] = (factor(self.line(node), node), self.stable(node, call))
        for d, (offset, extent) in enumerate(zip(dimensions["offsets"], dimensions["block_shape"])):
            numbers = f"{self.language}.arange(0, {self.line(extent)}).to({self.language}.int64)"
            start = "" if number_of(offset) == 0 else first_summand(self.line(offset), offset) + " + "
            parts[str(d)] = (start + numbers, False)
            facts[d] = not_negative(self.analysis, offset, self.extents[self.analysis.function_of(call)])
        return Block(len(dimensions["shape"]), parts, facts)

    def advanced(self, block, d, step):
        text, _ = block.parts[str(d)]
        block.parts[str(d)] = (f"{text} + {later_summand(self.line(step), step)}", False)
        extents = self.extents.get(self.analysis.function_of(step), ())
        block.facts[d] = bool(block.facts[d]) and not_negative(self.analysis, step, extents)

    def uses_of(self, call, given, variable):
        checked = self.checked(given.get("boundary_check"), variable.rank)
        self.padding(given.get("padding_option"))
        dimensions = range(variable.rank)
        return ["base", *(f"stride_{d}" for d in dimensions), *map(str, dimensions),
                *(f"shape_{d}" for d in checked)], ()

    # --- writing -----------------------------------------------------------------------------------------------------

    def load(self, original, updated, variable, given, new):
        arguments = [cst.Arg(self._address(variable)), *self._mask(variable, given)]
        padding = self.padding(given.get("padding_option"))
        if padding and len(arguments) > 1:
            arguments.append(keyword("other", "0.0" if padding == "zero" else 'float("nan")'))
        return self._call(original, updated, arguments, new)

    def store(self, original, updated, variable, given, new):
        arguments = [cst.Arg(self._address(variable)), cst.Arg(new["value"]), *self._mask(variable, given)]
        return self._call(original, updated, arguments, new)

    def _call(self, original, updated, arguments, new):
        arguments += [keyword(name, value) for name, value in new.items() if name in KEPT]
        return updated.with_changes(args=self.broken(original, arguments), whitespace_before_args=cst.SimpleWhitespace(""))

    def _address(self, variable):
        text = self.text(variable, "base")
        for d in range(variable.rank):
            stride = self.text(variable, f"stride_{d}")
            along = self.text(variable, str(d)) + _along(d, variable.rank)
            text += f" + {along}" if stride == "1" else f" + {along} * {stride}"
        return cst.parse_expression(text)

    def _mask(self, variable, given):
        terms = []
        for d in self.checked(given.get("boundary_check"), variable.rank):
            place, along = self.text(variable, str(d)), _along(d, variable.rank)
            if not variable.facts[d]:
                terms.append(f"({place} >= 0){along}")
            terms.append(f"({place} < {self.text(variable, f'shape_{d}')}){along}")
        if len(terms) == 1 and variable.rank == 1:
            terms = [terms[0][1:-1]]
        return [keyword("mask", " & ".join(terms))] if terms else []

    def element(self, variable):
        return f"{self.text(variable, 'base')}.dtype.element_ty"


def _along(d, rank):
    """The subscript that makes a tensor of one dimension dimension `d` of `rank`."""
    return "" if rank == 1 else "[" + ", ".join(":" if k == d else "None" for k in range(rank)) + "]"
