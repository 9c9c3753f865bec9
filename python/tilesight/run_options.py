"""The options of `tilesight run`."""

import dataclasses
import os
import re

from .config import gpu, project_settings, seconds, size
from .engine import native

USAGE = """\
usage: tilesight run [options] (script.py | -m module | pytest ... | -- command) [args]

Runs a program unmodified, checks every Triton kernel launch in it (child processes included), and
reports on standard error when it has ended. No GPU is needed: kernels run on the CPU, and their
results are where the program expects them.

  --client C,...          clients, separated by commas (default: sanitizer)
                            sanitizer  out-of-bounds accesses, misalignment, failed asserts
                            tracer     records every access
                            traffic    prints the bytes that each line reads and writes
                            null       executes on the CPU and checks nothing
                            off        as null; ts.config.client = "off" leaves kernels to the GPU
                            LIB:NAME   the client NAME of a plugin, a shared library
  --plugin LIB            a library with clients; repeat for several
  --tool NAME             a group of clients: memcheck
  --kernel-name NAME      only kernels of this name, or matching regex:EXPRESSION
  --launch-skip N         leave out the first N matching launches
  --launch-count N        check only N matching launches
  --ignore KIND,...       kinds of findings not to report
  --print-limit N         findings in the text report; 0: all (default 50)
  --fail-on LEVEL         error (default), warning or never; unknown beside them, as in error,unknown,
                          for what could not be checked
  --fail-fast             end the program after the first launch with an error
  --error-exitcode N      exit status with findings (default 1)
  --baseline FILE         accept the findings and unknowns of this file: they are counted, and no more
  --write-baseline FILE   write what is found to this file, for --baseline
  --json FILE             also write the report as JSON (-: standard output)
  --sarif FILE            also write the report as SARIF 2.1.0, for code scanning (-: standard output)
  --format FORMAT         text (default), or github: workflow commands, and a table in the step's summary
  -o FILE                 write the report to this file (-: standard output), not to standard error
  --save FILE.tsb|DIR     keep launches with findings as a bundle, or as one a launch in a folder;
                          bundles hold the kernels' data and source
  --save-all              keep all launches
  --trace DIR             record every launch as tables in a folder, new or empty, with the launches themselves:
                          tilesight view, show, info and diff take it
  --save-limit SIZE       bytes that may be kept (default 2G)
  --data WHAT             of what is kept, the data that bundles carry: all (default), indices (tensors of
                          integers only) or none; zeros stand for the rest
  --threads N             threads of the engine (default: all cores)
  --like GPU              the GPU that the program is told of where there is none (default h100)
  --num-sms N             multiprocessors: what the program is told, and how many programs may be
                          resident at once where they wait for each other
  --seed N                the order in which programs that use atomics, or wait, take turns: the same for
                          the same number; 0: that of their numbers (default)
  --timeout SECONDS       stop a launch that takes longer: it is unknown, with the line it stood at
  --all-configs           check every configuration of autotuned kernels, not only the first
  --no-block-pointers     leave tl.make_block_ptr as Triton has it; Triton 3.9 and later have removed it, and
                          it works here as in 3.7
  --address-only          compute addresses and masks only: fast, outputs are not computed
  --quiet                 print findings only

What is set in [tool.tilesight] of pyproject.toml holds beneath the command line and TILESIGHT_*.

Exit status: the program's own, or 1 with findings, 2 for bad usage or input, 3 where something was
not checked or no kernel was launched, 4 for an internal error.

Example:
  tilesight run examples/triton/attention.py
  tilesight run --json report.json pytest tests -q
"""


STOP = "stop"  # the file by which processes tell each other to end, with --fail-fast


