import sys
import warnings
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))


def pytest_configure(config):
    # Triton's own block pointers, where there are some, warn that they will go.
    warnings.filterwarnings("ignore", message=".*make_block_ptr is deprecated.*")


def pytest_addoption(parser):
    parser.addoption("--rebase", action="store_true", help="write what test_migrate expects anew")
