"""The side of run_launches (C++) that tests use: launches on the engine without the Python module."""

import contextlib
import json
import os
import platform
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class NotRun(Exception):
    """Why something cannot be run on this machine."""


class Failed(Exception):
    """A launch that did not run, or the process ended."""


def binary(isa):
    """(the program, what runs it), for an instruction set. TILESIGHT_RUN_LAUNCHES names another build's program,
    TILESIGHT_RUN_LAUNCHES_AARCH64 one for aarch64, which an emulator runs on other machines."""
    if isa == "aarch64" and platform.machine() != "aarch64":
        path, emulator = os.environ.get("TILESIGHT_RUN_LAUNCHES_AARCH64"), shutil.which("qemu-aarch64")
        if not path or not emulator:
            raise NotRun("aarch64 needs qemu-aarch64 and TILESIGHT_RUN_LAUNCHES_AARCH64, a run_launches that was built for it")
        return path, [emulator, "-L", "/usr/aarch64-linux-gnu"]
    path = os.environ.get("TILESIGHT_RUN_LAUNCHES", ROOT / "build" / "tests" / "generated" / "run_launches")
    if not Path(path).exists():
        raise NotRun(f"{path} is not built: scripts/build all")
    return path, []


class Launcher:
    """A process of run_launches that uses one instruction set (none: the best one)."""

    def __init__(self, isa=None):
        path, emulator = binary(isa)
        env = {**os.environ, **({"TILESIGHT_ISA": isa} if isa else {})}
        self.isa = isa
        self.process = subprocess.Popen([*emulator, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env)
        try:
            self.run({"text": "module {\n}\n", "grid": [1, 1, 1], "threads": [1], "arguments": []}, [])
        except Failed as failure:
            if "is no instruction set of this machine" in str(failure) or "needs" in str(failure):
                raise NotRun(str(failure)) from None

    def run(self, request, storages):
        """Runs a launch with each of request["threads"]; `storages`: their bytes before it. Returns [(run, [bytes of
        each storage after it]), ..]; a run is {"threads", "unknowns", "findings", "messages", "swept"}. Raises Failed."""
        sizes = [len(s) for s in storages]
        try:
            self.process.stdin.write(json.dumps({**request, "storages": sizes}).encode() + b"\n" + b"".join(storages))
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = b""
        if not line:
            raise Failed(f"run_launches ended with {self.process.wait()}: {self.process.stderr.read().decode()[-500:]}")
        reply = json.loads(line)
        if "error" in reply:
            raise Failed(reply["error"])
        assert self.isa in (None, reply["isa"])
        return [(run, [self.process.stdout.read(size) for size in sizes]) for run in reply["runs"]]

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.stderr.close()
        self.process.wait()


@contextlib.contextmanager
def launcher_or_skip(isa=None):
    """A Launcher for a test, which is skipped as not run where there is none."""
    import pytest  # the soak needs none

    try:
        launcher = Launcher(isa)
    except NotRun as reason:
        pytest.skip(f"not run: {reason}")
    try:
        yield launcher
    finally:
        launcher.close()
