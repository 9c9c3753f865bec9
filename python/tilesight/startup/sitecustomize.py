"""Python runs this at start-up in the processes of a `tilesight run` (its folder is on PYTHONPATH).

It costs nothing until the program imports Triton or torch; then the hook goes in. A sitecustomize of the
user's own runs first, as it would without Tilesight.
"""

import importlib.machinery
import importlib.util
import os
import sys
import threading

_PYTEST = "_pytest.config"
_MARKS = "tilesight_marks"
_HERE = os.path.dirname(os.path.abspath(__file__))


def _run_users_own():
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != _HERE]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", sys.path)
    if spec is not None and spec.loader is not None:
        module = importlib.util.module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


class _TilesightWatcher:
    """Finds Triton and torch as everybody else would, and calls Tilesight around their import."""

    def __init__(self, before_after):
        self._calls = before_after  # name of a module -> (call before, call after), by name
        self._searching = threading.local()

    def find_spec(self, name, path=None, target=None):
        if name == _MARKS:
            return importlib.util.spec_from_file_location(name, os.path.join(_HERE, name + ".py"))
        if name not in self._calls or getattr(self._searching, "now", False):
            return None
        self._searching.now = True  # the search below comes here again
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self._searching.now = False
        before, after = self._calls[name]
        if spec is None or spec.loader is None:
            return spec
        load = spec.loader.exec_module

        def exec_module(module):
            if name == _PYTEST:
                load(module)
                return _add_marks(module)
            process = _tilesight_process()
            if before:
                getattr(process, before)()
            load(module)
            getattr(process, after)()

        spec.loader.exec_module = exec_module
        return spec


def _add_marks(config):
    """Every pytest of this process gets the plugin: a list of names that it loads its own plugins from."""
    if isinstance(getattr(config, "default_plugins", None), tuple):
        config.default_plugins += (_MARKS,)


def _tilesight_process():
    home = os.environ["TILESIGHT_HOME"]
    sys.path.append(home)
    try:
        from tilesight import process
    finally:
        sys.path.remove(home)
    return process


def watch():
    """Puts the hook in when this process imports Triton or torch."""
    if not any(type(finder).__name__ == _TilesightWatcher.__name__ for finder in sys.meta_path):
        sys.meta_path.insert(0, _TilesightWatcher({"triton": ("before_triton", "after_triton"),
                                          "torch": (None, "after_torch"), _PYTEST: (None, None)}))


if __name__ == "sitecustomize":  # and not where the pytest plugin imports it for watch()
    if os.environ.get("TILESIGHT_RUN_DIR"):
        watch()
    _run_users_own()
