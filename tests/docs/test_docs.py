import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    prose = re.sub(r"```.*?```|`[^`\n]*`", lambda code: "code", page.read_text(), flags=re.DOTALL)
    for target, _, anchor in re.findall(r"\]\(([^)#:]*)(#([^)]*))?\)", prose):
        path = (page.parent / target).resolve() if target else page
        assert path.exists(), f"{target} is not there"
        if anchor:
            headings = [re.sub(r"[^\w\- ]", "", line.lstrip("# ").lower()).replace(" ", "-")
                        for line in path.read_text().splitlines() if line.startswith("#")]
            assert anchor in headings, f"{target} has no heading {anchor}"


def test_generated_pages_are_up_to_date():
    done = subprocess.run([sys.executable, ROOT / "scripts" / "make_docs.py", "--check"], text=True,
                          capture_output=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_operation_of_triton_is_executed_and_tested():
    rows = [line for line in (ROOT / "docs" / "triton-ops.md").read_text().splitlines() if line.startswith("| `tt.")]
    table = (ROOT / "src" / "dialects" / "tt.def").read_text()
    assert len(rows) == len(re.findall(r"^TS_OP\(", table, re.MULTILINE))
    assert not [row for row in rows if "**no" in row]


def test_the_example_client_is_the_one_that_is_built():
    page = (ROOT / "docs" / "write-a-client.md").read_text()
    shown = re.search(r"```cpp\n(class Traffic.*?\n};)\n", page, re.DOTALL).group(1)
    assert shown in (ROOT / "src" / "clients" / "traffic" / "traffic.cpp").read_text()


def test_the_page_about_python_runs_as_it_stands(tmp_path):
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "python.md").read_text(), re.DOTALL)
    assert len(blocks) >= 6
    program = tmp_path / "page.py"
    program.write_text("\n".join(blocks))
    done = subprocess.run([sys.executable, program], cwd=tmp_path, text=True, capture_output=True, timeout=300,
                          env={**os.environ, "PYTHONPATH": str(ROOT / "python")})
    assert done.returncode == 0, done.stdout + done.stderr
    assert "scale ok" in done.stdout


def test_the_pass_in_python_runs_as_it_stands(tmp_path):
    blocks = re.findall(r"```python\n(import tilesight as ts\n.*?)```", (ROOT / "docs" / "passes.md").read_text(), re.DOTALL)
    assert len(blocks) == 1
    (tmp_path / "my.py").write_text(blocks[0])
    (tmp_path / "k.ttir").write_text("tt.func public @k(%x: i32) {\n  %a = arith.addi %x, %x : i32\n  tt.return\n}\n")
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    for command in ([sys.executable, "my.py"], [sys.executable, "-m", "tilesight", "opt", "k.ttir", "--plugin", "my.py", "--pass", "double"]):
        done = subprocess.run(command, cwd=tmp_path, env=environment, text=True, capture_output=True, timeout=120)
        assert done.returncode == 0, done.stdout + done.stderr
    assert "arith.muli" in done.stdout


def test_the_report_in_the_readme_is_the_one_that_is_printed():
    # A report names the test that is running; a reader's does not.
    environment = {name: value for name, value in os.environ.items() if name != "PYTEST_CURRENT_TEST"}
    done = subprocess.run([sys.executable, "-m", "tilesight", "run", "examples/triton/attention.py"], cwd=ROOT,
                          env=environment, text=True, capture_output=True, timeout=300)
    shown = re.search(r"```\n\$ tilesight run examples.*?\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    printed = [without_seconds(line) for line in (done.stdout + done.stderr).splitlines()]
    for line in shown.group(1).splitlines():
        if line.strip() != "…":
            assert without_seconds(line) in printed


def without_seconds(line):
    return re.sub(r"\d+(\.\d)? m?s\b", "N s", line)


def test_the_packages_to_install_by_hand_are_those_that_setup_installs():
    """Beyond what only the tests need."""
    setup = re.search(r'^debian="(.*?)"', (ROOT / "scripts" / "setup").read_text(), re.DOTALL | re.MULTILINE).group(1).split()
    needed = {name for name in setup if name.endswith("-dev") and name not in
              ("python3-dev", "libgtest-dev", "librapidcheck-dev", "libbenchmark-dev")}
    said = (ROOT / "docs" / "getting-started.md").read_text()
    assert needed and not [name for name in needed if name not in said.split("`pip install .`")[0]]


def test_pip_builds_what_it_installs():
    plugins = re.findall(r"^ts_plugin\((\w+) ", (ROOT / "plugins" / "CMakeLists.txt").read_text(), re.MULTILINE)
    targets = re.search(r"^build.targets = \[(.*)\]", (ROOT / "pyproject.toml").read_text(), re.MULTILINE).group(1)
    assert len(plugins) == 3 and set(re.findall(r'"(\w+)"', targets)) == {"tilesight_native", *plugins}
