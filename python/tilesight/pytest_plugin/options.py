"""The plugin's options: those of `tilesight run`, with a prefix. Names, values and help come from there."""

import dataclasses
import re

from .. import run_options

PREFIX = "--tilesight-"

# Of `run` alone: pytest has its own exit status, verbosity and -x.
_OWN_TO_RUN = {"--error-exitcode", "--quiet", "--fail-fast"}


@dataclasses.dataclass(frozen=True)
class Option:
    of_run: str   # "--num-sms"
    metavar: str  # None: a flag
    help: str

    @property
    def name(self):
        return PREFIX + self.of_run[2:]

    @property
    def field(self):
        return self.name[2:].replace("-", "_")


def _described():
    """option -> (what stands for its value, help), as the usage text of `tilesight run` has it."""
    found, last = {}, None
    for line in run_options.USAGE.splitlines():
        start = re.fullmatch(r"  (--[\w-]+)(?: (\S+))?\s{2,}(\S.*)", line)
        if start:
            last = start.group(1)
            found[last] = [start.group(2), start.group(3)]
        elif last and re.match(r" {26}\S", line):
            found[last][1] += " " + line.strip()
        elif not line.startswith(" " * 27):
            last = None
    return found


OPTIONS = [Option(name, metavar, text.replace("%", "%%")) for name, (metavar, text) in _described().items()
           if name not in _OWN_TO_RUN]


def arguments(given):
    """The options in a namespace of pytest's, as arguments of `tilesight run`."""
    result = []
    for option in OPTIONS:
        value = getattr(given, option.field, None)
        if value is True:
            result.append(option.of_run)
        for text in value if isinstance(value, list) else ():
            result += [option.of_run, text]
    return result


def of_marker(marks):
    """The arguments that markers `tilesight(client=..., ignore=[...])` stand for, the nearest mark last.
    Raises ValueError."""
    known = {option.of_run[2:].replace("-", "_"): option for option in OPTIONS}
    result = []
    for mark in reversed(list(marks)):
        if mark.args:
            raise ValueError("the marker tilesight takes names only, as in tilesight(client=\"off\")")
        for name, value in mark.kwargs.items():
            if name not in FOR_ONE_TEST:
                raise ValueError(f"the marker tilesight has no {name}; it has {', '.join(FOR_ONE_TEST)}")
            option = known[name]
            if option.metavar is None:
                result += [option.of_run] if value else []
            else:
                result += [option.of_run, ",".join(value) if isinstance(value, (list, tuple)) else str(value)]
    return result


# What can differ from test to test.
FOR_ONE_TEST = ("ignore", "client", "num_sms", "seed", "timeout", "address_only", "all_configs")


def parse(arguments):
    """The run_options.Options. Raises ValueError or tilesight.Error."""
    options = run_options.parse(arguments)[0]
    options.prefix = PREFIX
    return options


def worded(error):
    """What an error of `parse` says, with the names that the user wrote."""
    names = {option.of_run: option.name for option in OPTIONS}
    return re.sub(r"--[a-z][\w-]*", lambda match: names.get(match.group(), match.group()), str(error))
