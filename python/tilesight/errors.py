"""The exceptions of Tilesight."""


class Error(Exception):
    """Something Tilesight cannot do, said in one sentence with what to do instead."""


class ArgumentError(Error, TypeError):
    """A kernel was called with an argument that cannot be passed, or without one that it needs."""


class NoDeviceError(Error, RuntimeError):
    """A kernel that Triton is to run natively, on a machine without a GPU."""


class InternalError(Error):
    """A fault of Tilesight itself; please report it."""


class FindingsError(Error):
    """Raised by ``report.raise_for_findings()`` and by ``ts.config.on_finding = "raise"``."""

    def __init__(self, message, report):
        super().__init__(message)
        self.report = report
