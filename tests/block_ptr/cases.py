"""Blocks to read and to write: by hand, and at random."""

import dataclasses
import random
import zlib

import numpy as np

from reference import Block


@dataclasses.dataclass
class Case:
    """Reads (or writes) `steps` blocks of extents `block`, the first at `offsets`, the next each `step` further, of a
    tensor of `shape`, laid out with the dimensions in the order `layout` (the last one is contiguous, unless `spread`
    is more than 1), each row of which begins at a multiple of `align` elements. Around the tensor lies memory of its
    own: what no boundary check guards is read there."""

    shape: tuple
    block: tuple
    offsets: tuple
    step: tuple
    steps: int = 2
    check: tuple = ()
    padding: str = ""
    layout: tuple = None
    spread: int = 1
    align: int = 1
    dtype: str = "float32"

    def __post_init__(self):
        self.layout = tuple(range(len(self.shape))) if self.layout is None else self.layout
        ends = [offset + (self.steps - 1) * delta for offset, delta in zip(self.offsets, self.step)]
        self.first = [min(0, a, b) for a, b in zip(self.offsets, ends)]
        last = [max(extent, a + b, c + b) for extent, a, c, b in zip(self.shape, self.offsets, ends, self.block)]
        row = self.layout[-1]
        self.first[row] -= self.first[row] % self.align
        last[row] += -last[row] % self.align
        stride, strides = self.spread, [0] * len(self.shape)
        for d in reversed(self.layout):
            strides[d] = stride
            stride *= last[d] - self.first[d]
        self.strides, self.size = tuple(strides), stride
        self.origin = -sum(f * s for f, s in zip(self.first, strides))
        self.n = int(np.prod(self.block))

    def refused(self, flavour, release):
        """Why Triton does not compile it with block pointers of its own, or None."""
        if flavour == "triton" and release == (3, 8) and self.padding and not self.check:
            return "Triton 3.8 refuses a padding where nothing is checked"
        return None

    @property
    def places(self):
        """Where each block begins."""
        return [tuple(o + k * s for o, s in zip(self.offsets, self.step)) for k in range(self.steps)]

    @property
    def suits_descriptors(self):
        """Does everything hold that a caller promises who asks for descriptors, and only reads?"""
        item = np.dtype(self.dtype).itemsize
        others = [stride for d, stride in enumerate(self.strides) if d != self.order[0]]
        row = self.order[0]
        chunks = all(place[row] * item % 16 == 0 for place in self.places)
        return (chunks and self.strides[row] == 1 and all(stride * item % 16 == 0 for stride in others)
                and self.origin * item % 16 == 0 and min(self.shape) > 0)

    @property
    def suits_descriptor_stores(self):
        """And who writes?"""
        row = self.shape[self.order[0]] * np.dtype(self.dtype).itemsize
        return self.suits_descriptors and row % 16 == 0 and min(map(min, self.places)) >= 0

    @property
    def order(self):
        return tuple(reversed(self.layout))

    def numbers(self, count):
        """Whatever type: numbers that differ from their neighbours, and are no padding."""
        values = np.random.default_rng(zlib.crc32(repr(self).encode())).integers(1, 100, count)
        return values > 50 if self.dtype == "bool" else values.astype(self.dtype)

    def arguments(self):
        """What `read` and `write` take, with arrays of their own."""
        return {"origin": self.origin, "shape": self.shape, "strides": self.strides, "offsets": self.offsets,
                "step": self.step, "STEPS": self.steps, "N": self.n, "BLOCK": self.block, "ORDER": self.order,
                "CHECK": self.check}

    def read(self, run):
        """(values, what they should be, which of them are defined). run(kernel's name, arguments)."""
        x, y = self.numbers(self.size), np.zeros(self.steps * self.n, self.dtype)
        run("read", {"x": x, "y": y, **self.arguments(), "PAD": self.padding})
        block = Block(x, self.origin, self.shape, self.strides, self.offsets, self.block)
        expected = []
        for _ in range(self.steps):
            expected.append(block.load(self.check, self.padding))
            block.advance(self.step)
        values, defined = (np.stack(each).reshape(-1) for each in zip(*expected))
        return y, values, defined

    def write(self, run):
        """(memory, what it should be)"""
        x, y = self.numbers(self.size), self.numbers(self.steps * self.n)[::-1].copy()
        expected = x.copy()
        block = Block(expected, self.origin, self.shape, self.strides, self.offsets, self.block)
        for k in range(self.steps):
            block.store(y[k * self.n:(k + 1) * self.n].reshape(self.block), self.check)
            block.advance(self.step)
        run("write", {"x": x, "y": y, **self.arguments()})
        return x, expected


