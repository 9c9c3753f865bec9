"""The fixtures of tests/python, for programs that need torch."""

import importlib.util
import sys
from pathlib import Path

import pytest

_PYTHON = Path(__file__).parents[1] / "python"
sys.path.insert(0, str(_PYTHON))
_spec = importlib.util.spec_from_file_location("tests_python_conftest", _PYTHON / "conftest.py")
_shared = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_shared)
private_cache, tilesight_run = _shared.private_cache, _shared.tilesight_run


def pytest_collection_modifyitems(items):
    pytest.importorskip("torch")
