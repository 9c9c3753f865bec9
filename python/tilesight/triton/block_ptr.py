"""Block pointers, for Triton 3.6 and every later release, those that have removed them too.

One file that needs nothing but Triton: import it, or copy it into your project.

    import block_ptr as bp           # from tilesight.triton import block_ptr as bp

    @triton.jit
    def kernel(x, M, N, stride, BM: tl.constexpr, BN: tl.constexpr):
        p = bp.make_block_ptr(x, (M, N), (stride, 1), (tl.program_id(0) * BM, 0), (BM, BN), (1, 0))
        for _ in range(0, N, BN):
            tile = bp.load(p, boundary_check=(0, 1), padding_option="zero")
            p = bp.advance(p, (0, BN))

`make_block_ptr`, `advance`, `load` and `store` mean what they mean in Triton 3.7, with what its compiler makes of
them: element i of dimension d is at coordinate offset[d] + i, computed in 64 bits; a dimension in `boundary_check` is
guarded on both sides (0 <= coordinate < shape[d]), any other is not guarded at all; a guarded element outside reads
as `padding_option` ("zero", "nan", or "" for no particular value) and is not written. `order` changes no number.

A block pointer is a value like any other: assign it, carry it through loops, choose it with `if`, pass it to
functions. Without further ado it is pointers and masks. With `descriptor=` it is a tensor descriptor (TMA) where the
rules of descriptors hold; `remarks()` tells which was taken and why.
"""

import os
import sys

import triton
import triton.language as tl


def _helper(function):
    """Marks plain Python for Triton's search for what a kernel depends on: it is called while compiling."""
    function.__triton_builtin__ = True
    return function


@tl.core._aggregate
class BlockPtr:
    """A block of a parent tensor: a value of kernels. `base`: pointer to the parent's first element; `shape` and
    `strides` (elements) of the parent and `offsets` of the block: 64-bit scalars, one a dimension; `block`: extents
    of the block; `descriptor`: a tensor descriptor of the parent with dimensions in the order of `axes`, and what it
    reads outside, `padding`; or None, without axes; `unwritable`: why stores cannot take the descriptor, or "";
    `promised`: does the caller vouch for what constexprs do not show?"""

    base: tl.tensor
    shape: object
    strides: object
    offsets: object
    block: tl.constexpr
    descriptor: object
    axes: tl.constexpr
    padding: tl.constexpr
    unwritable: tl.constexpr
    promised: tl.constexpr

    @_helper
    def __init__(self, base, shape, strides, offsets, block, descriptor, axes, padding, unwritable, promised):
        self.base = base
        self.shape = shape
        self.strides = strides
        self.offsets = offsets
        self.block = tl.constexpr(_list(block))
        self.descriptor = tl.constexpr(None) if descriptor is None else descriptor
        self.axes = tl.constexpr(_list(axes))
        self.padding = tl.constexpr(_plain_value(padding))
        self.unwritable = tl.constexpr(_plain_value(unwritable))
        self.promised = tl.constexpr(bool(_plain_value(promised)))


BlockPtr.dtype = property(lambda self: self.base.dtype)


# --- what kernels call -----------------------------------------------------------------------------------------------


