"""Where the pieces of a run lie, and how its child processes are started."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent


def own_python():
    venv = ROOT / ".venv" / "bin" / "python"
    return str(venv) if venv.exists() else sys.executable


@dataclass
class Context:
    python: str = ""             # that has Triton, numpy and Tilesight's module
    tilelens: str | None = None  # that has tilelens, torch and Triton 3.6
    build: Path = ROOT / "build"

    def make(self):
        """Builds what the parts run: the native tool, the Python module, the benches in C++."""
        subprocess.run(["cmake", "-S", ROOT, "-B", self.build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                        "-DTILESIGHT_BENCH=ON", "-DTILESIGHT_PYTHON=ON", f"-DPython_EXECUTABLE={self.python}",
                        "--log-level=WARNING"], check=True, stdout=subprocess.DEVNULL)
        subprocess.run(["cmake", "--build", self.build, "--target", "tilesight", "tilesight_native", "bench_machine",
                        "bench_forms", "bench_engine", "bench_bundles"], check=True, stdout=subprocess.DEVNULL)

    def program(self, name):
        for folder in ("bench", "src/tools"):
            if (path := self.build / folder / name).exists():
                return str(path)
        raise SystemExit(f"{name} is not built in {self.build}")

    def machine(self, threads=2):
        """name of a workload -> seconds of the same work as compiled loops."""
        return json.loads(subprocess.run([self.program("bench_machine"), str(threads)], text=True, capture_output=True,
                                         check=True).stdout)

    def child(self, module, *arguments, python=None, timeout=600, **environment):
        """The JSON that `python -m MODULE ARGUMENTS` prints last, or {"error": its last line}."""
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "python"), str(HERE)]),
                       "TRITON_DEFAULT_FP_FUSION": "1",  # else Triton 3.9 warns
                       **environment}
        try:
            done = subprocess.run([python or self.python, "-m", module, *map(str, arguments)], env=environment, text=True,
                                  capture_output=True, stdin=subprocess.DEVNULL, timeout=timeout)
        except subprocess.TimeoutExpired:
            return {"error": f"over {timeout} s"}
        if done.returncode:
            return {"error": (done.stderr.strip().splitlines() or ["failed"])[-1][:100]}
        return json.loads(done.stdout.strip().splitlines()[-1])


def checked(result):
    """A child's result, or the end of the run with what it said."""
    if "error" in result:
        raise SystemExit(result["error"])
    return result
