"""Kernels against Triton's own interpreter and against the same work as compiled loops."""

from context import HERE, checked
from results import duration, goal, table

TITLE = "Against Triton's interpreter, and the machine's limit"
# name -> title, least ratio to Triton's interpreter, most to the compiled loops (OpenBLAS is the measure of products)
ROWS = {"vector_add": ("vector add, 1M f32, BLOCK 1024", 1000, 3), "softmax": ("row softmax, 1024x1024 f32", 600, 3),
        "layer_norm": ("layer norm, 1024x1024 f32", 500, 3), "dropout": ("dropout, 1M f32, Philox", 500, 3),
        "matmul": ("matmul 512^3, f16 to f32, 64x64x32", 600, None), "attention": ("attention 1x4x512x64, f16", 300, None)}


def measure(context):
    limits = context.machine()
    numbers = {"machine": {key: limits[key] for key in ("compiler", "flags", "threads")}}
    for name in ROWS:
        # In turns, and the least of two of each, since other work on the machine comes and goes.
        sides = {"tilesight": [], "interpreter": []}
        for _ in range(2):
            for side, results in sides.items():
                results.append(checked(context.child("measure", side, name)))
        numbers[name] = {side: min(results, key=lambda result: result["seconds"]) for side, results in sides.items()}
        numbers[name]["limit"] = limits.get(name)
        if context.tilelens:
            for client in ("sanitizer", "tracer"):
                numbers[name][f"tilelens-{client}"] = context.child("measure", f"tilelens-{client}", name, PYTHONPATH=str(HERE),
                                                                    python=context.tilelens)
    return numbers


def text(numbers):
    rows = [["", "Tilesight", "Triton's interpreter", "ratio", "goal", "compiled loops", "Tilesight / loops", "goal"]]
    lens = [["", "TileLens sanitizer", "ratio", "TileLens tracer", "ratio"]]
    for name, (title, least, most) in ROWS.items():
        row = numbers[name]
        ours, theirs, limit = row["tilesight"]["seconds"], row["interpreter"]["seconds"], row["limit"]
        ratio = theirs / ours
        rows.append([title, duration(ours), duration(theirs), f"{ratio:.0f}x", goal(f">= {least}x", ratio >= least),
                     *((duration(limit), f"{ours / limit:.1f}", goal(f"<= {most}", ours <= most * limit) if most else "")
                       if limit else ("", "", ""))])
        lens.append([title] + [cell for client in ("sanitizer", "tracer")
                               for cell in _against(row.get(f"tilelens-{client}", {"error": ""}), ours)])
    machine = numbers["machine"]
    said = (f"{table(rows)}\n\nThe launch from Python counts on both sides. Compiled loops: the same work fused by hand, one pass "
            f"where one is enough, {machine['compiler']} `{machine['flags']}`, two threads too (`machine/`).")
    if any("tilelens-tracer" in numbers[name] for name in ROWS):
        said += (f"\n\n{table(lens)}\n\nTileLens's sanitizer reasons about a launch symbolically and computes no outputs; its "
                 "tracer does.")
    return said


def _against(result, ours):
    return (result["error"], "") if "error" in result else (duration(result["seconds"]), f"{result['seconds'] / ours:.0f}x")