@triton.jit
def make_block_ptr(base, shape, strides, offsets, block_shape: tl.constexpr, order: tl.constexpr,
                   descriptor: tl.constexpr = tl.constexpr("never"), padding_option: tl.constexpr = tl.constexpr("zero")):
    """A block of `block_shape` (constexpr powers of two) at `offsets` of a tensor of `shape` and `strides` (elements)
    at `base`; one to five dimensions.

    `descriptor` says when loads and stores that check every dimension go through a tensor descriptor (TMA):

    - "never": pointers and masks.
    - "strides": loads, where constexpr strides show that the rules hold, and constexpr offsets (and steps of `advance`)
      that every block begins at a multiple of 16 bytes in the contiguous dimension. You promise what no constexpr can
      show: `base` is 16-byte aligned, and every extent is from 1 to 2**31 - 1.
    - "promise": loads and stores, unless constexprs show that a rule is broken; you promise for strides and offsets
      too: the stride of dimension order[0] is 1, the others are multiples of 16 bytes, and so is every offset in
      dimension order[0]; and, where it is written, that no offset is negative and that the extent of the contiguous
      dimension is a multiple of 16 bytes.

    A GPU faults where a block that it reads or writes through a descriptor begins between two chunks of 16 bytes, or
    one that it writes begins at a negative coordinate; and a store writes whole chunks, those too that begin inside
    and end outside. (tests/gpu of Tilesight, on an H200.)

    `padding_option` is the one that a descriptor is made with: loads with the other one ("zero", "nan") take pointers.
    """
    _check_arguments(base, shape, strides, offsets, block_shape, order, descriptor, padding_option)
    elements = _without_bool(base)
    axes: tl.constexpr = _axes(elements.dtype.element_ty, strides, offsets, block_shape, order, descriptor)
    unwritable: tl.constexpr = _unwritable(elements.dtype.element_ty, shape, offsets, axes, descriptor)
    promised: tl.constexpr = descriptor == "promise"
    extents = _extents(shape)
    steps = _as_i64(strides)
    if _count(axes) == 0:
        return BlockPtr(elements, extents, steps, _offsets(offsets), block_shape, None, axes, padding_option,
                        unwritable, promised)
    else:
        made = _descriptor(elements, shape, strides, block_shape, axes, padding_option)
        return BlockPtr(elements, extents, steps, _offsets(offsets), block_shape, made, axes, padding_option,
                        unwritable, promised)


@triton.jit
def advance(ptr, offsets):
    """The block pointer `ptr`, moved by `offsets` (one a dimension)."""
    _check_step(ptr.axes, offsets, ptr.base.dtype.element_ty, ptr.promised)
    moved = _added(ptr.offsets, _offsets(offsets))
    return BlockPtr(ptr.base, ptr.shape, ptr.strides, moved, ptr.block, ptr.descriptor, ptr.axes, ptr.padding,
                    ptr.unwritable, ptr.promised)


@triton.jit
def load(ptr, boundary_check: tl.constexpr = tl.constexpr(()), padding_option: tl.constexpr = tl.constexpr(""), cache_modifier: tl.constexpr = tl.constexpr(""),
         eviction_policy: tl.constexpr = tl.constexpr(""), volatile: tl.constexpr = tl.constexpr(False)):
    """The block at `ptr`; dimensions in `boundary_check` are guarded, and read as `padding_option` outside."""
    checked: tl.constexpr = _checked(boundary_check, _count(ptr.block))
    by_descriptor: tl.constexpr = _load_by_descriptor(ptr.axes, checked, padding_option, ptr.padding,
                                                      ptr.base.dtype.element_ty, cache_modifier, volatile)
    if by_descriptor:
        tile = tl.load_tensor_descriptor(ptr.descriptor, _places(ptr))
        return _permuted(tile, _inverse(ptr.axes))
    else:
        pointers = _pointers(ptr)
        if _count(checked) == 0:
            return tl.load(pointers, cache_modifier=cache_modifier, eviction_policy=eviction_policy, volatile=volatile)
        elif padding_option == "":
            return tl.load(pointers, mask=_mask(ptr, checked), cache_modifier=cache_modifier,
                           eviction_policy=eviction_policy, volatile=volatile)
        else:
            other: tl.constexpr = _padding(padding_option, ptr.base.dtype.element_ty)
            return tl.load(pointers, mask=_mask(ptr, checked), other=other, cache_modifier=cache_modifier,
                           eviction_policy=eviction_policy, volatile=volatile)


