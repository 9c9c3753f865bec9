"""The launch grid as the user wrote it: a tuple, an int, or a function of the bound arguments."""

import operator

from ..errors import Error


def resolve(grid, bound, original):
    """(x, y, z). `bound` maps parameter names to adapted values, `original` undoes the adapting."""
    if callable(grid):
        grid = grid({name: original(value) for name, value in bound.items()})
    try:
        sizes = (operator.index(grid),)
    except TypeError:
        # What is past the third axis does not count for Triton either.
        sizes = tuple(operator.index(size) for size in tuple(grid)[:3])
    if not sizes:
        raise ValueError("the launch grid is empty: it needs one to three sizes")
    for axis, size in zip("xyz", sizes):
        if not -(1 << 63) <= size < 1 << 63:
            raise Error(f"grid.{axis} is {size}, which does not fit in 64 bits")
    return sizes + (1,) * (3 - len(sizes))
