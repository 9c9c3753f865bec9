"""What replaces the interpreter's own operations.

Memory: loads, stores and atomics go through `Memory.resolve`. A load outside gives 0, a store outside
is dropped, an access outside the view but inside the allocation takes effect.

Integers, where numpy differs from what the compiled kernel does:
- the offset of `addptr` is signed, whatever the signedness of the tensor it came from;
- division and remainder truncate, by integer arithmetic only, and by zero give 0 (and an event);
- a logical right shift of a signed value shifts in zeros;
- `umulhi` multiplies bit patterns as unsigned numbers (releases before 3.9 do not);
- loop variables are int32 (or int64) tiles, not Python integers that never wrap;
- a histogram counts values without a bin nowhere (and an event).

Floats: float32 to bfloat16 rounds to nearest even, where the interpreter cuts off.
"""

import numpy as np

SIGNED = {np.dtype(f"u{n}"): np.dtype(n) for n in ("int8", "int16", "int32", "int64")}
UNSIGNED = {v: k for k, v in SIGNED.items()}


def element_of(flags, shape):
    """Index in the tile of the first flagged element; [] for a scalar."""
    flat = int(np.flatnonzero(flags)[0])
    if shape in ((), (1,)):
        return []
    return [int(i) for i in np.unravel_index(flat, shape)]


