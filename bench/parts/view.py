"""How long the visualizer takes to open a launch, and to go from program to program, as its page asks."""

import http.client
import json
import statistics
import subprocess
import tempfile
import time
from pathlib import Path
from urllib.parse import urlsplit

from context import checked
from results import duration, goal, size, table

TITLE = "The visualizer: a launch of 10^5 programs"
# name -> what parts.recording and this part write: programs, turns, elements of an access; tiles, tiles deep
LAUNCHES = {"10^7 accesses of 64 elements": ("parts.recording", "bundle", "many", 100_000, 99, 64),
            "matmul, 10^7 accesses of 16x16": ("parts.view", "matmul", 316, 50)}
GOAL_SECONDS, GOAL_INTERACTION = 1.0, 0.1
PROGRAMS = 24  # that are gone to


class Page:
    """What the page asks `tilesight view` for."""

    def __init__(self, tool, bundle):
        self.process = subprocess.Popen([tool, "view", "--no-browser", str(bundle)], stdout=subprocess.DEVNULL,
                                        stderr=subprocess.PIPE, text=True)
        address = None
        for line in self.process.stderr:
            if address := next((word for word in line.split() if word.startswith("http:")), None):
                break
        if not address:
            raise SystemExit("tilesight view gave no address")
        parts = urlsplit(address)
        self.connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=300)
        self.connection.request("GET", f"{parts.path}?{parts.query}")
        response = self.connection.getresponse()
        response.read()
        self.cookie = (response.getheader("Set-Cookie") or "").split(";")[0]

    def ask(self, path):
        """The answer when it is there, and the seconds until then."""
        start = time.perf_counter()
        while True:
            self.connection.request("GET", path, headers={"Cookie": self.cookie})
            response = self.connection.getresponse()
            body = response.read()
            if response.status == 200:
                return body, time.perf_counter() - start
            if response.status != 202:
                raise SystemExit(f"{path}: {response.status} {body[:200]!r}")
            time.sleep(0.01)

    def memory(self):
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]) * 1024

    def close(self):
        self.process.kill()
        self.process.wait()


def measured(tool, bundle):
    start = time.perf_counter()
    page = Page(tool, bundle)
    try:
        launch = json.loads(page.ask("/api/launch/0")[0])
        opened = time.perf_counter() - start
        page.ask("/api/launch/0/program/0/steps?first=0&limit=65536")
        stepping = time.perf_counter() - start
        tensor = next(i for i, a in enumerate(launch["arguments"]) if a["kind"] == "tensor")
        rank = len(launch["arguments"][tensor]["shape"])
        picture = f"/api/launch/0/tensor/{tensor}?rows={rank - 2}&columns={rank - 1}&fold={1024 if rank == 1 else 0}&height=512&width=512"
        page.ask(picture + "&layer=accesses")
        counted = time.perf_counter() - start
        programs = launch["grid"][0] * launch["grid"][1] * launch["grid"][2]
        chosen = [programs * i // PROGRAMS + 7 for i in range(PROGRAMS)]
        next_program = [page.ask(f"/api/launch/0/program/{p}/records")[1] + page.ask(f"{picture}&layer=program&program={p}")[1]
                        for p in chosen]
        steps = [page.ask(f"/api/launch/0/program/{p}/steps?first=0&limit=65536")[1] for p in chosen]
        layers = [page.ask(f"{picture}&layer={layer}")[1] for layer in ("reads", "first", "untouched", "before")]
        return {"opened": opened, "stepping": stepping, "counted": counted, "next": statistics.median(next_program),
                "steps": statistics.median(steps), "layer": max(layers), "memory": page.memory()}
    finally:
        page.close()


def measure(context):
    numbers = {}
    with tempfile.TemporaryDirectory() as folder:
        for number, (name, (module, *what)) in enumerate(LAUNCHES.items()):
            bundle = Path(folder) / f"{number}.tsb"
            command = what[0] if module == "parts.recording" else "bundle"
            checked(context.child(module, command, bundle, *(what[1:] if module == "parts.recording" else what)))
            numbers[name] = measured(context.program("tilesight"), bundle)
    return numbers


def text(numbers):
    rows = [["launch", "source, steps", "goal", "values of a program", "counts of all accesses", "next program", "its steps", "another layer",
             "goal", "peak memory"]]
    for name, got in numbers.items():
        interaction = max(got["next"], got["steps"], got["layer"])
        rows.append([name, duration(got["opened"]), goal("< 1 s", got["opened"] < GOAL_SECONDS), duration(got["stepping"]),
                     duration(got["counted"]), duration(got["next"]), duration(got["steps"]), duration(got["layer"]),
                     goal("< 100 ms", interaction < GOAL_INTERACTION), size(got["memory"])])
    return (f"{table(rows)}\n\n`tilesight view`, from its start until the page could show it, and how long it answers what the page "
            f"asks for: *next program* is its records and what it touches of a tensor, the median of {PROGRAMS} programs.")


def write_matmul(path, tiles, deep):
    import numpy as np
    import tilesight as ts
    import workloads
    tiles, deep = 16 * int(tiles), 16 * int(deep)
    # The launch is saved as it was before it ran, so it need not run long.
    ts.config.timeout, ts.config.keep_inputs, ts.config.on_finding = 0.05, "2G", "collect"
    a, b, c = np.ones((tiles, deep), np.float16), np.ones((deep, tiles), np.float16), np.zeros((tiles, tiles), np.float32)
    ts.check(workloads.matmul_kernel)[(tiles // 16, tiles // 16)](a, b, c, tiles, tiles, deep, deep, 1, tiles, 1, tiles, 1,
                                                                  BLOCK_M=16, BLOCK_N=16, BLOCK_K=16)
    ts.save(path)
    print(json.dumps({}))


if __name__ == "__main__":
    import sys
    if sys.argv[1] == "bundle":
        write_matmul(sys.argv[2], *sys.argv[4:])
    else:  # TOOL BUNDLE: the numbers of one, as JSON
        print(json.dumps(measured(sys.argv[1], sys.argv[2])))
