"""`pytest --tilesight`: checks every Triton kernel launch of a test suite, and fails the guilty tests.

Registered by the entry point `pytest11`, so every pytest of the environment loads this module: it does
nothing and imports nothing heavy until the option is given.
"""

import pytest

from . import options

CHECKS = "tilesight-checks"  # name of the plugin that does the work


def pytest_addoption(parser):
    group = parser.getgroup("tilesight", "checks of Triton kernel launches")
    group.addoption("--tilesight", action="store_true", default=False,
                    help="check every Triton kernel launch, and fail the tests whose launches have findings")
    for option in options.OPTIONS:
        if option.metavar is None:
            group.addoption(option.name, dest=option.field, action="store_true", default=False, help=option.help)
        else:
            group.addoption(option.name, dest=option.field, action="append", metavar=option.metavar,
                            help=option.help)
    parser.addini("tilesight", "true: as if --tilesight were given", type="bool", default=False)


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config):
    _start(early_config, early_config.known_args_namespace)  # before a conftest.py imports Triton


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config):
    config.addinivalue_line("markers", "tilesight(ignore=[KIND, ...], client=NAME, ...): options of `tilesight run` for "
                                       "the launches of this test; client=\"off\" leaves them unchecked")
    _start(config, config.option)


def _start(config, given):
    if config.pluginmanager.has_plugin(CHECKS):
        return
    arguments = options.arguments(given)
    if not (given.tilesight or config.getini("tilesight")):
        if arguments:
            raise pytest.UsageError(f"{options.PREFIX}{arguments[0][2:]} needs --tilesight")
        return
    from .checks import Checks

    config.pluginmanager.register(Checks(config, arguments), CHECKS)
