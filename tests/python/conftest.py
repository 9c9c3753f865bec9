import os
import subprocess
import sys
import textwrap

import pytest

from paths import ROOT
from programs import KERNELS

sys.path.insert(0, str(ROOT / "python"))


@pytest.fixture(autouse=True)
def private_cache(tmp_path, monkeypatch):
    """Tests leave the user's cache alone."""
    monkeypatch.setenv("TILESIGHT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("TILESIGHT_RUN_DIR", raising=False)
    monkeypatch.delenv("TILESIGHT_RUN_OPTIONS", raising=False)
    import tilesight
    yield
    tilesight.config.reset()
    tilesight.clear()


@pytest.fixture
def tilesight_run(tmp_path):
    """Runs `tilesight run ARGUMENTS` in a folder with the given programs."""
    def run(*arguments, files=None, env=None, **kwargs):
        (tmp_path / "kernels.py").write_text(KERNELS)
        for name, text in (files or {}).items():
            (tmp_path / name).write_text(textwrap.dedent(text))
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "python"), "PYTHONWARNINGS": "ignore",
                       "PYTHONDONTWRITEBYTECODE": "1", **(env or {})}
        return subprocess.run([sys.executable, "-m", "tilesight", "run", *arguments], cwd=tmp_path,
                              env=environment, capture_output=True, text=True, timeout=120, **kwargs)
    return run
