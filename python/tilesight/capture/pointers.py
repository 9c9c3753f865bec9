"""Tensors whose addresses the program stores in other tensors.

`ts.data_ptr(array)` gives an array's address and remembers the array, as long as it lives; torch's
`tensor.data_ptr()` does the same once Tilesight is active. Launches that could load such an address
(they have a tensor or a scalar of 64-bit integers) get its memory.
"""

import functools

import threading
import weakref

from . import storage

_known = {}  # (base, bytes) -> weak reference to what owns the memory
_lock = threading.Lock()
_PLAIN = ("cpu", "cuda", "hip")  # devices of torch whose tensors have addresses
launching = threading.local()  # .now: a launch is being made, addresses are not for the program


def data_ptr(array):
    """The address of the array's first element, to be stored in a tensor of pointers."""
    memory = storage.of(array)
    remember(array, memory.base, memory.nbytes)
    return memory.address


def watch_torch(torch):
    """Makes the program's own `tensor.data_ptr()` calls known."""
    plain = torch.Tensor.data_ptr
    if getattr(plain, "_tilesight", False):
        return

    @functools.wraps(plain)
    def data_ptr(self):
        address = plain(self)
        if not getattr(launching, "now", False) and self.untyped_storage().device.type in _PLAIN:
            allocation = self.untyped_storage()
            remember(self, allocation.data_ptr(), allocation.nbytes())
        return address

    data_ptr._tilesight = True
    torch.Tensor.data_ptr = data_ptr


def _below(view):
    """What a view of numpy or torch is a view of, if it is one."""
    below = getattr(view, "_base", None) if hasattr(view, "untyped_storage") else getattr(view, "base", None)
    return below if isinstance(below, type(view)) or isinstance(view, type(below)) else None


def remember(array, base, nbytes, for_good=True):
    """Launches that could load an address get these bytes too, as long as `array` or what it is a view
    of lives. `for_good`: what cannot be referred to weakly is kept; else it is left out."""
    key = (base, nbytes)
    owner = array
    while (below := _below(owner)) is not None:
        owner = below  # the view may go, its storage stays
    try:
        reference = weakref.ref(owner, lambda _: _known.pop(key, None))
    except TypeError:  # it cannot be referred to weakly
        if not for_good:
            return
        reference = lambda: owner  # noqa: E731
    with _lock:
        _known[key] = reference


def remembered(described):
    """[(base, bytes, owner)] of the living, if one of the arguments can hold an address."""
    if not _known or not any(_holds_addresses(row) for row in described):
        return ()
    with _lock:
        alive = [(*key, reference()) for key, reference in _known.items()]
    return [entry for entry in alive if entry[2] is not None]


def owners_around(address):
    """What was remembered, lives, and has the address in its memory."""
    with _lock:
        owners = [reference() for (base, nbytes), reference in _known.items() if base <= address < base + nbytes]
    return [owner for owner in owners if owner is not None]


def _holds_addresses(row):
    # Rows of tensors, scalars and descriptors have their element type in the third place.
    return len(row) > 3 and row[2] == "i64"