@triton.jit
def store(ptr, value, boundary_check: tl.constexpr = tl.constexpr(()), cache_modifier: tl.constexpr = tl.constexpr(""),
          eviction_policy: tl.constexpr = tl.constexpr("")):
    """Writes `value` (a block, or a scalar for all of it) at `ptr`, except where a dimension in `boundary_check` is
    outside."""
    checked: tl.constexpr = _checked(boundary_check, _count(ptr.block))
    by_descriptor: tl.constexpr = _store_by_descriptor(ptr.axes, checked, ptr.unwritable, cache_modifier)
    tile = tl.broadcast_to(tl.cast(value, ptr.base.dtype.element_ty), _plain(ptr.block))
    if by_descriptor:
        tl.store_tensor_descriptor(ptr.descriptor, _places(ptr), _permuted(tile, ptr.axes))
    elif _count(checked) == 0:
        tl.store(_pointers(ptr), tile, cache_modifier=cache_modifier, eviction_policy=eviction_policy)
    else:
        tl.store(_pointers(ptr), tile, mask=_mask(ptr, checked), cache_modifier=cache_modifier,
                 eviction_policy=eviction_policy)


# --- what the host calls ---------------------------------------------------------------------------------------------


def remarks():
    """What was taken so far, descriptors or pointers, and why: one line for each place in a kernel that this process
    has compiled (a kernel from Triton's cache on disk is not compiled). BLOCK_PTR_REMARKS=1 prints them as they
    come."""
    return list(_remarks)


def clear_remarks():
    """Forgets the remarks so far."""
    _remarks.clear()


def ensure_allocator():
    """Descriptors made by a kernel need scratch memory on NVIDIA GPUs from Hopper on: sets an allocator that takes it
    from torch, unless the program has set one. Call it in the thread that launches. Returns whether it set one."""
    from triton.runtime import _allocation

    current = getattr(_allocation, "_allocator", None)
    current = current.get() if hasattr(current, "get") else current
    if not isinstance(current, getattr(_allocation, "NullAllocator", type(None))):
        return False
    import torch

    triton.set_allocator(lambda size, alignment, stream: torch.empty(size, dtype=torch.int8, device="cuda"))
    return True


# --- addresses and masks ---------------------------------------------------------------------------------------------


# As Triton's own compiler did it: in a loop the machine code is the same.


@triton.jit
def _pointers(ptr):
    offsets = _along(_coordinates(ptr, 0) * ptr.strides[0], 0, _count(ptr.block))
    for d in tl.static_range(1, _count(ptr.block)):
        offsets = offsets + _along(_coordinates(ptr, d) * ptr.strides[d], d, _count(ptr.block))
    return ptr.base + offsets


@triton.jit
def _mask(ptr, checked: tl.constexpr):
    mask = _inside(ptr, _item(checked, 0))
    for k in tl.static_range(1, _count(checked)):
        mask = mask & _inside(ptr, _item(checked, k))
    return mask


@triton.jit
def _inside(ptr, d: tl.constexpr):
    coordinates = _along(_coordinates(ptr, d), d, _count(ptr.block))
    return (coordinates >= 0) & (coordinates < ptr.shape[d])


@triton.jit
def _coordinates(ptr, d: tl.constexpr):
    return ptr.offsets[d] + tl.arange(0, _item(ptr.block, d)).to(tl.int64)


@triton.jit
def _along(values, d: tl.constexpr, rank: tl.constexpr):
    """One-dimensional `values` as dimension d of `rank`."""
    for _ in tl.static_range(d):
        values = tl.expand_dims(values, 0)
    for _ in tl.static_range(d + 1, rank):
        values = tl.expand_dims(values, -1)
    return values


# --- making one ------------------------------------------------------------------------------------------------------


@triton.jit
def _as_i64(values):
    result = ()
    for d in tl.static_range(len(values)):
        result = result + (tl.cast(values[d], tl.int64), )
    return result


