"""@triton.autotune without timing: the first configuration that pruning leaves.

Triton's own `Autotuner.run` stays in charge (pruning, hooks, resets, best_config); only the
measurement is replaced, by one that ranks configurations in their order. It runs nothing, or, with
--all-configs, every configuration but the first once, after which all tensors get their contents back;
the first runs last, as the program's own launch.
"""

import itertools
import threading

from . import snapshot
from ..config import config as settings

_rank = itertools.count()  # the first configuration that is measured counts as the fastest
_current = threading.local()


def chosen():
    """What the report says about the configuration of the launch that is being made, or None:
    {"configuration": 1, "of": 12, "text": "BLOCK: 64, num_warps: 4", "not_checked": 11}."""
    tuners = getattr(_current, "tuners", None)
    if not tuners:
        return None
    tuner = tuners[-1]
    config = getattr(_current, "trial", None) or getattr(tuner, "best_config", None)
    count = len(tuner.configs)
    if config is None or count < 2:
        return None
    position = next((i for i, other in enumerate(tuner.configs) if other is config), None)
    if position is None:
        return None
    meta = ", ".join(f"{name}={value}" for name, value in config.all_kwargs().items())
    return {"configuration": position + 1, "of": count, "text": meta, "not_checked": 0 if _all_configs() else count - 1}


def _all_configs():
    return bool(settings.command_line().get("all_configs"))


def _try(tuner, args, config, meta):
    """Launches one configuration as Triton's measurement would, and undoes what it wrote. Returns
    whether Triton accepts it: a failed static_assert only takes a configuration out."""
    from triton.compiler.errors import CompileTimeAssertionFailure

    current = {**meta, **config.all_kwargs()}
    everything = {**tuner.nargs, **current}
    contents = snapshot.take(everything.values())
    _current.trial = config
    try:
        if config.pre_hook:
            config.pre_hook(everything)
        tuner.pre_hook(everything)
        tuner.fn.run(*args, **current)
        tuner.post_hook(everything, exception=None)
        return True
    except CompileTimeAssertionFailure:
        return False
    finally:
        _current.trial = None
        snapshot.restore(contents)


def _zero(value):
    if hasattr(value, "zero_"):
        value.zero_()
    else:
        value[...] = 0


def _reset(tuner):
    """The default pre_hook for arrays of any library. Nothing is measured, so there is nothing to
    restore."""
    def pre_hook(kwargs, reset_only=False):
        for name in tuner.reset_to_zero:
            if kwargs.get(name) is not None:
                _zero(kwargs[name])
    return pre_hook


def install(patches, active):
    """`active(tuner)`: is the kernel below checked, so that nothing must be measured?"""
    from triton.runtime.autotuner import Autotuner

    run, bench, disk = Autotuner.run, Autotuner._bench, getattr(Autotuner, "check_disk_cache", None)

    def tuned_run(self, *args, **kwargs):
        if not active(self):
            return run(self, *args, **kwargs)
        if not getattr(self, "user_defined_pre_hook", False) and getattr(self, "reset_to_zero", None):
            self.pre_hook = _reset(self)
        tuners = _current.__dict__.setdefault("tuners", [])
        tuners.append(self)
        self._tilesight_first = True
        try:
            return run(self, *args, **kwargs)
        finally:
            tuners.pop()

    def rank(self, *args, config, **meta):
        if not active(self):
            return bench(self, *args, config=config, **meta)
        conflicts = meta.keys() & config.kwargs.keys()
        if conflicts:
            raise ValueError(f"Conflicting meta-parameters: {', '.join(conflicts)}."
                             " Make sure that you don't re-define auto-tuned symbols.")
        first, self._tilesight_first = getattr(self, "_tilesight_first", True), False
        if _all_configs() and not first and not meta.get("warmup") and not _try(self, args, config, meta):
            return [float("inf")] * 3
        return [float(next(_rank))] * 3

    def no_disk(self, tuning_key, configs, bench_fn):
        if not active(self):
            return disk(self, tuning_key, configs, bench_fn)
        bench_fn()
        return False

    patches(Autotuner, "run", tuned_run)
    patches(Autotuner, "_bench", rank)
    if disk is not None:
        patches(Autotuner, "check_disk_cache", no_disk)
