"""A folder of src/ includes only what its CMakeLists.txt says that it uses, and uses lead downwards."""
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src"
# Folders of src/ that are libraries; kernels is the one below another.
FOLDERS = {path.parent.relative_to(SOURCE): path for path in SOURCE.rglob("CMakeLists.txt") if path.parent != SOURCE}


def library(file):
    """The library that a file below src/ belongs to: its innermost folder with a CMakeLists.txt."""
    for parent in file.relative_to(SOURCE).parents:
        if parent in FOLDERS:
            return parent.name
    raise AssertionError(f"{file} belongs to no library")


def uses():
    """Library -> those that its CMakeLists.txt names."""
    named = {}
    names = {folder.name for folder in FOLDERS}
    for folder, cmake in FOLDERS.items():
        call = re.search(rf"ts_library\({folder.name}\b(.*?)\)\n", cmake.read_text() + "\n", re.DOTALL)
        assert call, f"{cmake} makes no library {folder.name}"
        words = call.group(1).partition("USES")[2].split()
        for more in re.findall(rf"target_link_libraries\(ts_{folder.name}\b(.*?)\)", cmake.read_text(), re.DOTALL):
            words += more.split()  # what an option of the build adds
        for variable in [word for word in words if word.startswith("${")]:
            lists = re.findall(rf"set\({variable[2:-1]} (.*?)\)", cmake.read_text(), re.DOTALL)
            words += [word for one in lists for word in one.split()]
        named[folder.name] = {word.removeprefix("ts_") for word in words} & names
    return named


def reachable(named, start):
    seen, todo = set(), [start]
    while todo:
        for used in named[todo.pop()]:
            if used not in seen:
                seen.add(used)
                todo.append(used)
    return seen


@pytest.mark.parametrize("folder", sorted(folder.name for folder in FOLDERS))
def test_includes_follow_the_edges(folder):
    allowed = reachable(uses(), folder)
    assert folder not in allowed, f"{folder} uses itself"
    wrong = []
    for file in sorted(SOURCE.rglob("*")):
        if file.suffix not in (".h", ".cpp", ".def") or library(file) != folder:
            continue
        for included in re.findall(r'^#include "([^"]+)"', file.read_text(), re.MULTILINE):
            target = SOURCE / included if (SOURCE / included).exists() else file.parent / included
            if not target.exists():
                assert (ROOT / "include" / included).exists(), f"{file} includes {included}, which is nowhere"
                continue
            if library(target) not in allowed | {folder}:
                wrong.append(f"{file.relative_to(ROOT)} includes {included}")
    assert not wrong, f"not among what {folder} uses ({', '.join(sorted(allowed))}): {wrong}"
