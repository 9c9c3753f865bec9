"""The numbers of both flavours under Triton's interpreter."""

import subprocess
import sys
from pathlib import Path

from cases import BY_HAND, at_random
from flavours import FLAVOURS, RELEASE

SEEDS = range(100, 130)


def test_as_the_reference(tmp_path):
    out = tmp_path / "wrong"
    done = subprocess.run([sys.executable, Path(__file__).with_name("interpreted.py"), out, *map(str, SEEDS)],
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert out.read_text() == ""
    cases = [*BY_HAND.values(), *map(at_random, SEEDS)]
    assert int(done.stdout) == sum(not case.refused(flavour, RELEASE) for case in cases for flavour in FLAVOURS)