class Hooks:
    def __init__(self, interp, tl, memory, faults):
        self.interp, self.tl, self.memory, self.faults = interp, tl, memory, faults

    def install(self, builder):
        self.builder = builder
        for name in dir(self):
            if name.startswith("create_"):
                setattr(builder, name, getattr(self, name))

    def handle(self, data, dtype):
        return self.interp.TensorHandle(data, dtype)

    def _access(self, op, ptrs, mask, width):
        addresses = ptrs.data
        active = np.ones(addresses.shape, dtype=bool)
        if mask is not None:
            active = np.broadcast_to(np.asarray(mask.data, dtype=bool), addresses.shape)
        resolved = self.memory.resolve(addresses, active, width, reads=op == "load")
        for kind, flags in resolved.kinds.items():
            for k in np.unique(resolved.owner[flags]):
                mine = flags & (resolved.owner == k)
                view = self.memory.views[k] if k >= 0 else None
                self._report(kind, op, view, mine, resolved.offset, addresses.shape, width)
        return resolved

    def _report(self, kind, op, view, flags, offsets, shape, width):
        where = np.flatnonzero(flags)
        details = {"width": width}
        most = 0
        if view is not None:
            past = [self.memory.bytes_past(view, int(offsets[i]), width) for i in where]
            most = max(past, key=abs)
            first = int(offsets[where[0]])
            details.update(byte_offset=first, bytes_past=past[0], index=self.memory.index(view, first))
        fault = self.faults.record(kind, op, view.name if view else None,
                                   element_of(flags, shape), len(where), **details)
        fault.most_past = max(fault.most_past, most, key=abs)

    # -- memory -----------------------------------------------------------------------------------

    def create_masked_load(self, ptrs, mask, other, *_, **__):
        element = ptrs.get_element_ty()
        dtype = self.interp._get_np_dtype(element)
        resolved = self._access("load", ptrs, mask, dtype.itemsize)
        data = self.memory.read(resolved, dtype).reshape(ptrs.data.shape)
        if other is not None:
            active = np.broadcast_to(np.asarray(mask.data, dtype=bool), data.shape)
            data = np.where(active, data, np.broadcast_to(other.data, data.shape)).astype(dtype)
        return self.handle(data, element)

    def create_masked_store(self, ptrs, value, mask, *_, **__):
        dtype = self.interp._get_np_dtype(ptrs.get_element_ty())
        resolved = self._access("store", ptrs, mask, dtype.itemsize)
        data = np.broadcast_to(value.data, ptrs.data.shape)
        if data.dtype.itemsize != dtype.itemsize:
            data = data.astype(dtype)
        self.memory.write(resolved, data)

    def _each(self, resolved, dtype, update):
        """Reads, updates and writes one element after the other; returns the old values."""
        old = np.zeros(len(resolved.owner), dtype=dtype)
        for i in np.flatnonzero(resolved.reachable):
            one = type(resolved)(resolved.owner[i:i + 1], resolved.offset[i:i + 1],
                                 resolved.reachable[i:i + 1], {})
            old[i] = self.memory.read(one, dtype)[0]
            self.memory.write(one, np.array([update(i, old[i])], dtype=dtype))
        return old

    def create_atomic_rmw(self, kind, ptr, val, mask, *_):
        name = str(kind).rsplit(".", 1)[-1].lower()
        dtype = self.interp._get_np_dtype(ptr.get_element_ty())
        resolved = self._access("atomic_" + name.removeprefix("f").removeprefix("u"), ptr, mask,
                                dtype.itemsize)
        values = np.broadcast_to(val.data, ptr.data.shape).reshape(-1).view(dtype)
        unsigned = UNSIGNED.get(dtype, dtype)
        operations = {
            "add": lambda a, b: a + b, "fadd": lambda a, b: a + b,
            "and": lambda a, b: a & b, "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b,
            "xchg": lambda a, b: b, "max": max, "min": min,
            "umax": lambda a, b: max(a.view(unsigned), b.view(unsigned)).view(dtype),
            "umin": lambda a, b: min(a.view(unsigned), b.view(unsigned)).view(dtype),
        }
        with np.errstate(over="ignore"):
            old = self._each(resolved, dtype, lambda i, a: operations[name](a, values[i]))
        return self.handle(old.reshape(ptr.data.shape), val.dtype.scalar)

    def create_atomic_cas(self, ptr, cmp, val, *_):
        dtype = self.interp._get_np_dtype(ptr.get_element_ty())
        resolved = self._access("atomic_cas", ptr, None, dtype.itemsize)
        expected = np.broadcast_to(cmp.data, ptr.data.shape).reshape(-1)
        values = np.broadcast_to(val.data, ptr.data.shape).reshape(-1)
        old = self._each(resolved, dtype, lambda i, a: values[i] if a == expected[i] else a)
        return self.handle(old.reshape(ptr.data.shape), cmp.dtype.scalar)

    # -- pointers ---------------------------------------------------------------------------------

    def create_addptr(self, ptr, offset):
        size = max(1, ptr.get_element_ty().primitive_bitwidth // 8)
        data = offset.data
        data = data.astype(SIGNED.get(data.dtype, data.dtype)).astype(np.int64)
        return self.handle(ptr.data + np.int64(size).astype(np.uint64) * data.astype(np.uint64), ptr.dtype)

    def create_int_to_ptr(self, src, dst):
        return self.handle(self.memory.to_virtual(src.data), dst.scalar)

    def create_ptr_to_int(self, src, dst):
        real = self.memory.to_real(src.data)
        return self.handle(real.astype(self.interp._get_np_dtype(dst)), dst.scalar)

    # -- integers ---------------------------------------------------------------------------------

    def _divide(self, op, lhs, rhs):
        a, b = np.broadcast_arrays(lhs.data, rhs.data)
        zero = b == 0
        if zero.any():
            self.faults.record("division-by-zero", op, None, element_of(zero.reshape(-1), a.shape),
                               zero.sum(), event=True)
        b = np.where(zero, b.dtype.type(1), b)
        with np.errstate(over="ignore"):
            quotient = a // b
            rest = a - quotient * b
            up = (rest != 0) & ((rest < 0) != (a < 0))  # floor went one too far down
            quotient = np.where(up, quotient + b.dtype.type(1), quotient)
            rest = a - quotient * b
        keep = lambda x: self.handle(np.where(zero, a.dtype.type(0), x).astype(a.dtype), lhs.dtype.scalar)
        return keep(quotient), keep(rest)

    def create_sdiv(self, lhs, rhs):
        return self._divide("div", lhs, rhs)[0]

    create_udiv = create_idiv = create_sdiv

    def create_srem(self, lhs, rhs):
        return self._divide("rem", lhs, rhs)[1]

    create_urem = create_srem

    def _shift(self, op, lhs, rhs, function):
        a, b = np.broadcast_arrays(lhs.data, rhs.data)
        bits = a.dtype.itemsize * 8
        wild = (b < 0) | (b >= bits)
        if wild.any():
            self.faults.record("invalid-shift", op, None, element_of(wild.reshape(-1), a.shape),
                               wild.sum(), event=True)
        shifted = function(a, np.where(wild, b.dtype.type(0), b))
        return self.handle(np.where(wild, a.dtype.type(0), shifted).astype(a.dtype), lhs.dtype.scalar)

    def create_shl(self, lhs, rhs):
        return self._shift("shl", lhs, rhs, np.left_shift)

    def create_lshr(self, lhs, rhs):
        def logical(a, b):
            unsigned = UNSIGNED.get(a.dtype, a.dtype)
            return np.right_shift(a.astype(unsigned), b.astype(unsigned)).astype(a.dtype)
        return self._shift("lshr", lhs, rhs, logical)

    def create_ashr(self, lhs, rhs):
        def arithmetic(a, b):
            signed = SIGNED.get(a.dtype, a.dtype)
            return np.right_shift(a.astype(signed), b.astype(signed)).astype(a.dtype)
        return self._shift("ashr", lhs, rhs, arithmetic)

    def create_umulhi(self, lhs, rhs):
        a, b = np.broadcast_arrays(lhs.data, rhs.data)
        bits = a.dtype.itemsize * 8
        unsigned = UNSIGNED.get(a.dtype, a.dtype)
        wide = [(int(p) * int(q)) >> bits for p, q in zip(a.astype(unsigned).flat, b.astype(unsigned).flat)]
        return self.handle(np.array(wide, dtype=unsigned).view(a.dtype).reshape(a.shape), lhs.dtype.scalar)

    # -- bins ------------------------------------------------------------------------------------

    def create_histogram(self, data, bins, mask):
        """A value without a bin counts nowhere, and is an event."""
        values = data.data.reshape(-1).astype(np.int64)
        active = np.ones(values.shape, bool) if mask is None else np.broadcast_to(mask.data, data.data.shape).reshape(-1)
        wild = active & ((values < 0) | (values >= bins))
        if wild.any():
            self.faults.record("invalid-index", "histogram", None, element_of(wild, data.data.shape), wild.sum(), event=True)
        counts = np.bincount(values[active & ~wild], minlength=bins).astype(np.int32)
        return self.handle(counts, self.tl.int32)

    # -- floats -----------------------------------------------------------------------------------

    def create_fp_trunc(self, src, dst):
        if src.dtype.scalar != self.tl.float32 or dst.scalar != self.tl.bfloat16:
            return type(self.builder).cast_impl(self.builder, src, dst)
        bits = np.ascontiguousarray(src.data).view(np.uint32)
        rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
        rounded = np.where(np.isnan(src.data), 0x7FC0, rounded)
        return self.handle(rounded.astype(np.uint16).reshape(src.data.shape), dst.scalar)

    # -- asserts ----------------------------------------------------------------------------------

    def create_assert(self, condition, message, *_):
        failed = ~np.asarray(condition.data, dtype=bool)
        if failed.any():
            self.faults.record("assert-failed", "assert", None,
                               element_of(failed.reshape(-1), failed.shape), failed.sum())

    def create_assume(self, condition):
        pass
