"""Passes on IR text: `ts.opt`, and `@ts.pass_`, which makes a pass of a Python function.

    @ts.pass_(stage="ttir")
    def count_loads(module, *, least: int = 1):
        "say how many loads there are"
        loads = module.walk("tt.load")
        if len(loads) >= least:
            module.note(None, f"{len(loads)} loads")

    result = ts.opt(text, ["canonicalize", count_loads(least=2)])
    result.remarks
"""

import functools
import hashlib
import inspect
import json
import os
import pathlib
import sys
import traceback
import typing

from . import ir
from .engine import native
from .errors import Error

_INTEGER, _BOOLEAN, _STRING, _CHOICE = range(4)


class Pass:
    """A pass that is a Python function: what `@ts.pass_` gives. Called with options, it is the pass with these."""

    def __init__(self, function, name, stage):
        self.function = function
        self.name = name
        self.stage = stage
        self.summary = (inspect.getdoc(function) or "").partition("\n")[0]
        self.file = inspect.getsourcefile(function) or "<python>"
        self._raised = None
        self._options = [_option(parameter) for parameter in _parameters(function)]
        self.table = native().PassTable(self.name, self.summary, stage or "", self.file, [option for option, _ in self._options], self._run)
        functools.update_wrapper(self, function, updated=())

    def __call__(self, **options):
        names = {option[1]: option for option, _ in self._options}
        texts = []
        for key, value in options.items():
            option = key.replace("_", "-")
            if option not in names:
                raise Error(f"the pass '{self.name}' has no option '{key}'")
            text = _text(value)
            if '"' in text:
                raise Error(f"the option '{key}' of the pass '{self.name}' cannot hold a '\"'")
            texts.append(f'{option}="{text}"')
        return Configured(self, f"{self.name}{{{' '.join(texts)}}}" if texts else self.name)

    def __repr__(self):
        return f"<pass {self.name}>"

    def _run(self, context):
        """What the engine calls. None, or (message, place) of the exception that left the function."""
        self._raised = None
        host = native().host
        module = ir.Module(context, host.module(context))
        ask = {_INTEGER: host.option_integer, _BOOLEAN: lambda c, i: bool(host.option_boolean(c, i)), _STRING: host.option_string, _CHOICE: host.option_string}
        try:
            options = {parameter: ask[option[0]](context, place) for place, (option, parameter) in enumerate(self._options)}
            self.function(module, **options)
        except Exception as error:
            self._raised = error
            text = str(error) if isinstance(error, Error) else f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
            return " ".join(text.split()), self._place(error)
        return None

    def _place(self, error):
        """The innermost line of the user's own: not one of this package."""
        here = os.path.dirname(__file__)
        frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith(here)]
        return f" ({frames[-1].filename}:{frames[-1].lineno}, in {frames[-1].name})" if frames else ""

    def key(self):
        """What it is known by in caches: its source, with all of the file that it is in."""
        try:
            source = pathlib.Path(self.file).read_bytes()
        except OSError:
            source = inspect.getsource(self.function).encode()
        return hashlib.sha256(source).hexdigest()


class Configured:
    """A pass with its options."""

    def __init__(self, one, pipeline):
        self.one, self.pipeline, self.stage, self.name = one, pipeline, one.stage, one.name

    def __repr__(self):
        return f"<pass {self.pipeline}>"


def pass_(function=None, *, name=None, stage=None):
    """Decorator: makes a pass of `function(module, *, option=default, ...)`, which reads and edits a tilesight.ir.Module. The
    options are its keyword-only parameters: int, bool, str, typing.Literal["a", "b"], or typing.Annotated[int, range(1, 9)].
    An exception that leaves it, or IR that is not valid afterwards, undoes it. `stage` is the IR that it is for: "ttir",
    "ttgir", "tile", or None for any."""

    def make(function):
        return Pass(function, name or function.__name__.replace("_", "-"), stage)

    return make(function) if function is not None else make


def _parameters(function):
    given = list(inspect.signature(function).parameters.values())
    options = given[1:]
    if not given or given[0].kind not in (given[0].POSITIONAL_ONLY, given[0].POSITIONAL_OR_KEYWORD) or any(p.kind != p.KEYWORD_ONLY for p in options):
        raise Error(f"a pass takes the module, and options by keyword: def {function.__name__}(module, *, option=default)")
    hints = typing.get_type_hints(function, include_extras=True)
    return [(p, hints.get(p.name, type(p.default))) for p in options]


def _option(described):
    """The option of a parameter, as the engine wants it, and the parameter's name."""
    parameter, hint = described
    least, most, choices = -2**63, 2**63 - 1, []
    wrong = Error(f"the option '{parameter.name}' must be int, bool, str, Literal of strings or Annotated[int, range(...)], with a default that it takes")
    if parameter.default is parameter.empty:
        raise wrong
    if typing.get_origin(hint) is typing.Annotated:
        hint, bounds = hint.__origin__, hint.__metadata__[0]
        if hint is not int or not isinstance(bounds, range) or not len(bounds) or bounds.step != 1:
            raise wrong
        least, most = bounds[0], bounds[-1]
    if typing.get_origin(hint) is typing.Literal:
        kind, choices = _CHOICE, list(typing.get_args(hint))
    else:
        kind = {int: _INTEGER, bool: _BOOLEAN, str: _STRING}.get(hint)
    if kind is None or not all(isinstance(choice, str) for choice in choices):
        raise wrong
    return (kind, parameter.name.replace("_", "-"), "", _text(parameter.default), least, most, choices), parameter.name


