"""Activation in the processes of a `tilesight run`; called by startup/sitecustomize.py."""

import os
import sys

from .config import config
from .session import recorder

RUN_DIR = "TILESIGHT_RUN_DIR"  # where this run's processes leave their reports


def _start():
    if recorder.wire is None:
        recorder.start_run(os.environ[RUN_DIR])


def started():
    """The recorder of this process, which belongs to a `tilesight run`."""
    _start()
    return recorder


def after_torch():
    from . import torch_devices
    from .capture import pointers

    _start()
    pointers.watch_torch(sys.modules["torch"])
    torch_devices.install(recorder.note)


def before_triton():
    from .capture import hook

    _start()
    if hook.switch_interpreter_off():
        recorder.note("TRITON_INTERPRET=1 is ignored: Tilesight executes the kernels itself")


def after_triton():
    from . import engine
    from .capture import block_pointers, hook
    from .errors import Error

    try:
        engine.native()
    except Error as error:
        recorder.problem(sys.executable, 0, 0, str(error))
        return
    hook.install()
    if not config.command_line().get("no_block_pointers"):
        block_pointers.restore(recorder.note)
