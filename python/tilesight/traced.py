"""`tilesight run --trace DIR`: the folder that this process's launches are recorded in."""

import atexit
import contextlib
import os
import sys
import threading

from . import engine
from .errors import Error


class Traced:
    """One of several writers of a trace: processes of the program share the folder, and forked children have writers
    of their own."""

    def __init__(self, problem):
        self._problem = problem  # says why not all is there: of (name of the folder, text)
        self._lock = threading.Lock()
        self._thread = None      # the one that records a launch now
        self._folder = self._process = None
        self._told = False
        self._bytes = 0          # of data

    @contextlib.contextmanager
    def one(self, options):
        """(the native TraceFolder to record a launch in, or None; bytes of data that it may keep). One launch at a time."""
        if not options.get("trace"):
            yield None, 0
            return
        if self._thread == threading.get_ident():  # a client's hook launches a kernel
            self._tell(options, "a launch inside of another one is not recorded")
            yield None, 0
            return
        with self._lock:
            self._thread = threading.get_ident()
            try:
                folder = self._open(options)
                yield folder, max(0, options["save_limit"] - self._bytes)
                if folder is not None and folder.problem:
                    self._tell(options, folder.problem)
            finally:
                self._thread = None

    def kept(self, count):
        self._bytes += count

    def _open(self, options):
        if self._process != os.getpid():
            self._process, self._folder = os.getpid(), None
            try:
                self._folder = engine.native().TraceFolder(options["trace"], True, options.get("data") or "all")
            except Error as error:
                self._tell(options, str(error))
                return None
            atexit.register(self.finish, options)
            if "multiprocessing.util" in sys.modules:  # its children end without atexit
                sys.modules["multiprocessing.util"].Finalize(None, self.finish, args=(options,), exitpriority=0)
        return self._folder

    def finish(self, options):
        """What is still open becomes whole."""
        if self._process != os.getpid() or self._folder is None:
            return
        with self._lock:
            folder, self._folder = self._folder, None
            folder.finish()
            if folder.problem:
                self._tell(options, folder.problem)

    def _tell(self, options, text):
        if not self._told:
            self._told = True
            self._problem(options["trace_name"], 0, 0, text.split(": error: ", 1)[-1])