def _text(value):
    return str(value).lower() if isinstance(value, bool) else str(value)


class Optimized(str):
    """IR text, with what the passes said: `remarks`, a list of dictionaries (docs/passes.md), and `changed`, the names of the
    passes that changed something."""

    remarks = ()
    changed = ()


def opt(what, passes=(), *, plugins=(), signature=None, constexprs=None, verify_each=True, isolate=False, timeout=60, name=None):
    """Runs passes and returns the IR text afterwards, an Optimized.

    what         IR text; a path of a file with it; a Report of a launch; or a @triton.jit function, of which Triton's front
                 end makes TTIR: with `signature` ("x": "*fp32", "n": "i32") and `constexprs` ("BLOCK": 64)
    passes       "name{option=value},other", a pass of @ts.pass_, or a list of these
    plugins      libraries, or Python files, with passes, besides the installed ones
    isolate      in a child process, where a pass may take `timeout` seconds: one that crashes is an error. Passes in Python
                 must then be in a file that is given as a plugin
    name         what the text is called in messages

    Raises tilesight.Error, with the line that `tilesight opt` prints, where a pass fails; nothing is half done."""
    text, file = _text_of(what, signature, constexprs)
    return run(text, name or file, passes, plugins, verify_each, isolate, timeout)


def run(text, file, passes, plugins=(), verify_each=True, isolate=False, timeout=60):
    """`opt` on text."""
    _use_python_plugins()
    pipelines, tables, own = [], [], []
    kinds = str, Pass, Configured
    passes = [passes] if isinstance(passes, kinds) else passes
    if not isinstance(passes, (list, tuple)) or not all(isinstance(one, kinds) for one in passes):
        raise Error(f"{passes!r} is neither a pass nor a list of passes: 'name{{option=value}}', or what @ts.pass_ gives")
    if isinstance(plugins, (str, os.PathLike)):
        plugins = [plugins]
    for one in passes:
        pipelines.append(one if isinstance(one, str) else one.name if isinstance(one, Pass) else one.pipeline)
        one = one.one if isinstance(one, Configured) else one
        if isinstance(one, Pass) and one not in own:
            own.append(one)
            tables.append(one.table)
    for one in own:
        one._raised = None
    try:
        after, remarks, reports = native().transform(text, file, pipelines, [str(path) for path in plugins], tables, verify_each, isolate, float(timeout))
    except Error as error:
        raised = next((one._raised for one in own if one._raised is not None), None)
        raise error from raised
    result = Optimized(after)
    result.remarks = json.loads(remarks)
    result.changed = [name for name, changed in reports if changed]
    return result


def _text_of(what, signature, constexprs):
    if (signature is not None or constexprs is not None) and not _is_kernel(what):
        raise Error("a signature and constexprs go with a @triton.jit function only")
    if isinstance(what, str):
        return what, "<text>"
    if isinstance(what, os.PathLike):
        try:
            return pathlib.Path(what).read_text(), str(what)
        except (OSError, UnicodeDecodeError) as error:
            raise Error(f"{what}: cannot be read: {error}") from error
    if _is_kernel(what):
        from .capture.triton import text_of_kernel

        return text_of_kernel(what, signature, constexprs), f"{what.__name__}.ttir"
    from .report import Report

    if isinstance(what, Report):
        return what.ir, f"{what.kernel}.ttir"
    raise Error(f"{what!r} is neither IR text nor a path, a Report, or what @triton.jit gives")


def _is_kernel(what):
    return hasattr(what, "arg_names") and hasattr(what, "run") and hasattr(what, "__name__")


def _use_python_plugins():
    """From now on `--plugin my.py` is a plugin, too; isolated, it runs in another process of this Python, with these paths."""
    _open_python_plugins()
    if sys.executable:
        program = f"import sys; sys.path = {sys.path!r}; from tilesight.__main__ import main; sys.exit(main(['isolated']))"
        native().isolate_python_with([sys.executable, "-c", program])


@functools.lru_cache(maxsize=None)
def _open_python_plugins():
    native().open_python_plugins_with(_open)


def _open(path):
    """(id, summary, tables) of the passes of a Python file."""
    import importlib.util

    path = os.path.abspath(path)
    name = "tilesight_plugin_" + hashlib.sha256(path.encode()).hexdigest()[:16]
    module = sys.modules.get(name)
    if module is None:
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        try:
            spec.loader.exec_module(module)
        except BaseException as error:
            del sys.modules[name]
            if not isinstance(error, (Exception, SystemExit)):
                raise
            at = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
            place = f" ({path}:{at[-1].lineno})" if at else ""
            raise Error(f"cannot be imported: {type(error).__name__}: {error}{place}") from error
    passes = [value for value in vars(module).values() if isinstance(value, Pass) and value.function.__module__ == name]
    if not passes:
        raise Error("has no function with @ts.pass_")
    return os.path.splitext(os.path.basename(path))[0], (module.__doc__ or "").partition("\n")[0], [one.table for one in passes]
