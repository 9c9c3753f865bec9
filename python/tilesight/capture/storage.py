"""Where a tensor argument's memory lies: from arrays of any library to a view in a storage.

A *view* is a lattice of elements (shape, strides in elements of any sign, address of element
[0,..,0]); a *storage* is the allocation below it, which other views may share.
"""

import functools

from .device_memory import of_torch_storage
from ..errors import Error

try:
    import numpy as np
except ImportError:  # torch-only programs
    np = None


class Memory:
    """One tensor's place: its view, and the allocation it lies in.

    `stage` is for memory on a device: a function of (base, bytes) of the allocation that gives its
    DevicePages.
    """

    __slots__ = ("address", "dtype", "itemsize", "shape", "strides", "base", "nbytes", "known",
                 "owner", "stage", "read_only", "frozen")

    def __init__(self, address, dtype, itemsize, shape, strides, base, nbytes, known, owner,
                 stage=None, read_only=False, frozen=False):
        self.address = address    # of element [0,..,0]
        self.dtype = dtype        # "float16", "int32", "bool"...
        self.itemsize = itemsize
        self.shape = shape
        self.strides = strides    # in elements
        self.base = base          # address of the allocation's first byte
        self.nbytes = nbytes      # of the allocation
        self.known = known        # False: the view is taken for the allocation
        self.owner = owner        # keeps the memory alive
        self.stage = stage
        self.read_only = read_only  # nothing may be stored through this view
        self.frozen = frozen        # nothing may be stored to the allocation

    def extent(self):
        """First byte and one past the last byte of the view, as addresses."""
        low = high = self.address
        for size, stride in zip(self.shape, self.strides):
            if size == 0:
                return self.address, self.address
            step = (size - 1) * stride * self.itemsize
            if step < 0:
                low += step
            else:
                high += step
        return low, high + self.itemsize


def row_major(shape):
    strides = []
    step = 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(int(size), 1)
    return tuple(reversed(strides))


# --- numpy ---------------------------------------------------------------------------------------

_dtype_names = {}


def _dtype_name(dtype):
    """str(dtype), which numpy takes microseconds for."""
    name = _dtype_names.get(dtype)
    if name is None:
        name = _dtype_names[dtype] = str(dtype)
    return name


def of_numpy(array, address=None):
    """`address` of element [0,..,0], where the caller has asked for it already."""
    if address is None:
        address = array.__array_interface__["data"][0]
    itemsize = array.itemsize
    if itemsize == 0:
        raise Error(f"an array of dtype {array.dtype} has elements of no size")
    strides = []
    for step in array.strides:
        steps, rest = divmod(step, itemsize)
        if rest:
            raise Error(f"an array with byte strides {array.strides} cannot be passed: they are no "
                        f"multiples of its element size {itemsize}; copy it first")
        strides.append(steps)
    base, nbytes, known, writable = _numpy_allocation(array, address)
    read_only = not array.flags.writeable
    memory = Memory(address, _dtype_name(array.dtype), itemsize, array.shape, tuple(strides), base,
                    nbytes, known, array, read_only=read_only, frozen=read_only and not writable)
    if base is None:
        _view_is_allocation(memory)
    return memory


def _numpy_allocation(array, address):
    """(address, bytes, known, writable) of the allocation below `array`."""
    root = array
    below = root.base
    strided = False
    while True:
        while isinstance(below, np.ndarray):
            root = below
            below = root.base
        # as_strided puts an object of its own between an array and the one it strides over.
        if type(below).__name__ != "DummyArray" or not isinstance(getattr(below, "base", None), np.ndarray):
            break
        below = below.base
        strided = True
    flags = root.flags
    writable = flags.writeable
    if strided:
        return _allocation_strided_over(array, address, of_numpy(root))
    if below is None:
        if root is not array:
            address = root.__array_interface__["data"][0]
        if flags.forc:
            return address, root.nbytes, True, writable
        return None, 0, False, writable
    torch_memory = _of_torch_owner(below)
    if torch_memory is not None:
        return torch_memory.base, torch_memory.nbytes, True, writable
    try:
        whole = np.frombuffer(memoryview(below).cast("B"), dtype=np.uint8)
    except (TypeError, ValueError, BufferError):
        return None, 0, False, writable
    return whole.__array_interface__["data"][0], whole.nbytes, True, writable


