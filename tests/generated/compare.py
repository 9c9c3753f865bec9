"""A generated kernel on the engine, in several forms and with several thread counts, against its meaning in numpy."""

import numpy as np

from grammar import kernel
from printer import table, text
from values import from_memory

THREADS = [1, 2, 16]
RANGES = [0, 2, 0]  # with two threads, ranges are long enough to be swept
# How many of the ranges, splats and constants are loaded from memory.
FORMS = {"symbolic": 0.0, "mixed": 0.5, "dense": 1.0}


def request(made, form):
    memories = [(m.name[1:], m.element, made.contents[m.name]) for m in made.memories] + [("iota", "i32", table())]
    arguments = [{"name": name, "element": element, "shape": [len(array)], "strides": [1], "offset": 0, "storage": k}
                 for k, (name, element, array) in enumerate(memories)]
    for value, number in made.scalars:
        raw = np.float32(number).view(np.uint32) if value.type.element == "f32" else np.int64(number).view(np.uint64)
        arguments.append({"name": value.name[1:], "element": value.type.element, "bits": int(raw)})
    return ({"text": text(made, FORMS[form], made.seed), "grid": list(made.grid), "threads": THREADS, "ranges": RANGES, "arguments": arguments},
            [array.tobytes() for _, _, array in memories])


def alike(element, got, expected):
    """Equal bits; any NaN is any other."""
    if got == expected:
        return True
    if element in ("i8", "i16", "i32", "i64"):
        return False
    from values import FLOATS, NARROW
    dtype = FLOATS.get(element) or NARROW[element][1]
    a, b = (from_memory(element, np.frombuffer(raw, dtype)) for raw in (got, expected))
    signs = np.signbit(a) == np.signbit(b)
    return bool((((a == b) & signs) | (np.isnan(a) & np.isnan(b))).all())


def disagreement(seed, launcher, approximate=False, swept=None):
    """None, or what is different. `swept`: a Counter, by (threads, "programs", "trips" or "accesses")."""
    made = kernel(seed, approximate)
    first = None
    for form in FORMS:
        asked, storages = request(made, form)
        for run, after in launcher.run(asked, storages):
            where = f"seed {seed}{' approximate' * approximate}, {form}, {run['threads']} threads"
            if swept is not None:
                swept.update({(run["threads"], what): count for what, count in run["swept"].items()})
            if run["unknowns"] or run["findings"]:
                return "\n".join([f"{where}:", *run["unknowns"], *run["messages"]])
            if first is None:
                first = after
                if not approximate:
                    expected = made.evaluate()
                    for memory, got in zip(made.memories, after):
                        if not alike(memory.element, got, expected[memory.name].tobytes()):
                            return f"{where}: {memory.name} ({memory.element}) is not what numpy has"
            for memory, got, other in zip(made.memories, after, first):
                if got != other:
                    return f"{where}: {memory.name} ({memory.element}) differs from that of the symbolic form with 1 thread"
    return None
