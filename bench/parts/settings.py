"""The engine alone: sanitizer on and off, two threads and one, and the memory that a launch takes."""

import json
import sys

from context import checked
from results import duration, goal, size, table

TITLE = "Sanitizer on and off, two threads and one, memory"
ROWS = {"vector_add": "vector add", "softmax": "row softmax", "layer_norm": "layer norm", "dropout": "dropout",
        "matmul": "matmul 512^3", "attention": "attention"}
COMPUTE_BOUND = ("dropout", "matmul", "attention")
# name -> clients, threads
SETTINGS = {"off": (["null"], 2), "on": (["sanitizer"], 2), "one": (["sanitizer"], 1),
            "both": (["sanitizer", "tracer"], 2), "both, one": (["sanitizer", "tracer"], 1)}
SECONDS = 3.0


def measure(context):
    limits = {threads: context.machine(threads) for threads in (1, 2)}
    return {name: {"loops": {threads: limits[threads].get(name) for threads in limits},
                   **checked(context.child("parts.settings", "time", name)),
                   "memory": {setting: checked(context.child("parts.settings", "memory", name, setting))["bytes"]
                              for setting in ("off", "on", "both")}} for name in ROWS}


def launcher(name, setting):
    """A launch of the workload under a setting, from Python; the first one compiles."""
    import measure as sides
    import tilesight as ts
    import workloads
    workload = workloads.WORKLOADS[name]()
    clients, threads = SETTINGS[setting]
    launch = sides.launcher(workload, lambda array: array, ts.trace(client=clients)(workload.kernel))

    def run():
        ts.config.threads, ts.config.client = threads, clients
        launch()
        return ts.launches[-1].seconds
    return workload, run


def main(what, name, setting="off"):
    import memory
    workload, run = launcher(name, setting)
    if what == "memory":
        # A launch of one program compiles and makes what every launch needs; arguments are there.
        grid, workload.grid = workload.grid, (1,)
        run()
        workload.grid = grid
        print(json.dumps({"bytes": memory.peak(run)}))
        return
    launches = {key: launcher(name, key)[1] for key in SETTINGS}
    times = {key: [] for key in SETTINGS}
    while min(map(sum, times.values())) < SECONDS / len(SETTINGS) or len(times["off"]) < 5:
        for key, launch in launches.items():  # in turns: what disturbs one disturbs all
            times[key].append(launch())
    print(json.dumps({"seconds": {key: min(found[1:]) for key, found in times.items()}}))


def text(numbers):
    rows = [["", "off", "sanitizer", "sanitizer / off", "goal", "and tracer", "sanitizer, one thread", "one / two", "loops, one / two",
             "goal"]]
    memory = [["", "off", "sanitizer", "sanitizer and tracer"]]
    for name, title in ROWS.items():
        seconds, loops = numbers[name]["seconds"], numbers[name]["loops"]
        cost, gain = seconds["on"] / seconds["off"], seconds["one"] / seconds["on"]
        of_loops = loops[1] / loops[2] if loops[1] else None
        least = 1.7 if name in COMPUTE_BOUND else 0.85 * of_loops
        rows.append([title, duration(seconds["off"]), duration(seconds["on"]), f"{cost:.2f}", goal("<= 1.3", cost <= 1.3),
                     duration(seconds["both"]), duration(seconds["one"]), f"{gain:.2f}", f"{of_loops:.2f}" if of_loops else "",
                     goal(f">= {least:.2f}", gain >= least)])
        memory.append([title, *(size(numbers[name]["memory"][setting]) for setting in ("off", "on", "both"))])
    return (f"{table(rows)}\n\nSeconds in the engine, the least of launches in turns. Off: the null client, which asks for "
            "nothing. Two threads are to gain 1.7 where computing bounds a kernel, elsewhere 0.85 of what "
            "the compiled loops gain, on two cores that share their memory's bandwidth.\n\nMost memory that a launch "
            f"takes beyond its arguments:\n\n{table(memory)}\n\nThe system's count of pages, which may be up to 0.2 MB behind.")


if __name__ == "__main__":
    main(*sys.argv[1:])
