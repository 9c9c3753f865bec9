"""The memory a launch may touch, byte by byte.

Every argument gets a window of virtual addresses of its own, 32 PiB wide, with the argument's first
element in the middle: an address that runs away from an argument by less than 16 PiB is still known to
come from it. Two arguments that share an allocation have two windows over the same bytes. The low 12
bits of an address are those of the real one, so that alignment is the real one.
"""

import ctypes
from dataclasses import dataclass

import numpy as np

WINDOW_BITS = 55
WINDOW = 1 << WINDOW_BITS
NULL_BYTES = 4096
LARGEST_BYTE_MAP = 1 << 28

OUT_OF_BOUNDS = "out-of-bounds"
OUT_OF_VIEW = "out-of-view"
NULL_POINTER = "null-pointer"
FOREIGN_POINTER = "foreign-pointer"
MISALIGNED = "misaligned"


def allocation_of(array):
    """First and one-past-last real address of the allocation that `array` is a view of."""
    root = array
    while getattr(root, "base", None) is not None:
        root = root.base
    if not isinstance(root, np.ndarray):  # bytes, bytearray, mmap, memoryview
        root = np.frombuffer(root, dtype=np.uint8)
    first = root.ctypes.data
    low = high = 0
    for size, stride in zip(root.shape, root.strides):
        if size == 0:
            return first, first
        low += min(0, stride * (size - 1))
        high += max(0, stride * (size - 1))
    return first + low, first + high + root.itemsize


@dataclass
class View:
    """A tensor argument: a lattice of elements in an allocation. Addresses and strides in bytes."""

    name: str
    array: np.ndarray  # keeps the memory alive
    address: int  # real address of element [0, .., 0]
    low: int  # of the allocation
    high: int
    virtual: int  # address of element [0, .., 0] in the window
    bytes_inside: np.ndarray | None  # one flag for each byte of the allocation; None if all are inside

    @property
    def itemsize(self):
        return self.array.itemsize


def lattice_flags(array, address, low, high):
    """Which bytes of the allocation belong to an element of the view; None when all of them do."""
    if high - low == array.nbytes and array.flags.forc:
        return None
    if high - low > LARGEST_BYTE_MAP:
        raise ValueError("the oracle holds one flag a byte: give it a smaller strided view")
    flags = np.zeros(high - low, dtype=bool)
    offsets = np.zeros(1, dtype=np.int64)
    for size, stride in zip(array.shape, array.strides):
        offsets = (offsets[:, None] + np.arange(size, dtype=np.int64) * stride).reshape(-1)
    for byte in range(array.itemsize):
        flags[offsets + (address - low) + byte] = True
    return flags


@dataclass
class Resolved:
    """What became of the elements of one tile of addresses (all arrays flat)."""

    owner: np.ndarray  # index of the view, -1 if none
    offset: np.ndarray  # bytes from the view's first element
    reachable: np.ndarray  # active, and inside the allocation
    kinds: dict  # kind -> flags


