"""From the processes of a `tilesight run` to the `run` itself: one file a process, one JSON object a
line, so that what a crashing process had found is not lost."""

import json
import os
import threading
import time


class Wire:
    """Writes this process's lines."""

    def __init__(self, folder):
        self.folder = folder
        self._lock = threading.Lock()
        self._file = None
        self._pid = None
        self._started = os.getpid(), time.time_ns()
        self._counter = self._counter_pid = None

    def _write(self, kind, value):
        self._write_text(json.dumps({"kind": kind, "value": value}))

    def _write_text(self, line):
        with self._lock:
            pid = os.getpid()
            if self._pid != pid:  # the first line, or a forked child's first
                first, started = self._started
                if pid != first:
                    started = time.time_ns()
                name = f"{started:020}-{pid}-{os.urandom(4).hex()}.jsonl"
                self._file = open(os.path.join(self.folder, name), "a", encoding="utf-8")
                self._pid = pid
            self._file.write(line + "\n")
            self._file.flush()

    def launch(self, report):
        self._write_text('{"kind": "launch", "value": ' + report.native.to_json() + "}")

    def note(self, text):
        self._write("note", text)

    def problem(self, file, line, column, message):
        self._write("problem", [file, line, column, message])

    def next_number(self):
        """The number of a launch in the whole run: the processes share one file that grows by a byte
        a launch."""
        with self._lock:
            if self._counter_pid != os.getpid():  # a forked child may not share the file's position
                self._counter = os.open(os.path.join(self.folder, "launches"),
                                        os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
                self._counter_pid = os.getpid()
            os.write(self._counter, b".")
            return os.lseek(self._counter, 0, os.SEEK_CUR) - 1

    def rejected(self, *fields):
        self._write("rejected", fields)

    def uncaught(self, number):
        self._write("uncaught", number)

    def ignored(self, test, kinds):
        """Findings of these kinds do not count from now on, as markers of `test` say."""
        if kinds:
            self._write("ignored", [test, list(kinds)])

    def withdrawn(self, number):
        self._write("withdrawn", number)

    def configuration(self, *fields):
        self._write("configuration", fields)

    def left_out(self, kernel):
        self._write("left out", kernel)

    def saved(self):
        self._write("saved", None)

    def checked(self):
        """A launch by ts.check: its report is the program's."""
        self._write("checked", None)

    def internal_error(self, text):
        self._write("internal", text)


def read(folder):
    """(kind, value) of every whole line of every process, a process after the other as they started; the
    folders in it are those of pytests."""
    paths = [os.path.join(place, name) for place, _, names in os.walk(folder) for name in names
             if name.endswith(".jsonl")]
    for path in sorted(paths, key=os.path.basename):
        with open(path, encoding="utf-8") as file:
            for line in file:
                if not line.endswith("\n"):
                    break  # the process died while it wrote
                entry = json.loads(line)
                yield entry["kind"], entry["value"]
