"""Kernel arguments: what Triton's binder is given, and what the engine is given.

`adapt` turns what the user passed into what Triton's own binder accepts (numpy arrays get the
data_ptr() that it asks for). `Layout` knows, for one specialisation of a kernel, which parameters
its IR has, and `Layout.describe` gives the engine's view of one launch's arguments.
"""

import struct

from . import pointers, storage
from ..errors import Error

np = storage.np


class ArrayHandle:
    """What Triton's binder sees of an array: its address and dtype."""

    __slots__ = ("array", "dtype", "address")

    def __init__(self, array, address, dtype):
        self.array = array
        self.address = address
        self.dtype = dtype

    def data_ptr(self):
        return self.address


def _adapt_numpy(array):
    dtype = array.dtype
    if dtype.kind == "V":
        dtype = dtype.name  # ml_dtypes' narrow floats hash alike, and Triton looks at nothing but the hash
    return ArrayHandle(array, array.__array_interface__["data"][0], dtype)


def _adapt_foreign(obj):
    memory = storage.of(obj)
    return ArrayHandle(obj, memory.address, memory.dtype)


def _adapt_tuple(values):
    adapted = [adapt(value) for value in values]
    if all(new is old for new, old in zip(adapted, values)):
        return values
    return type(values)(*adapted) if hasattr(values, "_fields") else type(values)(adapted)


def _same(value):
    return value


def _adapter_of(kind):
    if np is not None:
        if issubclass(kind, np.ndarray):
            return _adapt_numpy
        if issubclass(kind, np.generic):
            return lambda value: value.item()
    if issubclass(kind, tuple):
        return _adapt_tuple
    if not hasattr(kind, "data_ptr") and (hasattr(kind, "__dlpack__")
                                          or hasattr(kind, "__cuda_array_interface__")):
        return _adapt_foreign
    return _same


_adapters = {kind: _same for kind in (int, float, bool, str, type(None))}


def adapt(value):
    """`value` as Triton's binder accepts it."""
    kind = type(value)
    adapter = _adapters.get(kind)
    if adapter is None:
        adapter = _adapters[kind] = _adapter_of(kind)
    return adapter(value)


def original(value):
    """The user's own object behind an adapted one."""
    if type(value) is ArrayHandle:
        return value.array
    if isinstance(value, tuple) and not isinstance(value, str):
        inner = [original(item) for item in value]
        if any(new is not old for new, old in zip(inner, value)):
            return type(value)(*inner) if hasattr(value, "_fields") else type(value)(inner)
    return value


# --- element types -------------------------------------------------------------------------------

# Triton's names of types to MLIR's.
ELEMENTS = {
    "i1": "i1", "u1": "i1", "i8": "i8", "u8": "i8", "i16": "i16", "u16": "i16", "i32": "i32",
    "u32": "i32", "i64": "i64", "u64": "i64", "fp16": "f16", "bf16": "bf16", "fp32": "f32",
    "fp64": "f64", "fp8e4nv": "f8E4M3FN", "fp8e5": "f8E5M2", "fp8e4b8": "f8E4M3FNUZ",
    "fp8e5b16": "f8E5M2FNUZ", "fp8e4b15": "i8", "void": "i8",
}

_dtypes = {}


def element_of(dtype, name):
    """The MLIR name of a tensor's elements, from its own dtype: "float16" -> "f16"."""
    element = _dtypes.get(dtype)
    if element is None:
        from triton._utils import canonicalize_dtype
        try:
            element = _dtypes[dtype] = ELEMENTS[canonicalize_dtype(dtype)]
        except KeyError:
            raise Error(f"argument {name}: tensors of dtype {dtype} cannot be passed") from None
    return element


_INTEGER_BITS = {"i1": 1, "i8": 8, "i16": 16, "i32": 32, "i64": 64}


