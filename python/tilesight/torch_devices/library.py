"""Operators that a program registers for CUDA (torch.library) run on the tensors that count as CUDA's."""

import functools


_KEYS = {"CUDA": "CPU", "HIP": "CPU", "AutogradCUDA": "AutogradCPU", "AutogradHIP": "AutogradCPU"}


def install(torch):
    library = torch.library.Library
    plain = library.impl

    taken = {}  # (namespace, operator, key on the CPU) -> the key it was registered for first

    @functools.wraps(plain)
    def impl(self, op_name, fn, dispatch_key="", *args, **kwargs):
        key = _KEYS.get(dispatch_key, dispatch_key)
        if key in _KEYS.values():
            operator = (self.ns, op_name if isinstance(op_name, str) else str(op_name), key)
            first = taken.setdefault(operator, dispatch_key)
            if first != dispatch_key:  # one for each device: that of the first stays
                return None
        return plain(self, op_name, fn, key, *args, **kwargs)

    library.impl = impl
    if hasattr(torch.library, "custom_op"):
        torch.library.custom_op = _for_cpu_too(torch.library.custom_op)
    for name in ("register_kernel", "impl"):
        if hasattr(torch.library, name):
            setattr(torch.library, name, _types_first(getattr(torch.library, name)))
    definition = getattr(torch._library.custom_ops, "CustomOpDef", None)
    if definition is not None:
        registered = definition.register_kernel

        @functools.wraps(registered)
        def register_kernel(self, device_types, *args, **kwargs):
            return registered(self, _renamed(device_types), *args, **kwargs)

        definition.register_kernel = register_kernel


def _renamed(types):
    if isinstance(types, str):
        return {"cuda": "cpu", "hip": "cpu", "CUDA": "CPU"}.get(types, types)
    if types is None:
        return None
    return list(dict.fromkeys(_renamed(kind) for kind in types))


def _for_cpu_too(function):
    @functools.wraps(function)
    def wrapped(*args, device_types=None, **kwargs):
        return function(*args, device_types=_renamed(device_types), **kwargs)
    return wrapped


def _types_first(function):
    @functools.wraps(function)
    def wrapped(name, device_types="default", *args, **kwargs):
        return function(name, _renamed(device_types), *args, **kwargs)
    return wrapped
