"""tl.make_block_ptr, tl.advance, and tl.load and tl.store on block pointers, for a Triton that has removed them.

Triton's own functions stay the objects that they are, since kernels may have imported them by name: what they call is
changed. Everything is made of pointers and masks at the kernel's own line, with the meaning of Triton 3.7.
"""

import hashlib
import inspect

import triton
from triton.language import core

from ..errors import Error
from .block_ptr import BlockPtr, _check_arguments, _checked, _is_wide, _list, _padding_of

_undo = []  # functions, newest last
_made = [0]  # how many block pointers kernels have made


def needed():
    """Has this Triton removed block pointers? Then it raises where a kernel makes one, or has no word for it."""
    function = getattr(core, "make_block_ptr", None)
    return function is None or "NotImplementedError" in _inner(function).__code__.co_names


def install():
    """As tilesight.triton.restore_block_pointers."""
    if _undo:
        return True
    if not needed():
        return False
    for name, function in (("make_block_ptr", make_block_ptr), ("advance", advance), ("load", load), ("store", store)):
        _replace(name, function)
    _tell_binaries_apart()
    return True


def uninstall():
    """Triton as it was."""
    while _undo:
        undo = _undo.pop()
        undo()


# --- the functions ---------------------------------------------------------------------------------------------------


def make_block_ptr(base, shape, strides, offsets, block_shape, order, _semantic=None):
    """Returns a pointer to a block in a parent tensor."""
    _made[0] += 1
    _check_arguments(base, shape, strides, offsets, block_shape, order, "never", "zero")
    if base.type.element_ty == core.int1:
        base = core.cast(base, core.pointer_type(core.int8, base.type.address_space), bitcast=True,
                         _semantic=_semantic)
    return BlockPtr(base, _wide(shape, _semantic), _wide(strides, _semantic), _offsets(offsets, _semantic),
                    block_shape, None, (), "", "", False)


def advance(base, offsets, _semantic=None):
    """Advance a block pointer."""
    if not isinstance(base, BlockPtr):
        raise ValueError("`tl.advance` only supports block pointers, made by `tl.make_block_ptr`")
    steps = _offsets(offsets, _semantic)
    if len(steps) != len(base.offsets):
        raise ValueError(f"Expected {len(base.offsets)} `offsets`, one a dimension, got {len(steps)}")
    moved = core.tuple([_semantic.add(old, step, False) for old, step in zip(base.offsets, steps)])
    return BlockPtr(base.base, base.shape, base.strides, moved, base.block, base.descriptor, base.axes, base.padding,
                    base.unwritable, base.promised)


def load(pointer, mask=None, other=None, boundary_check=(), padding_option="", cache_modifier="", eviction_policy="",
         volatile=False, _semantic=None, **more):
    """As Triton's, and with `boundary_check` and `padding_option` for block pointers."""
    padding_option = core._unwrap_if_constexpr(padding_option)
    if isinstance(pointer, BlockPtr):
        if core._unwrap_if_constexpr(mask) is not None or core._unwrap_if_constexpr(other) is not None:
            raise ValueError("`mask` and `other` arguments cannot be specified for loading block pointers")
        element = pointer.base.dtype.element_ty
        fill = _padding_of(padding_option, element)
        checked = _checked(boundary_check, len(_list(pointer.block)))
        mask = _mask(pointer, checked, _semantic)
        other = fill if padding_option and checked else None
        pointer = _pointers(pointer, _semantic)
    elif padding_option or _some(boundary_check):
        raise ValueError("`padding_option` and `boundary_check` are for block pointers, made by `make_block_ptr`: of "
                         "a tensor of pointers the compiler does not know the boundary")
    return _natives["load"](pointer, mask, other, cache_modifier=cache_modifier, eviction_policy=eviction_policy,
                            volatile=volatile, _semantic=_semantic, **more)


def store(pointer, value, mask=None, boundary_check=(), cache_modifier="", eviction_policy="", _semantic=None, **more):
    """As Triton's, and with `boundary_check` for block pointers."""
    if isinstance(pointer, BlockPtr):
        if core._unwrap_if_constexpr(mask) is not None:
            raise ValueError("`mask` cannot be specified for storing block pointers")
        mask = _mask(pointer, _checked(boundary_check, len(_list(pointer.block))), _semantic)
        pointer = _pointers(pointer, _semantic)
    elif _some(boundary_check):
        raise ValueError("`boundary_check` is for block pointers, made by `make_block_ptr`: of a tensor of pointers "
                         "the compiler does not know the boundary")
    return _natives["store"](pointer, value, mask, cache_modifier=cache_modifier, eviction_policy=eviction_policy,
                             _semantic=_semantic, **more)


def _some(boundary_check):
    return core._unwrap_if_constexpr(boundary_check) is not None and bool(_list(boundary_check))