@triton.jit
def _extents(shape):
    # No coordinate is beyond 2**62; so limited, shape - offset does not overflow.
    result = ()
    for d in tl.static_range(len(shape)):
        extent = tl.cast(shape[d], tl.int64)
        if _is_wide(shape[d]):
            extent = tl.minimum(tl.maximum(extent, 0), 1 << 62)
        result = result + (extent, )
    return result


@triton.jit
def _offsets(offsets):
    # Triton 3.7 takes the 32 bits of an offset as signed, whatever its type; one of 64 bits it does not take.
    result = ()
    for d in tl.static_range(len(offsets)):
        if _is_wide(offsets[d]):
            offset = tl.cast(offsets[d], tl.int64)
        else:
            offset = tl.cast(tl.cast(offsets[d], tl.int32), tl.int64)
        result = result + (offset, )
    return result


@triton.jit
def _added(values, others):
    result = ()
    for d in tl.static_range(len(values)):
        result = result + (values[d] + others[d], )
    return result


@triton.jit
def _without_bool(base):
    if base.dtype.element_ty == tl.int1:
        return base.to(tl.pointer_type(tl.int8), bitcast=True)
    else:
        return base


# --- descriptors -----------------------------------------------------------------------------------------------------


@tl.core.builtin
def _descriptor(base, shape, strides, block_shape, axes, padding, _semantic=None):
    shape, strides, block = [[_list(values)[axis] for axis in _list(axes)] for values in (shape, strides, block_shape)]
    return tl.make_tensor_descriptor(base, shape, [*strides[:-1], tl.constexpr(1)], block,
                                     padding_option=_plain_value(padding) or "zero", _semantic=_semantic)


@tl.core.builtin
def _permuted(tile, axes, _semantic=None):
    axes = _list(axes)
    return tile if axes == sorted(axes) else tl.permute(tile, axes, _semantic=_semantic)


@triton.jit
def _places(ptr):
    """The block's offsets, as its descriptor wants them."""
    result = ()
    for k in tl.static_range(_count(ptr.axes)):
        result = result + (tl.cast(ptr.offsets[_item(ptr.axes, k)], tl.int32), )
    return result


# --- while compiling: on constexprs, in Python -----------------------------------------------------------------------

_remarks = []


@_helper
def _plain_value(value):
    return getattr(value, "value", value) if type(value).__name__ == "constexpr" else value


@_helper
def _list(values):
    """Whatever a kernel may write for a tuple of constexprs, as a list of Python values."""
    values = _plain_value(values)
    values = values if hasattr(values, "__iter__") else [values]
    return [_plain_value(value) for value in values]


@_helper
def _interpreting():
    return triton.knobs.runtime.interpret


@_helper
def _remark(what):
    place = _place()
    line = f"{place}: {what}" if place else what
    if line not in _remarks:
        _remarks.append(line)
        if os.environ.get("BLOCK_PTR_REMARKS", "0") not in ("", "0"):
            print(line, file=sys.stderr)


@_helper
def _place():
    """"FILE:LINE: KERNEL" of the kernel's line that is being compiled: the innermost outside of this file."""
    frame = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        generator = frame.f_locals.get("self")
        if code.co_name == "visit_Call" and hasattr(generator, "jit_fn"):
            node = frame.f_locals.get("node")
            function = generator.jit_fn.fn
            if function.__code__.co_filename != __file__:
                return f"{generator.file_name}:{generator.begin_line + node.lineno}: {function.__name__}"
        frame = frame.f_back
    return None


@triton.constexpr_function
def _count(values):
    return len(_list(values))


@triton.constexpr_function
def _item(values, k):
    return _list(values)[k]


@triton.constexpr_function
def _plain(values):
    return tuple(_list(values))


@triton.constexpr_function
def _inverse(axes):
    axes = _list(axes)
    return tuple(axes.index(d) for d in range(len(axes)))


