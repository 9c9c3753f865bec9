"""The hook into Triton: while it is installed, launches go to the engine instead of a device."""

import os
import sys
import threading

from . import autotune, block_pointers, calls, driver, gpus, grid as grids, pointers, problems, uncaught
from .arguments import ArrayHandle, adapt, original
from .triton import Backend, Specialiser
from .. import session
from ..errors import Error

_lock = threading.Lock()
_undo = []  # (owner, name, previous value), newest last


def installed():
    return bool(_undo)


def _patch(owner, name, value):
    _undo.append((owner, name, owner.__dict__[name]))
    setattr(owner, name, value)


def install():
    """Puts the hook in place. Triton is imported; nothing of it is changed on disk."""
    with _lock:
        if _undo:
            return
        from triton.runtime.jit import JITFunction

        _say_if_newer()
        _patch(JITFunction, "run", _hooked_run(JITFunction.run))
        autotune.install(_patch, lambda tuner: session.plan(_innermost(tuner)) is not None)
        driver.install(_patch)
        _accept_arrays_in_descriptors()
        _patch(sys, "excepthook", uncaught.hook(sys.excepthook, session.recorder.uncaught))
        _watch_interpreter()
        if "torch" in sys.modules:
            pointers.watch_torch(sys.modules["torch"])


NEWEST = (3, 9)  # the newest Triton that the tests have run with


def _say_if_newer():
    import triton

    try:
        version = tuple(map(int, triton.__version__.split(".")[:2]))
    except ValueError:
        return
    if version > NEWEST:
        session.recorder.note(f"Triton {triton.__version__} is newer than {NEWEST[0]}.{NEWEST[1]}, the newest that "
                              "Tilesight is tested with: what it does not know is reported as unknown")


def uninstall():
    """Takes the hook out again, newest change first."""
    with _lock:
        while _undo:
            owner, name, value = _undo.pop()
            setattr(owner, name, value)
        driver.uninstall()


def _innermost(kernel):
    """The JIT function (or plain function) below decorators."""
    while hasattr(kernel, "fn") and not hasattr(kernel, "params"):
        kernel = kernel.fn
    return kernel


def _hooked_run(native):
    def run(self, *args, grid, warmup, **kwargs):
        __tracebackhide__ = True  # pytest shows the user's frames
        plan = session.plan(self)
        if plan is None:
            driver.require_device()
            return native(self, *args, grid=grid, warmup=warmup, **kwargs)
        return _run(self, plan, args, kwargs, grid, warmup)

    run._tilesight = True
    return run


def _run(function, plan, args, kwargs, grid, warmup):
    __tracebackhide__ = True
    for pre_run_hook in function.pre_run_hooks:
        pre_run_hook(*args, **kwargs)
    pointers.launching.now = True
    try:
        return _launch(function, plan, args, kwargs, grid, warmup)
    finally:
        pointers.launching.now = False


def _launch(function, plan, args, kwargs, grid, warmup):
    __tracebackhide__ = True
    if getattr(function, "is_gluon", lambda: False)():
        plan.unsupported(function, "Gluon kernels cannot be executed yet")
        return None
    try:
        bound, kernel = Specialiser.of(function).bind(args, kwargs)
    except Exception as error:
        rejection = _rejection(function, plan, error, args, kwargs)
    else:
        rejection = None
    if rejection is not None:
        raise rejection
    if kernel.stand_in is None:
        kernel.stand_in = CompiledStandIn(kernel)
        block_pointers.tell(kernel.text, session.recorder.note)
    if not warmup:
        plan.launch(kernel, bound, grids.resolve(grid, bound, original), autotune.chosen())
    return kernel.stand_in


def _rejection(function, plan, error, args, kwargs):
    """Reports a launch that Triton does not accept; the exception for the program."""
    if not problems.in_front_end(error):
        refusal = error if isinstance(error, Error) else calls.refusal(function, error, args, kwargs)
        place = calls.place()
        if refusal is not None and place is not None:
            plan.rejected(function, refusal, refusal is not error, place, str(refusal), "")
            return refusal
    *place, message = problems.describe(function, error, (*args, *kwargs.values()))
    plan.rejected(function, error, True, place,
                  f"kernel {function.__name__} is rejected by Triton: {message}",
                  f"change the kernel there; it was compiled for {gpus.chosen().name}, and --like names another GPU")
    uncaught.forget_frames(error)
    return error


