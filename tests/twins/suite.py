"""All twins."""

import importlib

import pytest
import triton

RELEASE = ".".join(triton.__version__.split(".")[:2])

THEMES = ["bounds", "aranges", "branches", "loops", "helpers", "integers", "indirect", "atomics", "views",
          "pointers", "arguments", "descriptors", "block_pointers", "faults", "hints"]


def all_cases():
    for theme in THEMES:
        for case in importlib.import_module(f"twins.{theme}").CASES:
            if not case.triton or RELEASE in case.triton:
                yield case


def named(cases):
    """The cases as pytest parameters: `bounds-masked_tail`."""
    return [pytest.param(c, id=f"{c.module.__name__.split('.')[-1]}-{c.name}",
                         marks=[pytest.mark.slow] if c.slow else []) for c in cases]


def clean_cases():
    """The cases where nothing is to be found, and that brute force can judge."""
    return [c for c in all_cases() if not c.expect and c.oracle]