@triton.constexpr_function
def _is_wide(value):
    """Does it need 64 bits?"""
    value = _plain_value(value)
    if isinstance(value, int):
        return not -2**31 <= value < 2**31
    return value.dtype.primitive_bitwidth == 64


@triton.constexpr_function
def _check_arguments(base, shape, strides, offsets, block_shape, order, descriptor, padding_option):
    if not base.type.is_ptr() or base.type.element_ty.is_block():
        raise ValueError("Expected `base` to be a pointer to the first element, not a tensor or a tensor of pointers")
    rank = len(_list(block_shape))
    if not 1 <= rank <= 5:
        raise ValueError(f"Expected 1 to 5 dimensions in `block_shape`, got {rank}")
    for extent in _list(block_shape):
        if not isinstance(extent, int) or extent <= 0 or extent & (extent - 1):
            raise ValueError(f"Expected constexpr powers of two in `block_shape`, got {extent}")
    for name, values in (("shape", shape), ("strides", strides), ("offsets", offsets), ("order", order)):
        if len(_list(values)) != rank:
            raise ValueError(f"Expected `{name}` to have {rank} elements, as `block_shape` has, "
                             f"got {len(_list(values))}")
    if sorted(_list(order)) != list(range(rank)):
        raise ValueError(f"Expected a permutation of 0 to {rank - 1} in `order`, got {_list(order)}")
    if descriptor not in ("never", "strides", "promise"):
        raise ValueError(f'`descriptor` is "never", "strides" or "promise", not {descriptor!r}')
    _padding_of(padding_option, base.type.element_ty)
    return True


@triton.constexpr_function
def _checked(boundary_check, rank):
    """The dimensions in `boundary_check`, as a sorted tuple."""
    dimensions = [] if _plain_value(boundary_check) is None else _list(boundary_check)
    for d in dimensions:
        if not isinstance(d, int) or not 0 <= d < rank:
            raise ValueError(f"Expected dimensions from 0 to {rank - 1} in `boundary_check`, got {d}")
    if len(set(dimensions)) != len(dimensions):
        raise ValueError(f"Duplicate dimension in `boundary_check`: {dimensions}")
    return tuple(sorted(dimensions))


@_helper
def _padding_of(option, dtype):
    if option not in (None, "", "zero", "nan"):
        raise ValueError(f'`padding_option` is "", "zero" or "nan", not {option!r}')
    if option == "nan" and not dtype.is_floating():
        raise ValueError(f"Padding option `nan` is not supported for blocks of {dtype}")
    # A float for floats: not every 8-bit float can be made from an integer.
    return float("nan") if option == "nan" else 0.0 if dtype.is_floating() else 0


@triton.constexpr_function
def _padding(option, dtype):
    return _padding_of(option, dtype)


@triton.constexpr_function
def _axes(dtype, strides, offsets, block_shape, order, descriptor):
    """The order of a descriptor's dimensions, the contiguous one last; none of them for pointers."""
    if descriptor == "never":
        _remark('make_block_ptr: pointers: descriptor="never"')
        return ()
    strides, block, order = _list(strides), _list(block_shape), _list(order)
    item = dtype.primitive_bitwidth // 8
    axes, why = _descriptor_axes(_known(strides), _known(offsets), block, order, item, descriptor == "promise")
    if axes is not None and _interpreting():
        axes, why = None, "Triton's interpreter asks more of descriptors than GPUs do"
    _remark(f"make_block_ptr: descriptor, dimensions {axes}" if why is None else f"make_block_ptr: pointers: {why}")
    return axes or ()


@_helper
def _known(values):
    """The constexprs among `values`, None for each that is none."""
    return [value if isinstance(value, int) else None for value in _list(values)]


