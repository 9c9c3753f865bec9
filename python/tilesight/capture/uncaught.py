"""Exceptions of Tilesight that end the program: their traceback shows the user's frames only."""

import os
import sys
import types

from ..errors import InternalError

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def hook(shown, uncaught):
    """In place of sys.excepthook, which `shown` was; `uncaught(error)` is told of every exception."""
    def excepthook(kind, error, traceback):
        uncaught(error)
        if not isinstance(error, InternalError):
            traceback = without_internals(traceback)
            error.__traceback__ = traceback
        shown(kind, error, traceback)
    return excepthook


def without_internals(traceback):
    """The traceback without the frames of Tilesight and Triton, if Tilesight raised the exception."""
    links = []
    while traceback is not None:
        links.append(traceback)
        traceback = traceback.tb_next
    triton = os.path.dirname(os.path.abspath(sys.modules["triton"].__file__))
    internal = (_PACKAGE + os.sep, triton + os.sep)
    file_of = lambda link: link.tb_frame.f_code.co_filename
    kept = None
    ours = bool(links) and file_of(links[-1]).startswith(internal[0])
    for link in reversed(links):
        if not (ours and file_of(link).startswith(internal)):
            kept = types.TracebackType(kept, link.tb_frame, link.tb_lasti, link.tb_lineno)
    return kept


def forget_frames(error):
    """Leaves of an exception and its causes only what they say: the frames are Triton's."""
    while error is not None:
        error.__traceback__ = None
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
