"""From a launch of a JIT function to MLIR text, without driver, GPU or Triton's compiler.

Triton's own binder specialises the arguments, and its own front end writes the text; what comes
after (passes, ptxas) is never run.
"""

import threading

from . import arguments, block_pointers, cache, gpus, sources
from ..errors import Error

_compiling = threading.Lock()

# Options that only choose how a device runs the kernel, with values that keep the text closest to
# what the user wrote: no inserted overflow checks (the engine judges overflow itself), asserts kept.
_FIXED_OPTIONS = {"debug": True, "sanitize_overflow": False}


def _ask_without_torch(backend):
    """AMD's backend up to Triton 3.7 imports torch to ask whether a tensor has less than 2 GB."""
    original = backend.is_within_2gb

    def is_within_2gb(arg):
        try:
            return original(arg)
        except ModuleNotFoundError as error:
            if error.name != "torch":
                raise
            return False

    backend.is_within_2gb = staticmethod(is_within_2gb)


class Backend:
    """What the front end needs of a Triton back end; made once."""

    _shared = None

    def __init__(self):
        import triton
        from triton.backends.compiler import GPUTarget
        from triton.compiler import ASTSource, make_backend
        from triton.runtime.jit import create_function_from_signature

        self.version = triton.__version__
        gpu = gpus.chosen()
        self.target = GPUTarget(gpu.backend, gpu.arch, gpu.warp)
        self.backend = make_backend(self.target)
        if gpu.backend == "hip":
            _ask_without_torch(type(self.backend))
        self.source = ASTSource
        self.make_binder = create_function_from_signature

    @classmethod
    def shared(cls):
        if cls._shared is None:
            cls._shared = cls()
        return cls._shared

    @property
    def target_name(self):
        return f"{self.target.backend}:{self.target.arch}"


class Specialisation:
    """One kernel for one kind of arguments: its text and what the engine needs to know."""

    __slots__ = ("name", "function", "text", "file", "layout", "config", "sources", "native", "globals", "stand_in",
                 "gives_addresses")

    def __init__(self, name, function, text, file, layout, config, source_texts, used_globals):
        self.name = name
        self.function = function
        self.text = text
        self.file = file
        self.layout = layout
        self.config = config          # dict: constexprs and options
        self.sources = source_texts
        self.globals = used_globals   # [(name, value, dict of globals)]
        self.native = None            # the engine's kernel, once compiled
        self.stand_in = None          # what launches return
        # It may store addresses of its arguments where a later launch finds them.
        self.gives_addresses = "tt.ptr_to_int" in text or "!tt.ptr<!tt.ptr" in text

    def check_globals(self):
        """Triton refuses a launch whose captured globals changed, and so does this."""
        missing = object()
        for name, value, space in self.globals:
            now = space.get(name, missing)
            if now is not value and now != value:
                raise RuntimeError(f"Global variable {name} has changed since we compiled this kernel, "
                                   f"from {value} to {now}")


