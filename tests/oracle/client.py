"""The side of the oracle that tests use."""

import json
import os
import select
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent


class OracleError(Exception):
    """The kernel raised, or did not end in time."""


class Oracle:
    """A worker process, started on first use and again after a time-out."""

    def __init__(self, seconds=60):
        self.seconds = seconds
        self.process = None

    def run(self, module, case, path=None, any_result=False):
        """Runs the case named `case` of `module` (a module name below tests/, or the file `path`);
        `any_result`: what the case itself asserts about its results does not count.

        Returns {"faults": [..], "events": [..], "launches": n, "results": the arrays that the case
        returned}; a fault's fields are those of
        `faults.Fault`. Raises OracleError.
        """
        request = {"module": module, "case": case, "any_result": any_result}
        if path:
            request["path"] = str(path)
        return self._ask(request, f"{module}:{case}")

    def run_script(self, path):
        """Runs a whole program that launches kernels; the same answer."""
        return self._ask({"script": str(path)}, str(path))

    def _ask(self, request, what):
        if self.process is None or self.process.poll() is not None:
            self._start()
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        ready, _, _ = select.select([self.process.stdout], [], [], self.seconds)
        line = self.process.stdout.readline() if ready else ""
        if not line:
            self.close()
            raise OracleError(f"{what}: no answer within {self.seconds} s")
        reply = json.loads(line)
        if "error" in reply:
            raise OracleError(f"{what}:\n{reply['error']}")
        return reply

    def _start(self):
        env = dict(os.environ, TRITON_INTERPRET="1", PYTHONPATH=str(TESTS))
        self.process = subprocess.Popen([sys.executable, "-m", "oracle.worker"], cwd=TESTS, env=env,
                                        text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def close(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process.stdin.close()
            self.process.stdout.close()
            self.process = None
