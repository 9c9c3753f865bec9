"""What a repeated launch costs outside the engine."""

from context import checked
from results import duration, goal

TITLE = "A repeated launch"


def measure(context):
    return checked(context.child("measure", "tilesight", "overhead"))


def text(numbers):
    seconds = numbers["seconds"]
    return (f"A repeated launch of a known kernel costs {duration(seconds)} outside the engine, the median of "
            f"{numbers['rounds']} (goal: {goal('at most 0.2 ms', seconds <= 0.2e-3)}).")
