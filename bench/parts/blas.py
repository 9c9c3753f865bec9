"""A product of matrices against OpenBLAS's sgemm of the same shape.

OpenBLAS's threads wait for each other at work, so other programs on the machine can make them slower than one thread by
far. Such a run gives no ratio.
"""

from context import checked
from results import duration, goal

TITLE = "Against OpenBLAS"


def measure(context):
    one, two = context.child("blas", 1), context.child("blas", 2)
    if "error" in two:
        return two
    return {"one": checked(one), "two": two, "tilesight": checked(context.child("measure", "tilesight", "matmul"))}


def text(numbers):
    if "error" in numbers:
        return f"Not run: {numbers['error']}."
    ours, blas, one = (numbers[side]["seconds"] for side in ("tilesight", "two", "one"))
    if blas > one:
        return f"No ratio: the machine was busy, OpenBLAS took {duration(blas)} on two threads and {duration(one)} on one."
    return (f"The product 512^3 of f16 to f32 takes {duration(ours)}, OpenBLAS's sgemm of that shape {duration(blas)} "
            f"on two threads (kernels for {numbers['two']['core']}): {ours / blas:.1f} times as long "
            f"(goal: {goal('at most 2', ours <= 2 * blas)}).")
