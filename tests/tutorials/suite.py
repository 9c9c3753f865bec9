"""All tutorial cases."""

import importlib

import pytest

SUBJECTS = ["vector_add", "softmax", "matmul", "dropout", "layer_norm", "attention"]


def parameters():
    return [pytest.param(case, id=f"{subject}-{case.name}") for subject in SUBJECTS
            for case in importlib.import_module(f"tutorials.{subject}").CASES]
