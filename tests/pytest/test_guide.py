"""docs/ci.md: its workflow is YAML, and what it names exists."""

import re

import pytest

from conftest import PROJECT
from tilesight import run_options
from tilesight.pytest_plugin import options

GUIDE = (PROJECT / "docs" / "ci.md").read_text()
PLUGIN = {"--tilesight", *(option.name for option in options.OPTIONS)}


def workflow():
    yaml = pytest.importorskip("yaml")
    return yaml.safe_load(re.search(r"```yaml\n(.*?)```", GUIDE, re.DOTALL).group(1))


def test_the_workflow_is_one():
    job = workflow()["jobs"]["tilesight"]
    assert "ubuntu" in job["runs-on"]
    used = [step["uses"].split("@")[0] for step in job["steps"] if "uses" in step]
    assert "actions/checkout" in used and "actions/cache" in used and "github/codeql-action/upload-sarif" in used
    commands = "\n".join(step["run"] for step in job["steps"] if "run" in step)
    assert "pytest tests -n auto --tilesight" in commands
    cached = next(step for step in job["steps"] if step.get("uses", "").startswith("actions/cache"))
    assert job["env"]["TILESIGHT_CACHE_DIR"].endswith("/" + cached["with"]["path"])


def test_every_option_of_the_plugin_exists():
    named = set(re.findall(r"(?<![\w-])--tilesight(?:-[a-z]+)*", GUIDE)) - {"--tilesight-"}
    assert {"--tilesight", "--tilesight-client"} < named
    assert named <= PLUGIN | {"--tilesight-"}, named - PLUGIN


def test_every_option_of_the_command_exists():
    known = set(re.findall(r"^  (--[\w-]+)", run_options.USAGE, re.MULTILINE))
    named = set()
    for line in GUIDE.splitlines():
        for command in re.findall(r"tilesight (?:run|check) [^`]*", line):
            named |= set(re.findall(r"(?<![\w-])--[a-z][\w-]+", command))
    assert named and named <= known, named - known


def test_the_names_of_a_marker_are_those_in_the_guide():
    for name in options.FOR_ONE_TEST:
        assert f"`{name}`" in GUIDE
