"""Prints the versions that this Python has, as JSON."""

import json
import platform
from importlib import metadata


def version(name):
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "none"


if __name__ == "__main__":
    print(json.dumps({"python": platform.python_version(), **{name: version(name) for name in
                      ("triton", "numpy", "torch", "tilelens", "z3-solver")}}))