BY_HAND = {
    "one_dimension": Case((20,), (16,), (8,), (4,), check=(0,), padding="zero"),
    "in_front_of_the_first": Case((20,), (16,), (-5,), (3,), check=(0,), padding="zero"),
    "behind_the_last": Case((20,), (8,), (24,), (8,), check=(0,), padding="zero"),
    "no_check_at_all": Case((20,), (16,), (-5,), (30,)),
    "tail_of_two": Case((10, 21), (8, 16), (4, 8), (2, 4), check=(0, 1), padding="zero"),
    "only_rows": Case((10, 21), (8, 16), (4, 8), (2, 4), check=(0,), padding="zero"),
    "only_columns": Case((10, 21), (8, 16), (4, 8), (2, 4), check=(1,), padding="zero"),
    "columns_then_rows": Case((10, 21), (8, 16), (4, 8), (2, 4), check=(1, 0), padding="zero"),
    "no_padding": Case((10, 21), (8, 16), (4, 8), (2, 4), check=(0, 1)),
    "nan": Case((10, 21), (8, 16), (4, 8), (2, 4), check=(0, 1), padding="nan"),
    "nan_of_half": Case((10, 21), (8, 16), (4, 8), (2, 4), check=(0, 1), padding="nan", dtype="float16"),
    "column_major": Case((21, 10), (16, 8), (8, 4), (4, 2), check=(0, 1), padding="zero", layout=(1, 0)),
    "column_major_unchecked": Case((21, 10), (16, 8), (8, 4), (4, 2), layout=(1, 0)),
    "no_dimension_is_contiguous": Case((6, 9), (4, 8), (3, -2), (1, 5), check=(0, 1), padding="zero", spread=3),
    "backwards": Case((20, 12), (8, 8), (16, 4), (-9, -5), 3, check=(0, 1), padding="zero"),
    "three": Case((3, 10, 9), (2, 8, 4), (1, 4, 6), (1, 0, -4), check=(0, 1, 2), padding="zero"),
    "three_middle_contiguous": Case((3, 10, 9), (2, 8, 4), (1, 4, 6), (1, 0, -4), check=(0, 2), padding="nan",
                                    layout=(2, 0, 1)),
    "four": Case((2, 3, 5, 6), (2, 2, 4, 4), (1, -1, 3, 4), (0, 1, 0, 1), check=(0, 1, 2, 3), padding="zero"),
    "five": Case((2, 2, 3, 3, 5), (1, 2, 2, 2, 4), (1, 1, -1, 2, 3), (0, 0, 1, 0, 1), check=(0, 1, 2, 3, 4),
                 padding="zero"),
    "five_some": Case((2, 2, 3, 3, 5), (1, 2, 2, 2, 4), (1, 1, -1, 2, 3), (0, 0, 1, 0, 1), check=(1, 3),
                      padding="zero", layout=(4, 2, 0, 1, 3)),
    "whole_chunks": Case((10, 20), (8, 16), (4, 8), (2, 4), check=(0, 1), padding="zero", align=4),
    "whole_chunks_of_half": Case((10, 24), (8, 16), (-4, 8), (2, -16), check=(0, 1), padding="zero", align=8,
                                 dtype="float16"),
    "whole_chunks_column_major": Case((20, 10), (16, 8), (8, 4), (4, 2), check=(0, 1), layout=(1, 0), align=4),
    "all_outside": Case((10, 20), (8, 16), (10, 0), (-20, 20), 3, check=(0, 1), padding="zero", align=4),
    "extent_one": Case((1, 1), (1, 16), (0, 0), (0, 1), check=(0, 1), padding="zero"),
    "empty_tensor": Case((0, 5), (4, 8), (0, 0), (0, 2), check=(0, 1), padding="zero"),
    **{f"of_{dtype}": Case((10, 21), (8, 16), (4, 8), (2, 4), check=(0, 1), padding="zero", dtype=dtype)
       for dtype in ("int8", "uint8", "int16", "int32", "int64", "uint64", "float16", "float64", "bool")},
}


def at_random(seed):
    choose = random.Random(seed)
    rank = choose.randint(1, 5)
    block = [1 << choose.randint(0, 4 if rank < 3 else 2) for _ in range(rank)]
    block[choose.randrange(rank)] *= 2
    shape = tuple(choose.randint(0 if choose.random() < 0.1 else 1, 2 * extent + 2) for extent in block)
    dtype = choose.choice(["float32", "float16", "float64", "int8", "int16", "int32", "int64"])
    return Case(shape, tuple(block),
                tuple(choose.randint(-extent - 1, 2 * extent) for extent in block),
                tuple(choose.randint(-extent, extent) for extent in block),
                choose.randint(1, 3),
                tuple(d for d in choose.sample(range(rank), rank) if choose.random() < 0.7),
                choose.choice(["", "zero", "nan"] if dtype.startswith("float") else ["", "zero"]),
                tuple(choose.sample(range(rank), rank)),
                *choose.choice([(1, 16), (1, 16), (1, 1), (3, 1)]),
                dtype)