class Memory:
    def __init__(self):
        self.views = []

    def add(self, name, array):
        """Makes `array` known and returns the virtual address of its first element."""
        address = array.ctypes.data
        low, high = allocation_of(array)
        flags = lattice_flags(array, address, low, high) if array.size else np.zeros(high - low, bool)
        virtual = (len(self.views) + 1) * WINDOW + address % 4096
        self.views.append(View(name, array, address, low, high, virtual, flags))
        return virtual

    def to_virtual(self, real):
        """Real addresses (pointers that the user keeps in a tensor) as virtual ones: the argument that
        holds the address, else one whose allocation does. Others stay: they are null or foreign."""
        flat = real.astype(np.uint64).reshape(-1)
        result = flat.copy()
        done = np.zeros(flat.shape, dtype=bool)
        for inside_view in (True, False):
            for view in self.views:
                hit = (flat >= view.low) & (flat < view.high) & ~done
                if inside_view and view.bytes_inside is not None:
                    at = np.flatnonzero(hit)
                    hit[at] = view.bytes_inside[(flat[at] - np.uint64(view.low)).astype(np.int64)]
                moved = flat[hit].astype(np.int64) - view.address + view.virtual
                result[hit] = moved.astype(np.uint64)
                done |= hit
        return result.reshape(real.shape)

    def to_real(self, virtual):
        flat = virtual.astype(np.int64).reshape(-1)
        owner = self._owner(flat)
        result = flat.copy()
        for k, view in enumerate(self.views):
            mine = owner == k
            result[mine] = flat[mine] - view.virtual + view.address
        return result.reshape(virtual.shape)

    def _owner(self, flat):
        window = ((flat + WINDOW // 2) >> WINDOW_BITS) - 1
        return np.where((window >= 0) & (window < len(self.views)), window, -1)

    def resolve(self, addresses, active, width, reads):
        """Judges `width` bytes at each active address. Reads of a view that repeats its elements may go anywhere
        in the allocation: the program steps over it by strides of its own."""
        flat = addresses.astype(np.uint64).view(np.int64).reshape(-1)
        active = active.reshape(-1)
        owner = self._owner(flat)
        offset = np.zeros(flat.shape, dtype=np.int64)
        reachable = np.zeros(flat.shape, dtype=bool)
        kinds = {}

        def mark(kind, flags):
            if flags.any():
                kinds[kind] = kinds.get(kind, np.zeros(flat.shape, dtype=bool)) | flags

        null = active & (owner < 0) & (np.abs(flat) < NULL_BYTES)
        mark(NULL_POINTER, null)
        mark(FOREIGN_POINTER, active & (owner < 0) & ~null)
        mark(MISALIGNED, active & (owner >= 0) & (flat % width != 0))
        for k in np.unique(owner[active & (owner >= 0)]):
            view = self.views[k]
            mine = owner == k
            offset[mine] = flat[mine] - view.virtual
            start = offset + (view.address - view.low)  # from the allocation's first byte
            mine &= active
            inside = mine & (start >= 0) & (start + width <= view.high - view.low)
            mark(OUT_OF_BOUNDS, mine & ~inside)
            reachable |= inside
            repeats = any(n > 1 and stride == 0 for n, stride in zip(view.array.shape, view.array.strides))
            if view.bytes_inside is not None and not (reads and repeats):
                at = np.flatnonzero(inside)
                whole = np.ones(at.shape, dtype=bool)
                for byte in range(width):
                    whole &= view.bytes_inside[start[at] + byte]
                outside = np.zeros(flat.shape, dtype=bool)
                outside[at[~whole]] = True
                mark(OUT_OF_VIEW, outside)
        return Resolved(owner, offset, reachable, kinds)

    def bytes_past(self, view, offset, width):
        """How far the access ends past the allocation's end (positive) or begins before its start
        (negative); 0 if inside."""
        start = view.address + offset
        if start < view.low:
            return start - view.low
        return max(0, start + width - view.high)

    def index(self, view, offset):
        """The tensor index of a byte offset where it is plain: one axis, or an element of the view."""
        array = view.array
        if array.ndim == 1 and array.strides[0] and offset % array.strides[0] == 0:
            return [offset // array.strides[0]]
        return None

    def _bytes(self, view):
        size = view.high - view.low
        return np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(view.low))

    def read(self, resolved, dtype):
        """One element of `dtype` for each address, 0 where nothing may be read."""
        width = np.dtype(dtype).itemsize
        out = np.zeros((len(resolved.owner), width), dtype=np.uint8)
        for k in np.unique(resolved.owner[resolved.reachable]):
            view = self.views[k]
            at = np.flatnonzero(resolved.reachable & (resolved.owner == k))
            start = resolved.offset[at] + (view.address - view.low)
            out[at] = self._bytes(view)[start[:, None] + np.arange(width)]
        return out.view(dtype).reshape(-1)

    def write(self, resolved, values):
        """Stores one value an address, the last one winning; what is outside is dropped."""
        width = values.dtype.itemsize
        raw = np.ascontiguousarray(values).reshape(-1).view(np.uint8).reshape(-1, width)
        for k in np.unique(resolved.owner[resolved.reachable]):
            view = self.views[k]
            at = np.flatnonzero(resolved.reachable & (resolved.owner == k))
            start = resolved.offset[at] + (view.address - view.low)
            self._bytes(view)[start[:, None] + np.arange(width)] = raw[at]