@dataclasses.dataclass
class Options:
    client: list = None
    plugin: list = None
    ignore: list = dataclasses.field(default_factory=list)
    kernel_name: str = None  # an expression
    kernel_text: str = None  # as it was given
    launch_skip: int = 0
    launch_count: int = None
    print_limit: int = 50
    fail_on: str = "error"
    error_exitcode: int = 1
    baseline: str = None
    write_baseline: str = None
    json: str = None
    sarif: str = None
    format: str = "text"
    output: str = None
    save: str = None
    save_all: bool = False
    trace: str = None
    save_limit: int = 2 << 30
    data: str = "all"
    threads: int = None
    num_sms: int = None
    seed: int = None
    timeout: float = None
    like: str = None
    all_configs: bool = False
    no_block_pointers: bool = False
    address_only: bool = False
    quiet: bool = False
    fail_fast: bool = False
    project: dict = dataclasses.field(default_factory=dict)  # [tool.tilesight]: beneath ts.config, TILESIGHT_*
    prefix: str = "--"  # of the options that notes name

    @property
    def accepted(self):
        """What the session leaves out or accepts, as native Session takes it."""
        return {"ignore": [*self.ignore, *self.project.get("ignore", [])],
                "ignore_rules": self.project.get("ignore_rules", []),
                "baseline": self.baseline or "", "write_baseline": self.write_baseline or ""}

    @property
    def _accepted_anywhere(self):
        """The same for processes in other folders."""
        names = ("baseline", "write_baseline")
        return {**self.accepted, **{name: _fixed(getattr(self, name)) or "" for name in names}}

    @property
    def reports(self):
        """The reports that are to be written, as Session.write_reports takes them."""
        return {"format": self.format, "json": self.json or "", "sarif": self.sarif or "",
                "output": self.output or "", "write_baseline": self.write_baseline or ""}

    def fix_files(self):
        """Files stay where they are now, wherever the process goes."""
        for field in ("baseline", "write_baseline", "json", "sarif", "output", "save", "trace"):
            setattr(self, field, _fixed(getattr(self, field)))

    @property
    def partial(self):
        """Are only some launches looked at?"""
        return bool(self.kernel_name or self.launch_skip or self.launch_count is not None)

    @property
    def save_is_folder(self):
        return self.save is not None and not self.save.endswith(".tsb")

    def for_processes(self, folder):
        """What the program's processes need to know: tilesight.config's command line."""
        return {
            "client": self.client,
            "kernel_name": self.kernel_name,
            "launch_skip": self.launch_skip,
            "launch_count": self.launch_count,
            "threads": self.threads,
            "num_sms": self.num_sms,
            "seed": self.seed,
            "timeout": self.timeout,
            "like": self.like,
            "all_configs": self.all_configs,
            "no_block_pointers": self.no_block_pointers,
            "address_only": self.address_only or None,
            "project": self.project,
            "fail_fast": {"stop": os.path.join(folder, STOP), "accepted": self._accepted_anywhere}
            if self.fail_fast else None,
            # Bundles that are to become one file are merged at the end.
            "save": (os.path.abspath(self.save) if self.save_is_folder else folder) if self.save else None,
            "save_name": None if self.save is None or self.save_is_folder else self.save,
            "save_all": self.save_all,
            "trace": os.path.abspath(self.trace) if self.trace else None,
            "trace_name": self.trace,
            "save_limit": self.save_limit,
            "data": self.data,
        }


def _fixed(file):
    """The absolute path of a file; "-" and None stay."""
    return os.path.abspath(file) if file and file != "-" else file


def _number(least, most=None):
    def parse(option, text):
        try:
            value = int(text)
        except ValueError:
            value = None
        if value is None or value < least or (most is not None and value > most):
            end = f" to {most}" if most is not None else ""
            raise ValueError(f"{option} is {text!r}; it must be a whole number from {least}{end}")
        return value
    return parse


def _clients(option, text):
    return [_client(name.strip()) for name in text.split(",") if name.strip()]


def _client(name):
    """LIBRARY:NAME with the library's absolute path, since processes may work elsewhere; other names stay."""
    library, colon, client = name.rpartition(":")
    return f"{os.path.abspath(library)}:{client}" if colon and library else name


def _plugin(option, text):
    path = os.path.abspath(_file(option, text))
    if path.endswith(".py"):
        raise ValueError(f"{option} {text}: a library with clients is needed; passes in Python are for `tilesight opt` and `check --pass`")
    problem = native().plugin_problem(path)
    if problem:
        raise ValueError(problem)
    # Every process of the program finds it there, this one too.
    places = os.environ.get("TILESIGHT_PLUGIN_PATHS", "").split(os.pathsep)
    if path not in places:
        os.environ["TILESIGHT_PLUGIN_PATHS"] = os.pathsep.join(place for place in [path, *places] if place)
    return [path]


def _tool(option, text):
    return native().clients_of_tool(text)


def _kinds(option, text):
    kinds = [name.strip() for name in text.split(",") if name.strip()]
    for kind in kinds:
        problem = native().kind_problem(kind)
        if problem:
            raise ValueError(f"{option}: {problem}")
    return kinds


