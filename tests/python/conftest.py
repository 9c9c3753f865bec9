import sys

import pytest

from paths import ROOT

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