class Specialiser:
    """Binds the arguments of one JIT function and finds, or makes, its specialisation."""

    def __init__(self, function):
        self.function = function
        self.source = function.src
        self.backend = Backend.shared()
        self.binder = self.backend.make_binder(function.signature, function.params,
                                               self.backend.backend)
        self.constants = [p.name for p in function.params if p.is_constexpr]
        self.known = {}

    @classmethod
    def of(cls, function):
        state = function.__dict__.get("_tilesight_specialiser")
        if state is None or state.source is not function.src:
            state = function.__dict__["_tilesight_specialiser"] = cls(function)
        return state

    def bind(self, args, kwargs):
        """(bound: name -> adapted value, specialisation). Raises what Triton raises."""
        args = [arguments.adapt(value) for value in args]
        kwargs = {name: arguments.adapt(value) for name, value in kwargs.items()}
        kwargs.update(_FIXED_OPTIONS)
        bound, specialization, options = self.binder(*args, **kwargs)
        key = (tuple(specialization), str(options),
               tuple([type(bound[name]) for name in self.constants]))
        try:
            found = self.known.get(key)
        except TypeError:  # an unhashable constexpr
            key = str(key)
            found = self.known.get(key)
        if found is None:
            with _compiling:
                found = self.known.get(key)
                if found is None:
                    found = self.known[key] = self._make(bound, specialization, options, kwargs)
        if found.globals:
            found.check_globals()
        return bound, found

    def _make(self, bound, specialization, extra, kwargs):
        function, shared = self.function, self.backend
        if "enable_fp_fusion" not in kwargs:
            # It does not touch the text; unset, Triton 3.9 warns about its default.
            kwargs = {**kwargs, "enable_fp_fusion": False}
        options, signature, constants, attributes = function._pack_args(
            shared.backend, kwargs, bound, specialization, extra)
        layout = arguments.Layout(signature, list(bound.values()), attributes)
        function_key = function.cache_key  # also finds the globals that the kernel uses
        key = self._disk_key(function_key, signature, constants, attributes, options)
        text = cache.load(key) if key else None
        if text is None or not sources.all_there(text):
            text = block_pointers.marked(lambda: self._front_end(signature, constants, attributes, options))
            if key:
                cache.store(key, text)
        config = {"constexprs": {p.name: p.fixed[2] for p in layout.parameters if p.fixed},
                  "options": {name: kwargs[name] for name in ("num_warps", "num_stages", "num_ctas")
                              if name in kwargs}}
        used = [(name, value, space)
                for (name, _), (value, space) in function.used_global_vals.items()]
        return Specialisation(function.__name__, function, text, f"{function.__name__}.ttir", layout,
                              config, sources.collect(text, [function]), used)

    def _disk_key(self, function_key, signature, constants, attributes, options):
        """None if a constant has no text that is the same in every process."""
        parts = [self.backend.version, self.backend.target_name, function_key,
                 self.function.fn.__code__.co_filename, str(signature), str(attributes)]
        if block_pointers.version():
            parts.append(f"block pointers: {block_pointers.version()}")
        for path, value in sorted(constants.items()):
            stable = _stable_text(value)
            if stable is None:
                return None
            parts.append(f"{path}={stable}")
        parts.append(str(sorted((name, str(value)) for name, value in vars(options).items()
                                if name not in ("extern_libs", "arch", "ptx_version"))))
        return cache.key_of(parts)

    def _front_end(self, signature, constants, attributes, options):
        from triton._C.libtriton import ir

        shared = self.backend
        context = ir.context()
        ir.load_dialects(context)
        shared.backend.load_dialects(context)
        source = shared.source(self.function, signature, constants, attributes)
        module = source.make_ir(shared.target, options,
                                shared.backend.get_codegen_implementation(options),
                                shared.backend.get_module_map(), context)
        return module.str()


def text_of_kernel(function, signature, constexprs):
    """TTIR of a JIT function by Triton's front end. `signature` has a type for each parameter ("*fp32", "i32"), `constexprs` a
    value for those that are constants. Raises Error for parameters that have neither, else what Triton raises."""
    if signature is None:
        raise Error(f"{function.__name__} needs a signature: signature={{\"x\": \"*fp32\", \"n\": \"i32\"}}, constexprs={{\"BLOCK\": 64}}")
    constants = dict(constexprs or {})
    wrong = sorted(({*signature} | {*constants}) - {*function.arg_names})
    if wrong:
        raise Error(f"{function.__name__} has no parameter {', '.join(wrong)}; it has {', '.join(function.arg_names)}")
    for parameter in function.params:
        if parameter.name not in signature and parameter.name not in constants and parameter.has_default:
            constants[parameter.name] = parameter.default
    missing = [name for name in function.arg_names if name not in constants and signature.get(name, "constexpr") == "constexpr"]
    if missing:
        raise Error(f"{function.__name__} has parameters without a type or a value: {', '.join(missing)}")
    types = {name: "constexpr" if name in constants else signature[name] for name in function.arg_names}
    specialiser = Specialiser.of(function)
    options = specialiser.backend.backend.parse_options({**_FIXED_OPTIONS, "enable_fp_fusion": False})
    with _compiling:
        return specialiser._front_end(types, constants, {}, options)


def _stable_text(value):
    """A text that two processes give for the same constant, or None."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return f"{type(value).__name__}:{value!r}"
    kind = type(value).__name__
    if kind == "constexpr":
        return _stable_text(value.value)
    if hasattr(value, "cache_key"):  # a JIT function
        return f"jit:{value.cache_key}"
    if kind == "dtype" and hasattr(value, "name"):
        return f"dtype:{value.name}"
    if isinstance(value, (tuple, list)):
        inner = [_stable_text(item) for item in value]
        return None if None in inner else f"{kind}({','.join(inner)})"
    return None
