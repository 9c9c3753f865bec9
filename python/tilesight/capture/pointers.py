"""Tensors whose addresses the program stores in other tensors.

`ts.data_ptr(array)` gives an array's address and remembers the array, as long as it lives. Launches
that could load such an address (they have a tensor or a scalar of 64-bit integers) get its memory.
"""

import threading
import weakref

from . import storage

_known = {}  # (base, bytes) -> weak reference to what owns the memory
_lock = threading.Lock()


def data_ptr(array):
    """The address of the array's first element, to be stored in a tensor of pointers."""
    memory = storage.of(array)
    key = (memory.base, memory.nbytes)
    owner = array
    while getattr(owner, "base", None) is not None and type(owner) is type(array):
        owner = owner.base  # the view may go, its storage stays
    try:
        reference = weakref.ref(owner, lambda _: _known.pop(key, None))
    except TypeError:  # it cannot be referred to weakly: kept for good
        reference = lambda: owner  # noqa: E731
    with _lock:
        _known[key] = reference
    return memory.address


def remembered(described):
    """[(base, bytes, owner)] of the living, if one of the arguments can hold an address."""
    if not _known or not any(_holds_addresses(row) for row in described):
        return ()
    with _lock:
        alive = [(*key, reference()) for key, reference in _known.items()]
    return [entry for entry in alive if entry[2] is not None]


def _holds_addresses(row):
    # Rows of tensors, scalars and descriptors have their element type in the third place.
    return len(row) > 3 and row[2] == "i64"
