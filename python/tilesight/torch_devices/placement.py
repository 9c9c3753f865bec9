"""Which tensors the program has put on its GPU.

Their memory is the CPU's in truth. Every storage is marked "cuda" or "cpu"; views share their storage's
mark, and a dispatch mode gives the results of every operation the mark of its operands, also in autograd's
backward. A storage without a mark (made inside of an operator written in Python, or by C++ on its own)
counts as cuda once the program has asked for a GPU.
"""

import functools
import re
import threading

_GPU = re.compile(r"(cuda|hip)(:\d+)?")
_MARK = "_tilesight_place"


class Placement:
    def __init__(self, torch, first_use):
        self.torch = torch
        self._first_use = first_use
        self._noticed = False
        self.drawing = lambda generator: generator  # the one that draws in its place (generators.py)
        self._plain_device = torch._C.TensorBase.device.__get__
        self.cpu = torch.device("cpu")
        self.gpu = torch.device("cuda", 0)

    def _device(self, tensor):
        """Where the tensor really is. Under a torch function mode, `device` of torch's own base class comes
        back here; a storage's does not."""
        try:
            return tensor.untyped_storage().device
        except (NotImplementedError, RuntimeError):
            return self._plain_device(tensor)

    def notice(self):
        """The program has asked for a GPU."""
        if not self._noticed:
            self._noticed = True
            self._first_use()

    def is_gpu(self, device):
        """Does this argument name a GPU? torch.device, str, or an index."""
        if isinstance(device, str):
            return _GPU.fullmatch(device) is not None
        if isinstance(device, self.torch.device):
            return device.type in ("cuda", "hip")
        return False

    def of(self, tensor):
        """"cuda", or the type of the device that the tensor really is on."""
        real = self._device(tensor).type
        if real != "cpu":
            return real
        try:
            mark = getattr(tensor.untyped_storage(), _MARK, None)
        except (NotImplementedError, RuntimeError):  # sparse and other layouts
            mark = getattr(tensor, _MARK, None)
        return mark or ("cuda" if self._noticed else "cpu")

    def put(self, value, place):
        """Marks a tensor, or those in a tuple, list or dict; returns `value`."""
        if isinstance(value, self.torch.Tensor):
            if self._device(value).type == "cpu":
                self._mark(value, place)
        elif isinstance(value, (tuple, list)):
            for item in value:
                self.put(item, place)
        elif isinstance(value, dict):
            for item in value.values():
                self.put(item, place)
        return value

    @staticmethod
    def _mark(tensor, place):
        try:
            setattr(tensor.untyped_storage(), _MARK, place)
        except (NotImplementedError, RuntimeError):
            setattr(tensor, _MARK, place)

    # --- what tensors answer ---------------------------------------------------------------------

    def install(self):
        tensor = self.torch.Tensor
        device = self._device
        of, gpu = self.of, self.gpu

        def reported(self):
            real = device(self)
            return gpu if real.type == "cpu" and of(self) == "cuda" else real

        tensor.device = property(reported)
        tensor.is_cuda = property(lambda self: reported(self).type == "cuda")
        tensor.is_cpu = property(lambda self: reported(self).type == "cpu")
        tensor.get_device = lambda self: reported(self).index if reported(self).type == "cuda" else -1
        self._follow_operations()

    def _follow_operations(self):
        from torch.utils._python_dispatch import TorchDispatchMode

        placement = self

        class Follow(TorchDispatchMode):
            @classmethod
            def _should_skip_dynamo(cls):
                return False  # it would import all of torch._dynamo

            def __torch_dispatch__(self, func, types, args=(), kwargs=None):
                place = _place_of(placement, args, kwargs)  # before: set_ and its like change operands
                if kwargs and kwargs.get("generator") is not None:
                    kwargs = {**kwargs, "generator": placement.drawing(kwargs["generator"])}
                result = func(*args, **(kwargs or {}))
                if place is None and func.namespace == "aten":
                    place = "cpu"  # made of nothing: functions.py marks what was asked to be on cuda
                if place is not None:
                    placement._pass_on(result, place)
                return result

        self._follow = Follow()  # torch does not keep it alive by itself
        self._follow.__enter__()  # for good, in this thread
        start = threading.Thread._bootstrap_inner

        @functools.wraps(start)
        def in_new_thread(thread):
            follow = Follow()
            follow.__enter__()
            try:
                return start(thread)
            finally:
                # Left in the thread, torch would drop it after the thread's end, when Python may be gone.
                follow.__exit__(None, None, None)

        threading.Thread._bootstrap_inner = in_new_thread

    def _pass_on(self, result, place):
        """Marks results that have no mark yet: those that are no views."""
        for value in _tensors_in((result,), self.torch.Tensor):
            if self._device(value).type != "cpu":
                continue
            try:
                storage = value.untyped_storage()
            except (NotImplementedError, RuntimeError):
                storage = value
            if getattr(storage, _MARK, None) is None:
                setattr(storage, _MARK, place)


def _place_of(placement, args, kwargs):
    """"cuda" if an operand is there, "cpu" if all are on the CPU, None without operands."""
    place = None
    for value in _tensors_in((args, kwargs), placement.torch.Tensor):
        here = placement.of(value)
        if here == "cuda":
            return here
        place = "cpu"
    return place


def _tensors_in(values, tensor):
    for value in values:
        if isinstance(value, tensor):
            yield value
        elif isinstance(value, (tuple, list)):
            yield from _tensors_in(value, tensor)
        elif isinstance(value, dict):
            yield from _tensors_in(value.values(), tensor)
