"""Activation in the processes of a `tilesight run`; called by startup/sitecustomize.py."""

import os
import sys

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
    from .capture import hook
    from .errors import Error

    try:
        engine.native()
    except Error as error:
        recorder.problem(sys.executable, 0, 0, str(error))
        return
    hook.install()