@_helper
def _descriptor_axes(strides, offsets, block, order, item, promised):
    """(axes, None), or (None, the rule that does not hold). `strides` and `offsets` in elements, None where not
    constexpr."""
    if not promised and None in strides:
        return None, f"the stride of dimension {strides.index(None)} is no constexpr"
    ones = [d for d in order if strides[d] == 1]
    last = ones[0] if ones else order[0]
    if strides[last] not in (1, None):
        return None, f"no dimension has stride 1 (dimension {last} has {strides[last]})"
    for d, stride in enumerate(strides):
        if d != last and stride is not None and (stride <= 0 or stride * item % 16):
            return None, f"the stride of dimension {d}, {stride} elements, is no positive multiple of 16 bytes"
    if block[last] * item < 16:
        return None, f"the block has {block[last] * item} bytes in dimension {last}, fewer than 16"
    why = _between_chunks("offset", last, offsets[last], item, promised)
    if why:
        return None, why
    others = [d for d in reversed(order) if d != last]
    return tuple([*sorted(others), last]), None


@_helper
def _between_chunks(what, d, value, item, promised):
    """Why a block whose offset (or step) in the contiguous dimension is `value` may not begin at a multiple of 16
    bytes, or None."""
    if value is None:
        return None if promised else f"the {what} of dimension {d} is no constexpr"
    return f"the {what} of dimension {d}, {value}, is no multiple of 16 bytes" if value * item % 16 else None


@triton.constexpr_function
def _check_step(axes, steps, dtype, promised):
    """`advance` cannot turn a block pointer with a descriptor into one without (in a loop both would be one variable),
    and a descriptor faults between chunks: so it refuses."""
    axes, steps = _list(axes), _known(steps)
    if axes and len(steps) == len(axes):
        why = _between_chunks("step", axes[-1], steps[axes[-1]], dtype.primitive_bitwidth // 8, promised)
        if why:
            raise ValueError(f'A block pointer with a descriptor cannot be advanced so: {why}. '
                             'Make it with descriptor="never"'
                             + ("" if promised else ', or "promise" that it is a multiple of 16 bytes'))
    return True


@triton.constexpr_function
def _load_by_descriptor(axes, checked, padding_option, made_with, dtype, cache_modifier, volatile):
    _padding_of(padding_option, dtype)
    why = _no_descriptor(_list(axes), checked)
    if why is None and volatile:
        why = "the load is volatile"
    if why is None and padding_option in ("zero", "nan") and padding_option != (made_with or "zero"):
        why = f'the padding is "{padding_option}", the descriptor was made with "{made_with or "zero"}"'
    hints = ", without the cache modifier" if cache_modifier and why is None else ""
    _remark(f"load: descriptor{hints}" if why is None else f"load: pointers: {why}")
    return why is None


@triton.constexpr_function
def _unwritable(dtype, shape, offsets, axes, descriptor):
    """Why stores cannot take a descriptor with these axes, or ""."""
    if not _list(axes):
        return ""
    d, item = _list(axes)[-1], dtype.primitive_bitwidth // 8
    extent = _list(shape)[d]
    if isinstance(extent, int) and extent * item % 16:
        return f"the extent of dimension {d}, {extent}, is no multiple of 16 bytes"
    if descriptor != "promise":
        return "nobody promises that no offset is negative"
    negative = [axis for axis, offset in enumerate(_known(offsets)) if offset is not None and offset < 0]
    return f"the offset of dimension {negative[0]} is negative" if negative else ""


@triton.constexpr_function
def _store_by_descriptor(axes, checked, unwritable, cache_modifier):
    why = _no_descriptor(_list(axes), checked) or unwritable or None
    hints = ", without the cache modifier" if cache_modifier and why is None else ""
    _remark(f"store: descriptor{hints}" if why is None else f"store: pointers: {why}")
    return why is None


@_helper
def _no_descriptor(axes, checked):
    if not axes:
        return "the block pointer has no descriptor"
    unchecked = sorted(set(axes) - set(checked))
    return f"dimension {unchecked[0]} is not in boundary_check" if unchecked else None
