"""`report.show()`: the visualizer on a launch, served by a process of its own, or as one file.

It is `tilesight view` on a temporary bundle. Run as a program, this module is that process: it ends when the process
that started it does, however that ends.
"""

import atexit
import html
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

from . import engine
from .errors import Error

_PACKAGE = os.path.dirname(os.path.abspath(__file__))
_READY = "Ctrl-C ends it\n"  # the last line of `tilesight view` before it serves
_PATIENCE = 120              # seconds
_open = []                   # the pages of this process


class Page:
    """A page that is served: `address` is for the browser, `close()` ends it."""

    def __init__(self, report):
        self._pid = os.getpid()
        self._folder = tempfile.mkdtemp(prefix="tilesight-")
        self._server = None
        try:
            bundle = _bundle(report, self._folder)
            said = os.path.join(self._folder, "said")
            with open(said, "wb") as output:
                self._server = _start(["view", bundle, *([] if _someone_looks() else ["--no-browser"])], self._folder, output)
            self._said = self._wait_until_ready(said)
        except BaseException:
            self.close()
            raise
        self.address = re.search(r"^tilesight view: (http:\S+)$", self._said, re.MULTILINE).group(1)
        _open.append(self)

    def _wait_until_ready(self, path):
        """What the server says of itself, without its last line."""
        latest = time.monotonic() + _PATIENCE
        while True:
            ended = self._server.poll() is not None
            with open(path, encoding="utf-8", errors="replace") as file:
                text = file.read()
            if _READY in text:
                return text.partition(_READY)[0]
            if ended:
                raise Error(_reason(text))
            if time.monotonic() > latest:
                raise Error(f"the visualizer's server did not start within {_PATIENCE} s")
            time.sleep(0.01)

    @property
    def is_open(self):
        """Is it served still, by this process?"""
        return self._pid == os.getpid() and self._server is not None and self._server.poll() is None

    def wait(self):
        """Returns when the server has ended."""
        self._server.wait()

    def close(self):
        """Ends the server. Doing so again does nothing."""
        if self._pid != os.getpid():  # a fork: the page is its parent's
            return
        if self._server is not None:
            if self._server.poll() is None:
                self._server.terminate()
            self._server.stdin.close()
            try:
                self._server.wait(5)
            except subprocess.TimeoutExpired:  # it computes an answer still
                self._server.kill()
                self._server.wait()
        shutil.rmtree(self._folder, ignore_errors=True)
        if self in _open:
            _open.remove(self)

    def __repr__(self):
        return f"<tilesight page: {self.address if self.is_open else 'closed'}>"


def serve(report):
    """Serves the report's launch until this process ends, and says where: a Page."""
    page = Page(report)
    print(page._said, end="", file=sys.stderr, flush=True)
    return page


def write(report, path):
    """Writes the page as one file; returns what `tilesight view --html` says of it."""
    folder = tempfile.mkdtemp(prefix="tilesight-")
    try:
        bundle = _bundle(report, folder)
        said = os.path.join(folder, "said")
        with open(said, "wb") as output:
            server = _start(["view", bundle, f"--html={os.path.abspath(path)}"], folder, output)
        try:
            server.wait()
        finally:
            server.stdin.close()  # it ends now if it has not
        with open(said, encoding="utf-8", errors="replace") as file:
            text = file.read()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if server.returncode != 0:
        raise Error(_reason(text))
    return text


def frame(report):
    """The page as HTML for a notebook."""
    with tempfile.TemporaryDirectory(prefix="tilesight-") as folder:
        path = os.path.join(folder, "page.html")
        write(report, path)
        with open(path, encoding="utf-8") as file:
            page = file.read()
    # IPython warns of HTML that is an iframe and nothing else.
    return (f'<div><iframe title="Tilesight" sandbox="allow-scripts allow-downloads" srcdoc="{html.escape(page)}" '
            'style="width: 100%; height: 720px; border: 1px solid #8888"></iframe></div>')


def in_notebook():
    """Does a notebook (and no terminal) show what this process displays?"""
    ipython = sys.modules.get("IPython")
    return getattr(ipython and ipython.get_ipython(), "kernel", None) is not None


def _bundle(report, folder):
    """Saves the launch; the file's name in `folder`, which is what the page shows."""
    name = f"{report.kernel}.tsb"
    report.save(os.path.join(folder, name))
    return name


def _start(arguments, folder, output):
    engine.native()  # its error says more than the child's would
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([os.path.dirname(_PACKAGE), *(os.path.abspath(entry) for entry in sys.path)])}
    env.pop("TILESIGHT_RUN_DIR", None)  # it is not part of the program that `tilesight run` runs
    # Its own session: Ctrl-C in the terminal is this process's to handle.
    return subprocess.Popen([sys.executable, "-m", "tilesight.visualizer", *arguments], cwd=folder, env=env,
                            stdin=subprocess.PIPE, stdout=output, stderr=output, start_new_session=True)


def _reason(text):
    """The error in what `tilesight view` printed."""
    lines = [line for line in text.splitlines() if line.strip()]
    for line in lines:
        if "error: " in line:
            return line.partition("error: ")[2]
    return lines[-1] if lines else "the visualizer's server ended at once"


def _someone_looks():
    """A terminal, and neither pytest nor CI?"""
    if any(name in os.environ for name in ("PYTEST_CURRENT_TEST", "PYTEST_VERSION")) or "_pytest.main" in sys.modules:
        return False
    if os.environ.get("CI", "").lower() not in ("", "0", "false"):
        return False
    try:
        return sys.stdin.isatty()
    except (AttributeError, ValueError):  # None, or closed
        return False


def _at_exit():
    """A script's pages stay until Ctrl-C, where there is someone to press it; who leaves an interactive Python, or has
    pressed it already, is not asked again."""
    try:
        pages = [page for page in _open if page.is_open]
        interactive = hasattr(sys, "ps1") or sys.flags.interactive
        interrupted = getattr(sys, "last_type", None) is KeyboardInterrupt
        if pages and not interactive and not interrupted and _someone_looks():
            print(f"tilesight: the program has ended; Ctrl-C closes {'its page' if len(pages) == 1 else 'its pages'} "
                  f"{', '.join(page.address for page in pages)}", file=sys.stderr, flush=True)
            for page in pages:
                page.wait()
    except KeyboardInterrupt:
        print(file=sys.stderr)
    finally:
        for page in list(_open):
            page.close()


atexit.register(_at_exit)


def _end_with_parent():
    os.read(0, 1)  # nothing is ever written: this returns when the other end is gone
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    threading.Thread(target=_end_with_parent, daemon=True).start()
    from .__main__ import main
    sys.exit(main())
