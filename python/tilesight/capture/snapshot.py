"""The contents of a launch's tensors, to be put back after a trial."""

import ctypes

from . import storage
from ..errors import Error


def take(values):
    """The contents of all tensors among `values` (also in tuples and descriptors), each allocation
    once; for `restore`."""
    kept = {}
    _take(values, kept)
    return list(kept.values())


def _take(values, kept):
    for value in values:
        if isinstance(value, (list, tuple)):
            _take(value, kept)
        elif hasattr(value, "block_shape") and hasattr(value, "base"):
            _take([value.base], kept)
        elif hasattr(value, "untyped_storage"):
            allocation = value.untyped_storage()
            kept.setdefault(allocation.data_ptr(), (allocation, allocation.clone()))
        elif any(hasattr(value, name) for name in ("data_ptr", "__array_interface__", "__dlpack__")):
            try:
                memory = storage.of(value)
            except Error:
                continue  # the launch itself will say so
            if memory.stage is None:
                kept.setdefault(memory.base, (memory, ctypes.string_at(memory.base, memory.nbytes)))


def restore(contents):
    """Puts back what `take` kept."""
    for place, content in contents:
        if isinstance(content, bytes):
            ctypes.memmove(place.base, content, len(content))
        else:
            place.copy_(content)
