"""@triton.autotune without timing: the first configuration that pruning leaves.

Triton's own `Autotuner.run` stays in charge (pruning, hooks, resets, best_config); only the
measurement is replaced, by one that ranks configurations in their order. It runs nothing, or, with
--all-configs, every configuration but the first once, after which all tensors get their contents back;
the first runs last, as the program's own launch.
"""

import itertools
import threading
import weakref

from . import snapshot
from .. import session
from ..config import config as settings

_rank = itertools.count()  # the first configuration that is measured counts as the fastest
_current = threading.local()  # .tunings: the _Tuning of every tuned launch that this thread is in
_locks = weakref.WeakKeyDictionary()  # tuner -> RLock: Autotuner.run keeps the arguments in the tuner
_locks_lock = threading.Lock()
_left = weakref.WeakKeyDictionary()  # tuner -> number of configurations that pruning left, the last time


class _Tuning:
    """One launch of a tuned kernel."""

    def __init__(self, tuner):
        self.tuner = tuner
        self.trial = None  # the configuration that is tried, not the chosen one
        self.first = True  # nothing was measured yet
        self.left = None   # number of configurations that pruning left in this launch


def _tuning():
    tunings = getattr(_current, "tunings", None)
    return tunings[-1] if tunings else None


def chosen():
    """What the report says about the configuration of the launch that is being made, or None:
    {"configuration": 1, "of": 12, "text": "BLOCK: 64, num_warps: 4", "not_checked": 11,
    "why": "--all-configs"}."""
    tuning = _tuning()
    if tuning is None:
        return None
    tuner = tuning.tuner
    config = tuning.trial or getattr(tuner, "best_config", None)
    count = len(tuner.configs)
    if config is None or count < 2:
        return None
    position = next((i for i, other in enumerate(tuner.configs) if other is config), None)
    if position is None:
        return None
    meta = ", ".join(f"{name}={value}" for name, value in config.all_kwargs().items())
    checked, why = 1, "--all-configs"
    if _all_configs():
        with _locks_lock:
            checked, why = tuning.left or _left.get(tuner, count), "pruned"
    return {"configuration": position + 1, "of": count, "text": meta, "not_checked": count - checked, "why": why}


def _all_configs():
    return bool(settings.command_line().get("all_configs"))


def _try(tuning, args, config, meta):
    """Launches one configuration as Triton's measurement would, and undoes what it wrote. Returns
    whether Triton accepts it: a failed static_assert only takes a configuration out."""
    from triton.compiler.errors import CompileTimeAssertionFailure

    tuner = tuning.tuner
    current = {**meta, **config.all_kwargs()}
    everything = {**tuner.nargs, **current}
    contents = snapshot.take(everything.values())
    tuning.trial = config
    try:
        if config.pre_hook:
            config.pre_hook(everything)
        tuner.pre_hook(everything)
        try:
            tuner.fn.run(*args, **current)
        except Exception as error:
            tuner.post_hook(everything, exception=error)
            raise
        tuner.post_hook(everything, exception=None)
        return True
    except CompileTimeAssertionFailure as error:
        session.recorder.withdrawn(error)  # no refusal that the program was told of
        return False
    finally:
        tuning.trial = None
        snapshot.restore(contents)


def _zero(value):
    if hasattr(value, "zero_"):
        value.zero_()
    else:
        value[...] = 0


class _Hooks:
    """In place of Triton's own hooks for reset_to_zero and restore_value, which want torch's tensors.
    `_try` puts everything back, so there is nothing to restore. The user's hooks stay."""

    def __init__(self, tuner):
        self.tuner = tuner
        self.before = tuner.pre_hook, tuner.post_hook

    def __enter__(self):
        tuner = self.tuner
        reset, restore = getattr(tuner, "reset_to_zero", None), getattr(tuner, "restore_value", None)

        def zero(kwargs, reset_only=False):
            for name in reset or ():
                if kwargs.get(name) is not None:
                    _zero(kwargs[name])

        if (reset or restore) and not getattr(tuner, "user_defined_pre_hook", False):
            tuner.pre_hook = zero
        if restore and not getattr(tuner, "user_defined_post_hook", False):
            tuner.post_hook = lambda kwargs, exception: None

    def __exit__(self, *_):
        self.tuner.pre_hook, self.tuner.post_hook = self.before


def _lock_of(tuner):
    with _locks_lock:
        return _locks.setdefault(tuner, threading.RLock())


def install(patches, active):
    """`active(tuner)`: is the kernel below checked, so that nothing must be measured?"""
    from triton.runtime.autotuner import Autotuner

    run, bench, prune = Autotuner.run, Autotuner._bench, Autotuner.prune_configs
    disk = getattr(Autotuner, "check_disk_cache", None)

    def tuned_run(self, *args, **kwargs):
        if not active(self):
            return run(self, *args, **kwargs)
        tunings = _current.__dict__.setdefault("tunings", [])
        with _lock_of(self), _Hooks(self):
            tunings.append(_Tuning(self))
            try:
                return run(self, *args, **kwargs)
            finally:
                tunings.pop()

    def rank(self, *args, config, **meta):
        if not active(self):
            return bench(self, *args, config=config, **meta)
        conflicts = meta.keys() & config.kwargs.keys()
        if conflicts:
            raise ValueError(f"Conflicting meta-parameters: {', '.join(conflicts)}."
                             " Make sure that you don't re-define auto-tuned symbols.")
        tuning = _tuning()  # None in a warm-up, which launches nothing
        if tuning is not None and _all_configs() and not meta.get("warmup"):
            first, tuning.first = tuning.first, False
            if not first and not _try(tuning, args, config, meta):
                return [float("inf")] * 3
        return [float(next(_rank))] * 3

    def counted_prune(self, kwargs):
        left = prune(self, kwargs)
        tuning = _tuning()
        if tuning is not None and tuning.tuner is self:
            tuning.left = len(left)
            with _locks_lock:
                _left[self] = len(left)
        return left

    def no_disk(self, tuning_key, configs, bench_fn):
        if not active(self):
            return disk(self, tuning_key, configs, bench_fn)
        bench_fn()
        return False

    patches(Autotuner, "run", tuned_run)
    patches(Autotuner, "_bench", rank)
    patches(Autotuner, "prune_configs", counted_prune)
    if disk is not None:
        patches(Autotuner, "check_disk_cache", no_disk)
