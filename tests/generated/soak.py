"""`soak.py [--seconds N] [--first SEED]`: generated kernels, one after the other, for a time (TILESIGHT_SOAK_SECONDS, an
hour): engine against numpy, forms against each other, 1, 2 and 16 threads. Prints each disagreement with its seed and
ends with 1 if there was one. `--seeds N..`: those alone, with their text."""

import argparse
import os
import random
import sys
import time
import traceback
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parents[1] / "differential")]

from compare import disagreement
from grammar import kernel
from launches import Failed, Launcher
from printer import text


def outcome(seed, launcher, approximate):
    try:
        return disagreement(seed, launcher, approximate)
    except Failed as failure:
        return f"seed {seed}{' approximate' * approximate}: {failure}"
    except Exception:
        return f"seed {seed}{' approximate' * approximate}: {traceback.format_exc()}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=float(os.environ.get("TILESIGHT_SOAK_SECONDS", 3600)))
    parser.add_argument("--first", type=int, default=random.SystemRandom().randrange(10**9))
    parser.add_argument("--seeds", type=int, nargs="*")
    options = parser.parse_args()
    launcher = Launcher()
    if options.seeds:
        for seed in options.seeds:
            for approximate in (False, True):
                print(text(kernel(seed, approximate)))
                print(outcome(seed, launcher, approximate) or f"seed {seed}{' approximate' * approximate}: agrees")
        return 0
    print(f"soak: seeds from {options.first}, {options.seconds:g} s, instruction set {launcher.isa or 'best'}", flush=True)
    end, seed, found = time.monotonic() + options.seconds, options.first, 0
    while time.monotonic() < end and found < 20:
        different = outcome(seed, launcher, seed % 5 == 4)
        if different:
            found += 1
            print(different, flush=True)
            if launcher.process.poll() is not None:
                launcher = Launcher()
        seed += 1
    print(f"soak: {seed - options.first} kernels, {found} disagreements")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