def scalar_bits(value, element, name):
    """The bit pattern of a scalar argument: integers sign-extended to 64 bits, floats as they lie
    in memory."""
    width = _INTEGER_BITS.get(element)
    if width is not None:
        try:
            number = value.__index__()
        except AttributeError:
            raise TypeError(f"argument {name}: an integer is required, got {value!r}") from None
        number &= (1 << width) - 1
        if width > 1 and number >> (width - 1):
            number |= ~((1 << width) - 1)
        return number & 0xFFFFFFFFFFFFFFFF
    number = float(value)
    if element == "f64":
        return struct.unpack("<Q", struct.pack("<d", number))[0]
    single = _float32_bits(number)
    if element == "f32":
        return single
    if element == "bf16":
        if number != number:
            return 0x7FC0
        return (single + 0x7FFF + ((single >> 16) & 1)) >> 16 & 0xFFFF
    if element == "f16":
        try:
            return struct.unpack("<H", struct.pack("<e", number))[0]
        except OverflowError:
            return 0x7C00 if number > 0 else 0xFC00
    raise Error(f"argument {name}: scalars of type {element} cannot be passed")


def _float32_bits(number):
    try:
        return struct.unpack("<I", struct.pack("<f", number))[0]
    except OverflowError:
        return 0x7F800000 if number > 0 else 0xFF800000


# --- the engine's view ---------------------------------------------------------------------------

# The first item of a described argument; the binding reads the same numbers.
TENSOR, SCALAR, DESCRIPTOR, SPECIALIZED = range(4)


class Storages:
    """The allocations of one launch: each once, also where several views share it."""

    def __init__(self):
        self.rows = []    # [address, bytes, recorded base, known, name, stage, owner, frozen]
        self.index = {}   # (base, bytes) -> row

    def add(self, memory, name):
        """Returns the row and the byte offset of element [0,..,0] in it."""
        key = (memory.base, memory.nbytes)
        row = self.index.get(key)
        if row is None:
            row = self.index[key] = len(self.rows)
            self.rows.append([memory.base, memory.nbytes, memory.base, memory.known, name,
                              memory.stage, memory.owner, memory.frozen])
        else:
            self.rows[row][3] = self.rows[row][3] or memory.known
            self.rows[row][7] = self.rows[row][7] and memory.frozen
        return row, memory.address - memory.base

    def add_allocation(self, base, nbytes, owner):
        """Memory that no argument shows, but whose address the program may have stored."""
        if (base, nbytes) not in self.index:
            self.index[base, nbytes] = len(self.rows)
            self.rows.append([base, nbytes, base, True, "", storage.of(owner).stage, owner, False])

    def merge(self):
        """Makes allocations that overlap one. Returns row -> (row, shift in bytes), or None if none
        do."""
        rows = self.rows
        kept, moved = [], {}
        for row in sorted(range(len(rows)), key=lambda row: (rows[row][0], -rows[row][1])):
            low, size = rows[row][0], rows[row][1]
            last = rows[kept[-1]] if kept else None
            if last is not None and size and last[1] and low < last[0] + last[1]:
                last[1] = max(last[1], low + size - last[0])
                last[3] = last[3] or rows[row][3]
                last[5] = last[5] or rows[row][5]
                last[7] = last[7] and rows[row][7]
                moved[row] = (kept[-1], low - last[0])
            else:
                kept.append(row)
        if not moved:
            return None
        kept.sort()
        number = {row: new for new, row in enumerate(kept)}
        self.rows = [rows[row] for row in kept]
        return {row: (number[moved.get(row, (row, 0))[0]], moved.get(row, (row, 0))[1])
                for row in range(len(rows))}


class Parameter:
    """One parameter of the kernel as its IR has it; members of tuples are parameters of their own."""

    __slots__ = ("path", "name", "kind", "element", "hint", "fixed")

    def __init__(self, path, name, kind, element=None, hint="", fixed=None):
        self.path = path          # into the list of bound values
        self.name = name
        self.kind = kind
        self.element = element    # SCALAR: MLIR name
        self.hint = hint          # what the compiler was promised: "tt.divisibility=16"
        self.fixed = fixed        # SPECIALIZED: the described argument


