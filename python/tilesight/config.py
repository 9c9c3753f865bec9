"""What to do with launches: `tilesight.config`, and where each value comes from.

The command line of `tilesight run` beats `ts.config`, which beats TILESIGHT_* in the environment,
which beats [tool.tilesight] in pyproject.toml, which beats what a decorator says.
"""

import functools
import json
import os
import re
import warnings

from .errors import Error

ON_FINDING = ("print", "raise", "collect")

# What `tilesight run` hands to the processes it starts, as JSON.
COMMAND_LINE_VARIABLE = "TILESIGHT_RUN_OPTIONS"


def client_list(value):
    """"a,b", a client, or a list of either -> a list; "off" and [] are the empty list."""
    if value is None:
        return None
    if isinstance(value, str):
        value = [name.strip() for name in value.split(",") if name.strip()]
    elif not isinstance(value, (list, tuple)):
        value = [value]
    result = []
    for item in value:
        result.extend(client_list(item) if isinstance(item, str) and "," in item else [item])
    for item in result:
        if isinstance(item, type):
            raise Error(f"{item.__name__} is a class: give an instance of it, {item.__name__}()")
        if not isinstance(item, str) and not hasattr(item, "needs"):
            raise Error(f"{item!r} is no client: give a name such as \"sanitizer\", a tilesight.Client, "
                        "or a list of them")
    return [item for item in result if item != "off"]


def checked_clients(value):
    """client_list(value), with names that exist."""
    clients = client_list(value)
    names = [client for client in clients or () if isinstance(client, str)]
    if names:
        from .engine import native
        native().check_clients(names)
    return clients


def _client(value):
    checked_clients(value)
    return value


def check_environment():
    """Raises tilesight.Error for a TILESIGHT_* variable whose value cannot be used."""
    for name in _SETTINGS:
        _from_environment(name)


def _from_environment(name):
    """The checked value of TILESIGHT_<NAME>, or None."""
    variable = "TILESIGHT_" + name.upper()
    text = os.environ.get(variable)
    return None if text is None else _checked(name, text, variable)


@functools.lru_cache(maxsize=256)
def _checked(name, text, variable):
    try:
        return _SETTINGS[name](text)
    except Error as error:
        raise Error(f"{variable}: {error}") from None


def _on_finding(value):
    if value not in ON_FINDING:
        raise Error(f'on_finding is {value!r}; it can be "print", "raise" or "collect"')
    return value


def _count(name, least, most=None):
    def parse(value):
        try:
            number = int(value)
        except (TypeError, ValueError):
            number = None
        if number is None or number < least or (most is not None and number > most):
            end = f" to {most}" if most is not None else ""
            raise Error(f"{name} is {value!r}; it must be a whole number from {least}{end}")
        return number
    return parse


def seconds(value, name="timeout"):
    """A number of seconds above 0."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = None
    if number is None or not 0 < number < float("inf"):
        raise Error(f"{name} is {value!r}; it must be a number of seconds above 0")
    return number


def gpu(value, name="like"):
    """The key of a GPU of --like."""
    from .capture.gpus import GPUS

    if value.lower() not in GPUS:
        raise Error(f"{name} is {value!r}; it can be {', '.join(GPUS)}")
    return value.lower()


def size(value, name="keep_inputs"):
    """Bytes: 65536, "64K", "1M", "2G"."""
    match = re.fullmatch(r"(\d+)([KMGT]?)(?:i?B)?", str(value), re.IGNORECASE)
    if not match:
        raise Error(f"{name} is {value!r}; write a size such as 512M or 2G")
    return int(match.group(1)) << {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}[match.group(2).upper()]


def _flag(value):
    if isinstance(value, str):
        if value.lower() in ("1", "true", "yes", "on"):
            return True
        if value.lower() in ("0", "false", "no", "off", ""):
            return False
        raise Error(f"address_only is {value!r}; it must be true or false")
    return bool(value)


# name -> how a value is checked
_SETTINGS = {
    "client": _client,
    "on_finding": _on_finding,
    "num_sms": _count("num_sms", 1),
    "seed": _count("seed", 0, 2**64 - 1),  # of the order in which programs take turns; 0: of their numbers
    "threads": _count("threads", 0),
    "timeout": seconds,
    "address_only": _flag,
    "keep_inputs": size,  # launches with at most so many bytes of tensors can be saved later
}


# Of these, pyproject.toml may have a value that holds beneath TILESIGHT_*.
_OF_PROJECT = ("client", "num_sms", "threads", "timeout")


def project_settings(directory, within_repository=False):
    """[tool.tilesight] of the nearest pyproject.toml from `directory` upwards, at most to the repository's root if
    `within_repository`: a dict with what is set, by the names of `tilesight run`'s options, and its `file`. Raises
    tilesight.Error with file, line and column."""
    from .engine import native

    settings = native().project_settings(directory, within_repository)
    places = settings.pop("places")
    for name, check in (("client", checked_clients), ("like", gpu)):
        if name in settings:
            try:
                check(settings[name])
            except Error as error:
                line, column = places[name]
                raise Error(f"{settings['file']}:{line}:{column}: error: {error}") from None
    return settings


class Config:
    """Settings of this process; `None` means "not set here". `reset()` forgets what was set."""

    def __init__(self):
        self.__dict__["_own"] = {}
        self.__dict__["_command_line"] = None
        self.__dict__["_project"] = None

    def command_line(self):
        """The options of the `tilesight run` that started this process."""
        if self._command_line is None:
            text = os.environ.get(COMMAND_LINE_VARIABLE)
            self.__dict__["_command_line"] = json.loads(text) if text else {}
        return self._command_line

    def project(self):
        """[tool.tilesight], as `tilesight run` handed it over, or of the nearest pyproject.toml."""
        handed_over = self.command_line().get("project")
        if handed_over is not None:
            return handed_over
        if self._project is None:
            self.__dict__["_project"] = {}
            try:
                self.__dict__["_project"] = project_settings(os.getcwd(), within_repository=True)
            except (Error, OSError) as error:  # the program may have nothing to do with that file
                warnings.warn(f"tilesight: [tool.tilesight] of pyproject.toml is not heeded: {error}", stacklevel=2)
        return self._project

    def accepted(self):
        """What sessions of this process leave out, as Session takes it."""
        project = self.project()
        return {"ignore": project.get("ignore", []), "ignore_rules": project.get("ignore_rules", [])}

    def resolve(self, name, decorator=None):
        """The value in force, where `decorator` says what the code asked for."""
        value = self.command_line().get(name)
        if value is not None:
            return value
        if name in self._own:
            return self._own[name]
        value = _from_environment(name)
        if value is None and name in _OF_PROJECT:
            value = self.project().get(name)
        return decorator if value is None else value

    def __getattr__(self, name):
        if name in _SETTINGS:
            return self.resolve(name)
        raise AttributeError(f"tilesight.config has no setting {name!r}; it has "
                             f"{', '.join(_SETTINGS)}")

    def __setattr__(self, name, value):
        if name not in _SETTINGS:
            raise AttributeError(f"tilesight.config has no setting {name!r}; it has "
                                 f"{', '.join(_SETTINGS)}")
        if value is None:
            self._own.pop(name, None)
        else:
            self._own[name] = _SETTINGS[name](value)

    def reset(self):
        """Forgets what this process set; the command line and the environment stay."""
        self._own.clear()
        self.__dict__["_command_line"] = None
        self.__dict__["_project"] = None

    def __repr__(self):
        return "tilesight.config(" + ", ".join(f"{name}={self.resolve(name)!r}" for name in _SETTINGS) + ")"


config = Config()