# --- addresses and masks ---------------------------------------------------------------------------------------------


def _wide(values, _semantic):
    return core.tuple([core.cast(value, core.int64, _semantic=_semantic) for value in _list(values)])


def _offsets(values, _semantic):
    # Triton 3.7 takes the 32 bits of an offset as signed, whatever its type; one of 64 bits it does not take.
    return _wide([value if _is_wide(value) else core.cast(value, core.int32, _semantic=_semantic)
                  for value in _list(values)], _semantic)


def _numbers(pointer, d, _semantic):
    """0, 1.. of dimension d, 64-bit."""
    return core.cast(core.arange(0, _list(pointer.block)[d], _semantic=_semantic), core.int64, _semantic=_semantic)


def _along(values, d, rank, _semantic):
    """One-dimensional `values` as dimension d of `rank`."""
    for _ in range(d):
        values = core.expand_dims(values, 0, _semantic=_semantic)
    for _ in range(d + 1, rank):
        values = core.expand_dims(values, -1, _semantic=_semantic)
    return values


def _pointers(pointer, _semantic):
    # The scalar part first: what is left for every element does not change in a loop.
    rank = len(_list(pointer.block))
    result = pointer.base
    for offset, stride in zip(pointer.offsets, pointer.strides):
        result = _semantic.add(result, _semantic.mul(offset, stride, False), False)
    for d in range(rank):
        steps = _semantic.mul(_numbers(pointer, d, _semantic), pointer.strides[d], False)
        result = _semantic.add(result, _along(steps, d, rank, _semantic), False)
    return result


def _mask(pointer, checked, _semantic):
    """Where all the `checked` dimensions are inside; None if there are none."""
    rank, mask = len(_list(pointer.block)), None
    for d in checked:
        place = _semantic.add(pointer.offsets[d], _numbers(pointer, d, _semantic), False)
        inside = _semantic.and_(_semantic.greater_equal(place, 0), _semantic.less_than(place, pointer.shape[d]))
        inside = _along(inside, d, rank, _semantic)
        mask = inside if mask is None else _semantic.and_(mask, inside)
    return mask


# --- in their places -------------------------------------------------------------------------------------------------

_natives = {}  # name -> Triton's own function, below its decorator


def _cell(function):
    """The cell by which a function of Triton's language, as its decorator made it, finds the function to call."""
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        if name == "fn":
            return cell
    return None


def _inner(function):
    cell = _cell(function)
    return function if cell is None else cell.cell_contents


def _replace(name, function):
    outer = getattr(core, name, None)
    if outer is None and name in ("load", "store") or outer is not None and _cell(outer) is None:
        raise Error(f"block pointers cannot be restored in Triton {triton.__version__}: its tl.{name} is not as "
                    "Tilesight knows it")
    if outer is None:
        outer = core.builtin(function)
        _put(core, name, outer)
    else:
        _call_instead(outer, function)
    if not hasattr(triton.language, name):  # 3.9 has no tl.advance
        _put(triton.language, name, outer)


def _put(module, name, function):
    setattr(module, name, function)
    _undo.append(lambda: delattr(module, name))


def _call_instead(outer, function):
    cell = _cell(outer)
    native = _natives[function.__name__] = cell.cell_contents
    cell.cell_contents = function
    attributes = {"__wrapped__": function, "signature": inspect.signature(function)}
    before = {key: vars(outer)[key] for key in attributes}
    vars(outer).update(attributes)

    def undo():
        cell.cell_contents = native
        vars(outer).update(before)

    _undo.append(undo)


def _tell_binaries_apart():
    """A binary that was compiled with these functions is found again only by a process that has the same."""
    from triton.compiler import compiler

    native = getattr(compiler, "get_cache_key", None)
    if native is None:
        return
    compiler.get_cache_key = lambda *args, **kwargs: f"{native(*args, **kwargs)}-block-pointers-{version()}"
    _undo.append(lambda: setattr(compiler, "get_cache_key", native))


def version():
    """Differs between any two versions of these functions."""
    from . import block_ptr

    digest = hashlib.sha256()
    for module in (__file__, block_ptr.__file__):
        with open(module, "rb") as file:
            digest.update(file.read())
    return digest.hexdigest()[:16]


def active():
    """Are they in place?"""
    return bool(_undo)


def made():
    """How many block pointers kernels have made, while they were compiled."""
    return _made[0]


def _method(name):
    def method(self, *args, _semantic=None, **kwargs):
        # Under its own name: Triton's interpreter changes the functions of triton.language.
        return getattr(triton.language, name)(self, *args, _semantic=_semantic, **kwargs)

    return method


# What a block pointer of Triton's can be asked for.
BlockPtr.advance, BlockPtr.load, BlockPtr.store = map(_method, ("advance", "load", "store"))
