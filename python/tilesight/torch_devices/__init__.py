"""Programs written for a GPU, where there is none: torch's `cuda` and `hip` devices become the CPU.

Only processes of a `tilesight run` get this, and only where torch finds no device.
"""


def install(say):
    """Makes torch's GPU devices the CPU; `say(text)` is called when the program first asks for one.
    Torch is imported. Does nothing where there is a GPU."""
    import os

    import torch

    if torch.cuda.is_available():
        return
    from ..capture.gpus import chosen
    from . import cuda, functions, generators, library, placement

    # What torch.compile would make of it runs on no GPU: functions run as they are written.
    os.environ.setdefault("TORCHDYNAMO_DISABLE", "1")
    gpu = chosen()
    where = placement.Placement(torch, lambda: say(
        f"there is no GPU here: what the program puts on cuda is on the CPU, and torch.cuda answers as "
        f"{gpu.name} would (--like {gpu.key})"))
    where.install()
    functions.install(torch, where)
    cuda.install(torch, gpu, where)
    generators.install(torch, where)
    library.install(torch)
