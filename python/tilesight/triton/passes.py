"""Tilesight's passes in Triton's own compilation.

The module of a stage is written as text, goes through the passes, and is read again: no symbol of LLVM is needed, and
no part of Triton is changed on disk. Passes on TTIR run on the front end's module, inlined by Triton, before anything of
`make_ttir` has folded it. Passes on TTGIR run where a compiler would have them: after dot operands are optimised, before
loops are pipelined; for that, `make_ttgir` is compiled again with one more statement.
"""

import ast
import hashlib
import inspect
import os
import pathlib
import re
import tempfile
import textwrap

from ..errors import Error
from ..passes import Configured, Pass, run

_AFTER = "add_optimize_dot_operands"  # what stands before passes on TTGIR


class Installed:
    """Passes that are in place. `remarks` holds what they said, as dictionaries; `remove()` takes them out again."""

    def __init__(self, ttir, ttgir, plugins, previous, isolate=False, timeout=60):
        self.ttir, self.ttgir, self.plugins = ttir, ttgir, plugins
        self.isolate, self.timeout = isolate, timeout
        self.remarks = []
        self._previous = previous
        self._always_compile = None  # what it was, where it was changed

    def remove(self):
        from triton import knobs

        if knobs.runtime.add_stages_inspection_hook == self._hook:
            knobs.runtime.add_stages_inspection_hook = self._previous
        if self._always_compile is not None:
            knobs.compilation.always_compile = self._always_compile
            self._always_compile = None

    def key(self):
        """What Triton's caches know these passes by: their names, options, and the bytes of the libraries."""
        digest = hashlib.sha256("\n".join(["tilesight", *map(_key, self.ttir), "-", *map(_key, self.ttgir)]).encode())
        for path in _libraries(self.plugins):
            digest.update(path.read_bytes())
        return digest.hexdigest()

    def _hook(self, backend=None, stages=None, options=None, language=None, capability=None):
        before = self._previous(backend, stages, options, language, capability) if self._previous else None
        if stages is not None:
            if self.ttir and "ttir" in stages:
                stages["ttir"] = self._with_ttir(stages["ttir"])
            if self.ttgir and "ttgir" in stages:
                stages["ttgir"] = self._with_ttgir(backend, options, capability)
        key = self.key()
        # Triton 3.7 and newer ask for a key; an earlier hook's is a part of it.
        return (before[0] + key, before[1] + key) if isinstance(before, tuple) else (key, key)

    def _with_ttir(self, make_ttir):
        def stage(module, metadata):
            from triton._C.libtriton import ir, passes

            manager = ir.pass_manager(module.context)
            passes.common.add_inliner(manager)
            _run(manager, module)
            return make_ttir(self._through(module, self.ttir, "ttir"), metadata)

        return stage

    def _with_ttgir(self, backend, options, capability):
        make_ttgir = _with_a_stop(type(backend), lambda module: self._through(module, self.ttgir, "ttgir"))
        return lambda module, metadata: make_ttgir(module, metadata, options, capability)

    def _through(self, module, passes, extension):
        from triton._C.libtriton import ir

        with tempfile.TemporaryDirectory(prefix="tilesight-") as folder:
            result = os.path.join(folder, "out." + extension)
            text = run(str(module), f"<{extension} of Triton>", passes, self.plugins, isolate=self.isolate, timeout=self.timeout)
            self.remarks += text.remarks
            pathlib.Path(result).write_text(text)
            changed = ir.parse_mlir_module(result, module.context)
            changed.context = module.context
            return changed


def install_passes(passes, stage=None, plugins=(), isolate=False, timeout=60):
    """Runs `passes` ("name{option=value}", or passes of @ts.pass_) in every compilation by Triton from now on. `stage` is
    "ttir" or "ttgir"; by default, passes run where they say, passes on layouts on TTGIR, all others on TTIR. `plugins` are
    libraries, or Python files, besides the installed ones; with `isolate`, they run in a child process, where a pass may take
    `timeout` seconds. Returns an Installed. On 3.6, whose caches do not ask what a hook does, everything is compiled anew while
    it is installed."""
    import triton
    from triton import knobs

    ttir, ttgir = [], []
    for text in [passes] if isinstance(passes, (str, Pass, Configured)) else passes:
        where = stage or getattr(text, "stage", None) or ("ttgir" if "layout" in _name(text) else "ttir")
        if where not in ("ttir", "ttgir"):
            raise Error(f"there is no stage {where!r}: ttir or ttgir")
        (ttgir if where == "ttgir" else ttir).append(text)
    if not hasattr(knobs.runtime, "add_stages_inspection_hook"):
        raise Error(f"Triton {triton.__version__} has no hook for its stages: 3.6 has")
    installed = Installed(ttir, ttgir, [str(path) for path in plugins], knobs.runtime.add_stages_inspection_hook, isolate, timeout)
    knobs.runtime.add_stages_inspection_hook = installed._hook
    if tuple(map(int, triton.__version__.split(".")[:2])) < (3, 7):
        installed._always_compile = knobs.compilation.always_compile
        knobs.compilation.always_compile = True
    return installed


def _name(one):
    return one.split("{")[0] if isinstance(one, str) else one.name


def _key(one):
    """What a pass is known by: its name and options, and of one in Python the source, too."""
    if isinstance(one, str):
        return one
    return f"{one.name} {one.key()}" if isinstance(one, Pass) else f"{one.pipeline} {one.one.key()}"


def _run(manager, module):
    """Triton 3.6 and newer want a name."""
    manager.run(module, "tilesight")


def _libraries(plugins):
    """The files that a run may load, in order."""
    from .. import engine

    places = list(plugins) + os.environ.get("TILESIGHT_PLUGIN_PATHS", "").split(os.pathsep)
    places.append(pathlib.Path(engine.__file__).parent / "plugins")
    found = []
    for place in filter(None, places):
        path = pathlib.Path(place)
        found += sorted(path.glob("*.so")) if path.is_dir() else [path] if path.is_file() else []
    return found


def _with_a_stop(backend, through):
    """make_ttgir of a backend, with the module going through `through` after the first statement that optimises dot
    operands. Raises where there is none."""
    function = backend.make_ttgir
    function = getattr(function, "__func__", function)
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    body = tree.body[0].body
    tree.body[0].decorator_list = []
    at = next((i for i, statement in enumerate(body) if _AFTER in ast.unparse(statement) and isinstance(statement, ast.Expr)), None)
    if at is None:
        raise Error(f"{backend.__module__}.make_ttgir has no {_AFTER}: passes on TTGIR do not know where to run")
    manager = re.match(r".*?\(\s*(\w+)", ast.unparse(body[at])).group(1)
    module = function.__code__.co_varnames[0]
    body[at + 1:at + 1] = ast.parse(
        f"__tilesight_run({manager}, {module})\n{module} = __tilesight_through({module})\n"
        f"{manager} = ir.pass_manager({module}.context)\n{manager}.enable_debug()").body
    space = dict(function.__globals__, __tilesight_run=_run, __tilesight_through=through)
    exec(compile(ast.fix_missing_locations(tree), inspect.getfile(function), "exec"), space)
    return space[function.__name__]
