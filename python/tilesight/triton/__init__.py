"""Beside the program's Triton: block pointers for releases that have removed them.

`block_ptr` is a file for kernels to import, or for projects to copy; `restore_block_pointers()` is for kernels that
nobody wants to touch. Nothing here imports Triton before it is used.
"""


def restore_block_pointers():
    """Makes tl.make_block_ptr, tl.advance, and tl.load and tl.store on block pointers mean in this process what they
    mean in Triton 3.7, for every kernel that is compiled from now on, by Tilesight or for a GPU. Returns whether
    anything was to be done: False where Triton has block pointers of its own. Raises tilesight.Error for a Triton
    whose language it does not know how to extend."""
    from . import restored

    return restored.install()


def install_passes(passes, stage=None, plugins=(), isolate=False, timeout=60):
    """Runs Tilesight's passes, and those of plugins, in every compilation by Triton from now on: see `passes.py`."""
    from . import passes as module

    return module.install_passes(passes, stage, plugins, isolate, timeout)