def _allocation_strided_over(array, address, root):
    """The allocation of `root`, over which as_strided made `array`."""
    reaches = [(size - 1) * step for size, step in zip(array.shape, array.strides)]
    low = address + sum(reach for reach in reaches if reach < 0)
    high = address + sum(reach for reach in reaches if reach > 0) + array.itemsize
    beyond = max(high - root.base - root.nbytes, root.base - low)
    if beyond > 0 and array.size:
        raise Error(f"an array that as_strided made, of shape {list(array.shape)} and byte strides {list(array.strides)}, "
                    f"reaches {beyond:,} bytes beyond the array that it was made from")
    return root.base, root.nbytes, root.known, not root.frozen


def _of_torch_owner(owner):
    if hasattr(owner, "untyped_storage"):
        return of_torch(owner)
    return None


def _view_is_allocation(memory):
    low, high = memory.extent()
    memory.base = low
    memory.nbytes = high - low
    memory.known = False


# --- torch ---------------------------------------------------------------------------------------

def of_torch(tensor):
    if tensor.device.type == "meta" or tensor.layout.__repr__() != "torch.strided":
        raise Error(f"a torch tensor on device {tensor.device} with layout {tensor.layout} has no "
                    "plain memory")
    dtype = str(tensor.dtype).split(".")[-1]
    storage = tensor.untyped_storage()
    memory = Memory(tensor.data_ptr(), dtype, tensor.element_size(), tuple(tensor.shape),
                    tuple(tensor.stride()), storage.data_ptr(), storage.nbytes(), True, tensor)
    low, high = memory.extent()
    if high > low and high - memory.base > memory.nbytes:
        raise Error(f"the tensor reaches {high - memory.base:,} bytes into its storage, which was resized to "
                    f"{memory.nbytes:,} bytes")
    # Pages that a launch touches travel. (A tensor's own device is what the program wants to hear.)
    if storage.device.type != "cpu":
        memory.stage = functools.partial(of_torch_storage, tensor)
    return memory


# --- other libraries -----------------------------------------------------------------------------

# Before 2.1, arrays from DLPack were always read-only.
_numpy_hides_writable = np is not None and tuple(map(int, np.__version__.split(".")[:2])) < (2, 1)


def of_dlpack(obj):
    try:
        array = np.from_dlpack(obj)
    except Exception as error:
        raise Error(f"an object of type {type(obj).__name__} gives no DLPack view on the CPU: {error}") \
            from error
    memory = of_numpy(array)
    memory.owner = (obj, array)
    if _numpy_hides_writable:
        memory.read_only = memory.frozen = False
    return memory


def of_cuda_array(obj):
    try:
        import torch
        tensor = torch.as_tensor(obj, device="cuda")
    except Exception as error:
        raise Error(f"an object of type {type(obj).__name__} lies in GPU memory "
                    "(__cuda_array_interface__), and torch with CUDA, which is needed to read it, is "
                    "not there; pass a numpy array") from error
    memory = of_torch(tensor)
    memory.known = False  # the interface tells the view only
    memory.read_only = bool(obj.__cuda_array_interface__["data"][1])
    memory.owner = (obj, tensor)
    return memory