def _fail_on(option, text):
    problem = native().fail_on_problem(text)
    if problem:
        raise ValueError(f"{option} is {problem}")
    return text


def _one_of(*values):
    def parse(option, text):
        if text not in values:
            raise ValueError(f"{option} is {text!r}; it can be {', '.join(values[:-1])} or {values[-1]}")
        return text
    return parse


def _file(option, text):
    if not text:
        raise ValueError(f"{option} needs the name of a file")
    return text


def _kernel(option, text):
    if not text.startswith("regex:"):
        return f"^{re.escape(text)}$"
    try:
        re.compile(text[6:])
    except re.error as error:
        raise ValueError(f"{option}: the expression {text[6:]!r} is wrong: {error}") from None
    return text[6:]


def _gpu(option, text):
    return gpu(text, option)


def _size(option, text):
    return size(text, option)


def _seconds(option, text):
    return seconds(text, option)


def _text(option, text):
    return text


# option -> (field, how its value is read; None: a flag)
_OPTIONS = {
    "--client": ("client", _clients),
    "--plugin": ("plugin", _plugin),
    "--tool": ("client", _tool),
    "--kernel-name": ("kernel_name", _kernel),
    "--launch-skip": ("launch_skip", _number(0)),
    "--launch-count": ("launch_count", _number(0)),
    "--ignore": ("ignore", _kinds),
    "--print-limit": ("print_limit", _number(0)),
    "--fail-on": ("fail_on", _fail_on),
    "--error-exitcode": ("error_exitcode", _number(0, 255)),
    "--baseline": ("baseline", _file),
    "--write-baseline": ("write_baseline", _file),
    "--json": ("json", _file),
    "--sarif": ("sarif", _file),
    "--format": ("format", _one_of("text", "github")),
    "-o": ("output", _file),
    "--output": ("output", _file),
    "--save": ("save", _text),
    "--save-all": ("save_all", None),
    "--trace": ("trace", _file),
    "--save-limit": ("save_limit", _size),
    "--data": ("data", _one_of("all", "indices", "none")),
    "--threads": ("threads", _number(0)),
    "--num-sms": ("num_sms", _number(1)),
    "--seed": ("seed", _number(0, 2**64 - 1)),
    "--timeout": ("timeout", _seconds),
    "--like": ("like", _gpu),
    "--all-configs": ("all_configs", None),
    "--no-block-pointers": ("no_block_pointers", None),
    "--address-only": ("address_only", None),
    "--quiet": ("quiet", None),
    "--fail-fast": ("fail_fast", None),
}


def parse(arguments):
    """(options, what stands after them). Raises ValueError or tilesight.Error with one line."""
    options = Options()
    chosen = set()  # fields
    position = 0
    while position < len(arguments):
        argument = arguments[position]
        if argument in ("--", "-m") or not argument.startswith("-"):
            break
        name, given, value = argument.partition("=")
        if name not in _OPTIONS:
            raise ValueError(f"there is no option {name}{_hint(name)}")
        field, read = _OPTIONS[name]
        chosen.add(field)
        position += 1
        if read is None:
            if given:
                raise ValueError(f"{name} takes no value")
            setattr(options, field, True)
            continue
        if not given:
            if position == len(arguments):
                raise ValueError(f"{name} needs a value")
            value = arguments[position]
            position += 1
        parsed = read(name, value)
        if isinstance(parsed, list):
            parsed = [*(getattr(options, field) or []), *parsed]
        setattr(options, field, parsed)
        if field == "kernel_name":
            options.kernel_text = value
    # When all plugins are known. "off" is no client, and stands alone.
    if options.client and options.client != ["off"]:
        native().check_clients(options.client)
    if options.save_all and not options.save:
        raise ValueError("--save-all needs --save")
    if "data" in chosen and not (options.save or options.trace):
        raise ValueError("--data needs --save or --trace")
    try:
        here = os.getcwd()
    except OSError:
        raise ValueError("the working folder is gone") from None
    options.project = project_settings(here)
    for field in ("fail_on", "print_limit", "baseline", "like", "all_configs"):
        if field in options.project and field not in chosen:
            setattr(options, field, options.project[field])
    return options, arguments[position:]


def _hint(name):
    import difflib

    near = difflib.get_close_matches(name, _OPTIONS, 1)
    return f"; did you mean {near[0]}?" if near else ""