class CompiledStandIn:
    """What a launch or warmup returns in place of Triton's CompiledKernel.

    `asm` has the front end's text. The figures that only a device's compiler knows (registers,
    shared memory) are those of a small kernel, so that programs which compute an occupancy go on.
    """

    n_regs = 32
    n_spills = 0
    n_max_threads = 1024

    def __init__(self, kernel):
        self._kernel = kernel
        self.name = kernel.name
        self.asm = {"ttir": kernel.text, "source": kernel.text}
        self.metadata = _Metadata(kernel)
        self.function = None

    def _init_handles(self):
        pass

    def result(self):
        return self

    def __getitem__(self, grid):
        """As Triton's: the launch takes the values of all parameters, or of all but constexprs, in order."""
        kernel = self._kernel

        def runner(*args, stream=None):
            parameters = kernel.function.params
            names = [p.name for p in parameters]
            if len(args) != len(names):
                names = [p.name for p in parameters if not p.is_constexpr]
            if len(args) != len(names):
                raise Error(f"{self.name}: a compiled kernel takes {len(parameters)} arguments "
                            f"(constexprs too) or {len(names)}, not {len(args)}")
            given = dict(zip(names, map(adapt, args)))
            plan = session.plan(kernel.function)
            if plan is None:
                driver.require_device()
            bound = {p.name: given.get(p.name) for p in parameters}
            plan.launch(kernel, bound, grids.resolve(tuple(grid), bound, original), None)

        return runner


class _Metadata:
    def __init__(self, kernel):
        options = kernel.config["options"]
        self.name = kernel.name
        self.shared = 1024
        self.num_warps = options.get("num_warps", 4)
        self.num_stages = options.get("num_stages", 3)
        self.num_ctas = options.get("num_ctas", 1)
        self.target = Backend.shared().target


def _accept_arrays_in_descriptors():
    """Host descriptors ask their base for data_ptr() and stride(), which numpy arrays lack."""
    try:
        from triton.tools.tensor_descriptor import TensorDescriptor
    except ImportError:
        return
    check, from_tensor = TensorDescriptor.__post_init__, TensorDescriptor.from_tensor

    def post_init(self):
        base = self.base
        if not hasattr(base, "data_ptr") and hasattr(base, "__array_interface__"):
            self.base = ArrayHandle(base, base.__array_interface__["data"][0], _NumpyType(base.dtype))
            try:
                check(self)
            finally:
                self.base = base
        else:
            check(self)

    def from_array(tensor, block_shape, *args, **kwargs):
        if not hasattr(tensor, "stride") and hasattr(tensor, "__array_interface__"):
            strides = [step // tensor.itemsize for step in tensor.strides]
            return TensorDescriptor(tensor, list(tensor.shape), strides, block_shape, *args, **kwargs)
        return from_tensor(tensor, block_shape, *args, **kwargs)

    _patch(TensorDescriptor, "__post_init__", post_init)
    _patch(TensorDescriptor, "from_tensor", staticmethod(from_array))


class _NumpyType:
    """A numpy dtype with what Triton asks of torch's."""

    def __init__(self, dtype):
        self.name = str(dtype)
        self.itemsize = dtype.itemsize
        self.is_floating_point = dtype.kind == "f" or "float" in self.name

    def __str__(self):
        return self.name


def _watch_interpreter():
    """Kernels that Triton's own interpreter runs (TRITON_INTERPRET=1) are not checked: say so."""
    from triton.runtime.interpreter import InterpretedFunction

    interpreted_run = InterpretedFunction.run

    def run(self, *args, **kwargs):
        session.interpreted(self.fn)
        return interpreted_run(self, *args, **kwargs)

    _patch(InterpretedFunction, "run", run)


def switch_interpreter_off():
    """Before Triton is imported: its interpreter would hide the kernels. True if it was on."""
    on = os.environ.get("TRITON_INTERPRET", "0").lower() in ("1", "true", "yes", "on")
    if on:
        del os.environ["TRITON_INTERPRET"]
    return on