class Layout:
    """The parameters of one specialisation, from Triton's signature."""

    def __init__(self, signature, values, attributes):
        self.parameters = []
        self._attributes = attributes
        for position, (name, kind) in enumerate(signature.items()):
            self._add((position,), name, kind, values[position])

    def _add(self, path, name, kind, value):
        if isinstance(kind, tuple):
            names = getattr(kind, "_fields", None) or range(len(kind))
            for position, inner in enumerate(kind):
                self._add(path + (position,), f"{name}.{names[position]}", inner, value[position])
        elif kind == "constexpr":
            fixed = (SPECIALIZED, name, describe_constant(value))
            self.parameters.append(Parameter(path, name, SPECIALIZED, fixed=fixed))
        elif kind.startswith("*"):
            self.parameters.append(Parameter(path, name, TENSOR, hint=self._hint(path)))
        elif kind.startswith("tensordesc<"):
            self.parameters.append(Parameter(path, name, DESCRIPTOR))
        elif kind in ELEMENTS:
            self.parameters.append(Parameter(path, name, SCALAR, ELEMENTS[kind], self._hint(path)))
        else:
            raise Error(f"argument {name}: values of type {kind} cannot be passed")

    def _hint(self, path):
        return ", ".join(f"{name}={value}" for name, value in self._attributes.get(path, ()))

    def describe(self, values):
        """(arguments, storages): tuples as the binding takes them, for the bound `values`."""
        storages = Storages()
        described = []
        tensors = []
        for parameter in self.parameters:
            if parameter.fixed is not None:
                described.append(parameter.fixed)
                continue
            value = values[parameter.path[0]]
            for step in parameter.path[1:]:
                value = value[step]
            if parameter.kind == SCALAR:
                described.append((SCALAR, parameter.name, parameter.element,
                                  scalar_bits(value, parameter.element, parameter.name),
                                  parameter.hint))
            elif parameter.kind == TENSOR:
                if value is None or isinstance(value, int):  # an address, for annotated pointers
                    described.append((SCALAR, parameter.name, "ptr", int(value or 0),
                                      parameter.hint))
                    continue
                tensors.append(len(described))
                described.append(_tensor(parameter, value, storages))
            else:
                tensors.append(len(described))
                described.append(_descriptor(parameter, value, storages))
        for base, nbytes, owner in pointers.remembered(described):
            storages.add_allocation(base, nbytes, owner)
        moved = storages.merge() if len(storages.rows) > 1 else None
        if moved:
            for position in tensors:
                argument = described[position]
                row, shift = moved[argument[7]]
                described[position] = (*argument[:6], argument[6] + shift, row, *argument[8:])
        return described, storages.rows


def _memory_of(value, name):
    try:
        if type(value) is not ArrayHandle:
            return storage.of(value)
        if np is not None and isinstance(value.array, np.ndarray):
            return storage.of_numpy(value.array, value.address)
        return storage.of(value.array)
    except Error as error:
        raise Error(f"argument {name}: {error}") from None


def _tensor(parameter, value, storages):
    memory = _memory_of(value, parameter.name)
    row, offset = storages.add(memory, parameter.name)
    return (TENSOR, parameter.name, element_of(memory.dtype, parameter.name), memory.dtype, memory.shape,
            memory.strides, offset, row, memory.read_only, parameter.hint)


def _descriptor(parameter, descriptor, storages):
    memory = _memory_of(descriptor.base, parameter.name)
    shape = tuple(int(size) for size in descriptor.shape)
    strides = tuple(int(step) for step in descriptor.strides)
    described = storage.Memory(memory.address, memory.dtype, memory.itemsize, shape, strides, memory.base,
                               memory.nbytes, memory.known, memory.owner)
    start, _ = described.extent()  # past the end is judged where it is accessed
    if start < memory.base:
        raise Error(f"argument {parameter.name}: the descriptor's strides {list(strides)} reach "
                    f"{memory.base - start:,} bytes before the start of its tensor")
    row, offset = storages.add(memory, parameter.name)
    return (DESCRIPTOR, parameter.name, element_of(memory.dtype, parameter.name), memory.dtype,
            shape, strides, offset, row, memory.read_only,
            tuple(int(size) for size in descriptor.block_shape),
            getattr(descriptor, "padding", "zero") == "nan")


def describe_constant(value):
    """A specialised argument in words: `64`, `None`, `"relu"`, `float32`, `helper`."""
    inner = getattr(value, "value", value) if type(value).__name__ == "constexpr" else value
    if isinstance(inner, str):
        return f'"{inner}"'
    name = getattr(inner, "__name__", None)
    if name is not None and hasattr(inner, "fn"):
        return name
    if type(inner).__name__ == "dtype" and hasattr(inner, "name"):
        return inner.name
    text = repr(inner)
    return text if len(text) <= 200 else text[:197] + "..."
