"""What capture costs beyond Triton's own front end, on first launches and on repeated ones."""

import gc
import json
import statistics
import sys
import time

from context import checked
from results import duration, goal, table

TITLE = "Capture"
KERNELS = {"vector_add": "vector add", "softmax": "row softmax", "matmul": "matmul", "attention": "attention"}
COPIES, REPEATS = 15, 1000


def measure(context):
    # No cache on disk: the front end runs.
    return {name: checked(context.child("parts.capture", name, TILESIGHT_CACHE_DIR="")) for name in KERNELS}


def _copy(kernel):
    """A kernel of the same text that nothing has been launched of."""
    import triton
    return triton.jit(kernel.fn)


def front_end(kernel, arguments, constants):
    """What Triton itself does between a launch and its passes: bind, hash the source, make the text."""
    from tilesight.capture.arguments import adapt
    from triton._C.libtriton import ir
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource, make_backend
    from triton.runtime.jit import create_function_from_signature
    target = GPUTarget("cuda", 90, 32)
    backend = make_backend(target)
    arguments = [adapt(value) for value in arguments]  # Triton does not know numpy
    start = time.perf_counter()
    binder = create_function_from_signature(kernel.signature, kernel.params, backend)
    keywords = {**constants, "debug": True}
    bound, specialization, options = binder(*arguments, **keywords)
    options, signature, constexprs, attributes = kernel._pack_args(backend, keywords, bound, specialization, options)
    kernel.cache_key
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    source = ASTSource(kernel, signature, constexprs, attributes)
    source.make_ir(target, options, backend.get_codegen_implementation(options), backend.get_module_map(), context).str()
    return time.perf_counter() - start


def main(name):
    import tilesight as ts
    import workloads
    ts.config.threads = 2
    workload = workloads.WORKLOADS[name]()
    trace = ts.trace(client="sanitizer")

    def launched(kernel):
        start = time.perf_counter()
        kernel[(1,)](*workload.arguments, **workload.constants)
        return time.perf_counter() - start - ts.launches[-1].seconds

    first, own = [], []
    for number in range(COPIES + 1):  # the first of each fills what a process fills once
        kernel = _copy(workload.kernel)
        turns = [lambda: own.append(front_end(kernel, workload.arguments, workload.constants)),
                 lambda: first.append(launched(trace(_copy(workload.kernel))))]
        for turn in turns if number % 2 else turns[::-1]:
            gc.collect()  # of what the other one left
            turn()
    kernel = trace(_copy(workload.kernel))
    launched(kernel)
    repeat = statistics.median(launched(kernel) for _ in range(REPEATS))
    print(json.dumps({"first": min(first[1:]), "front_end": min(own[1:]), "repeat": repeat}))


def text(numbers):
    rows = [["", "first launch", "Triton's front end", "beyond it", "goal", "repeated launch", "goal"]]
    for name, title in KERNELS.items():
        got = numbers[name]
        more = got["first"] - got["front_end"]
        rows.append([title, duration(got["first"]), duration(got["front_end"]), duration(more) if more > 0 else "none seen",
                     goal("<= 5 ms", more <= 5e-3), duration(got["repeat"]), goal("<= 0.2 ms", got["repeat"] <= 0.2e-3)])
    return (f"{table(rows)}\n\nThe least over {COPIES} kernels of the same text, both sides in turns, nothing cached on disk; the engine's run is left "
            "out on both sides, its preparation of a kernel (parse, verify, plan) counts as capture. Triton's front end: bind "
            f"the arguments, hash the source, make the text. A repeated launch: all of it outside the engine, the median of {REPEATS}.")


if __name__ == "__main__":
    main(*sys.argv[1:])