def of_object(obj):
    """Any object with data_ptr() and dtype, and as much as it tells about its extent."""
    address = int(obj.data_ptr())
    dtype = str(obj.dtype).split(".")[-1]
    itemsize = _itemsize(obj, dtype)
    shape = getattr(obj, "shape", None)
    nbytes = getattr(obj, "nbytes", None)
    if callable(nbytes):
        nbytes = nbytes()
    if shape is None and nbytes is None:
        around = _memory_around(obj, address)
        if around is None:
            raise Error(f"an object of type {type(obj).__name__} has data_ptr() and dtype, but neither "
                        "shape nor nbytes: which memory it owns is unknown")
        rest = (around.base + around.nbytes - address) // itemsize
        memory = Memory(address, dtype, itemsize, (rest,), (1,), around.base, around.nbytes, True, obj)
        memory.stage = around.stage
        return memory
    if shape is None:
        shape = (int(nbytes) // itemsize,)
    shape = tuple(int(size) for size in shape)
    strides = _strides(obj, shape, itemsize)
    kind = type(obj).__name__
    if any(size < 0 for size in shape):
        raise Error(f"an object of type {kind} has the shape {list(shape)}: sizes cannot be negative")
    if len(strides) != len(shape):
        raise Error(f"an object of type {kind} contradicts itself: its shape {list(shape)} has "
                    f"{len(shape)} axes, its strides {list(strides)} have {len(strides)}")
    memory = Memory(address, dtype, itemsize, shape, strides, None, 0, False, obj)
    _view_is_allocation(memory)
    if nbytes is not None and memory.base == address:
        if int(nbytes) < memory.nbytes:
            raise Error(f"an object of type {kind} contradicts itself: its shape {list(shape)} with strides "
                        f"{list(strides)} spans {memory.nbytes:,} bytes, its nbytes says {int(nbytes):,}")
        memory.nbytes = int(nbytes)
        memory.known = True
    return memory


def _memory_around(obj, address):
    """The memory of the tensor that a wrapper has among its attributes, or whose address the program
    asked for before; None if `address` is in none."""
    from . import pointers

    owners = [value for value in getattr(obj, "__dict__", {}).values()
              if hasattr(value, "untyped_storage") or (np is not None and isinstance(value, np.ndarray))]
    for owner in (*owners, *pointers.owners_around(address)):
        memory = of(owner)
        if memory.base <= address < memory.base + memory.nbytes:
            return memory
    return None


def _itemsize(obj, dtype):
    for source in (obj, obj.dtype):
        size = getattr(source, "itemsize", None)
        if isinstance(size, int):
            return size
    if hasattr(obj, "element_size"):
        return int(obj.element_size())
    return _itemsize_of(obj.dtype, dtype)


def _itemsize_of(dtype, name):
    """Bytes of an element of `dtype`, a type of torch, numpy or Triton, or its name."""
    size = getattr(dtype, "itemsize", None)
    if isinstance(size, int):
        return max(size, 1)
    from triton._utils import canonicalize_dtype, get_primitive_bitwidth
    return max(get_primitive_bitwidth(canonicalize_dtype(name)) // 8, 1)


def _strides(obj, shape, itemsize):
    stride = getattr(obj, "stride", None)
    if callable(stride):
        return tuple(int(step) for step in stride())
    strides = getattr(obj, "strides", None)
    if strides is not None and not callable(strides):
        # numpy's convention: bytes
        return tuple(int(step) // itemsize for step in strides)
    return row_major(shape)


def _take_as(memory, itemsize):
    """The bytes of a view as elements of another size, as torch's view(dtype) takes them: along the last axis where
    they lie side by side and come out even, else as one axis of the whole elements behind the first."""
    old, high = memory.itemsize, memory.extent()[1]
    memory.itemsize = itemsize
    if old == itemsize:
        return
    *leading, last = memory.shape or (1,)
    *steps, step = memory.strides or (1,)
    if step == 1 and all(n * old % itemsize == 0 for n in (last, *steps)):
        memory.shape = (*leading, last * old // itemsize)
        memory.strides = (*(n * old // itemsize for n in steps), 1)
        return
    memory.shape, memory.strides = ((high - memory.address) // itemsize,), (1,)


# Triton's own names of types, where they differ from those of numpy and torch.
_TRITON_DTYPES = {
    "fp8e5": "float8_e5m2", "fp8e4nv": "float8_e4m3fn", "fp8e4b8": "float8_e4m3fnuz",
    "fp8e5b16": "float8_e5m2fnuz", "fp16": "float16", "bf16": "bfloat16", "fp32": "float32",
    "fp64": "float64", "int1": "bool",
}


def of(obj):
    """The memory of any tensor argument. Raises tilesight.Error with the reason if it has none."""
    if np is not None and isinstance(obj, np.ndarray):
        return of_numpy(obj)
    if hasattr(obj, "untyped_storage") and hasattr(obj, "layout"):  # wrappers may lack the latter
        return of_torch(obj)
    base = getattr(obj, "base", None)
    if base is not None and type(obj).__name__ == "TensorWrapper":  # triton.reinterpret
        memory = of(base)
        name = str(obj.dtype).split(".")[-1]
        memory.dtype = _TRITON_DTYPES.get(name, name)
        _take_as(memory, _itemsize_of(obj.dtype, name))
        return memory
    if hasattr(obj, "data_ptr"):
        return of_object(obj)
    if hasattr(obj, "__cuda_array_interface__"):
        return of_cuda_array(obj)
    if hasattr(obj, "__dlpack__"):
        return of_dlpack(obj)
    raise Error(f"an object of type {type(obj).__name__} is no tensor: it has none of data_ptr(), "
                "__dlpack__ and __cuda_array_interface__")
