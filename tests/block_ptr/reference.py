"""Block pointers in numpy, element by element, with the arithmetic of the machine: coordinates of 64 bits."""

import itertools

import numpy as np


class Block:
    """A block at `offsets` of a tensor of `shape` and `strides` (elements) whose first element is memory[origin]."""

    def __init__(self, memory, origin, shape, strides, offsets, block):
        self.memory, self.origin = memory, origin
        self.shape, self.strides, self.offsets, self.block = shape, strides, list(offsets), block

    def advance(self, step):
        self.offsets = [offset + delta for offset, delta in zip(self.offsets, step)]

    def elements(self, checked):
        """(index in the block, index in memory, or None where a checked dimension is outside)"""
        for index in itertools.product(*map(range, self.block)):
            place = [offset + i for offset, i in zip(self.offsets, index)]
            inside = all(0 <= place[d] < self.shape[d] for d in checked)
            yield index, (self.origin + sum(p * s for p, s in zip(place, self.strides)) if inside else None)

    def load(self, checked, padding):
        """(values, defined): what is outside and has no padding is not defined."""
        values = np.zeros(self.block, self.memory.dtype)
        defined = np.ones(self.block, bool)
        for index, place in self.elements(checked):
            if place is not None:
                values[index] = self.memory[place]
            elif padding == "nan":
                values[index] = np.nan
            else:
                defined[index] = padding == "zero"
        return values, defined

    def store(self, values, checked):
        for index, place in self.elements(checked):
            if place is not None:
                self.memory[place] = values[index]
