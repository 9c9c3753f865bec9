"""What `import tilesight as ts` offers for programs: trace, check, launches, save, load, clear."""

from . import report as reports
from . import session
from .capture import hook
from .config import checked_clients, client_list
from .errors import Error


def trace(client=None):
    """Decorator: checks every launch of a kernel with `client` (a name, a tilesight.Client, or a
    list; default "sanitizer"). It goes above or below @triton.jit, @triton.autotune and
    @triton.heuristics."""
    if callable(client) and not isinstance(client, (str, list, tuple)) and not hasattr(client, "needs"):
        raise Error("write @ts.trace() or @ts.trace(client=\"sanitizer\"), with the parentheses")
    checked_clients(client)

    def decorate(kernel):
        hook.install()
        session.mark(_innermost(kernel), client)
        return kernel

    return decorate


def _innermost(kernel):
    """The JIT function below decorators, or the plain function that one will be made of."""
    while not hasattr(kernel, "params") and hasattr(kernel, "fn"):
        kernel = kernel.fn
    if not callable(kernel):
        raise Error(f"{kernel!r} is no kernel")
    return kernel


def check(kernel, client=None, uninitialized=()):
    """`ts.check(kernel, client=...)[grid](...)` launches a kernel that needs no decorator, and
    returns the launch's Report. `uninitialized` names arrays that hold no data yet."""
    if type(kernel).__name__ == "InterpretedFunction":
        raise Error(f"{kernel.fn.__name__} runs under Triton's interpreter, and ts.check cannot see what it does: "
                    "TRITON_INTERPRET=1 was set when its file was imported; remove that setting")
    if not hasattr(kernel, "run"):
        raise Error(f"{kernel!r} is no Triton kernel: ts.check takes what @triton.jit gives")
    checked_clients(client)
    return _Checked(kernel, client, uninitialized)


class _Checked:
    def __init__(self, kernel, client, uninitialized):
        self._kernel = kernel
        self._client = client
        self._uninitialized = uninitialized

    def __getitem__(self, grid):
        def launch(*args, **kwargs):
            hook.install()
            with session.Check(self._client, self._uninitialized) as running:
                self._kernel[grid](*args, **kwargs)
            if not running.reports:
                raise Error(f"{self._kernel!r} made no launch that could be captured")
            return running.reports[-1]
        return launch

    def __call__(self, *args, **kwargs):
        raise Error("the grid is missing: write ts.check(kernel)[grid](...)")

    def run(self, *args, grid, **kwargs):
        return self[grid](*args, **kwargs)


class Launches:
    """`ts.launches`: the reports of this process's last launches, oldest first."""

    def __getitem__(self, index):
        return list(session.recorder.launches)[index]

    def __len__(self):
        return len(session.recorder.launches)

    def __iter__(self):
        return iter(list(session.recorder.launches))

    def __repr__(self):
        return f"<tilesight launches: {len(self)}>"


launches = Launches()


def save(path):
    """Writes the launches of `ts.launches` as one bundle (`*.tsb`)."""
    if not len(launches):
        raise Error("there is no launch to save")
    reports.save(path, list(launches))


def load(path, client=None):
    """Runs the launches of a bundle with `client` and returns their reports. They do not join
    `ts.launches`, which has this process's own launches. Nothing in the bundle is changed. The schedule
    (num_sms, seed) is the recorded one unless it is set in `ts.config`."""
    from . import engine
    from .config import config

    clients = client_list(client)
    if clients is None:
        clients = client_list(config.resolve("client"))
    if clients is None:
        clients = session.DEFAULT_CLIENTS
    return [reports.Report(native, None)
            for native in engine.native().run_bundle(str(path), clients, engine.threads(),
                                                     bool(config.address_only), config.num_sms or 0,
                                                     config.seed or 0, config.timeout or 0.0)]


def clear():
    """Forgets the launches of this process."""
    session.recorder.clear()
