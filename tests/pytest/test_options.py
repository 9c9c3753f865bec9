"""Options, markers, configuration files, and pytest's own options beside them."""

import json
import os
import subprocess
import sys
import textwrap

import pytest

from conftest import PACKAGE, PROJECT

BOTH = """
    def test_clean(): clean()
    def test_buggy(): buggy()
"""


def test_nothing_happens_without_the_option(check):
    suite = check(on=False, tests="""
        import sys

        def test_modules():
            assert "tilesight.session" not in sys.modules and "tilesight.pytest_plugin.checks" not in sys.modules
    """, kernels="")
    suite.counts(passed=1)
    assert "tilesight:" not in suite.out


def test_the_plugin_imports_nothing_heavy():
    program = "import tilesight.pytest_plugin, sys; print([m for m in ('numpy', 'triton', 'torch') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": str(PACKAGE)}, text=True,
                          capture_output=True, check=True)
    assert done.stdout.strip() == "[]"


def test_an_installed_plugin_registers_itself(check, pytester, monkeypatch):
    """The entry point that pyproject.toml declares, as an installation would have it; -p may be given, too."""
    tomllib = pytest.importorskip("tomllib")
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    declared = project["entry-points"]["pytest11"]
    metadata = check.folder / "site" / "tilesight-0.1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: tilesight\nVersion: 0.1.0\n")
    (metadata / "entry_points.txt").write_text(
        "[pytest11]\n" + "".join(f"{name} = {module}\n" for name, module in declared.items()))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(PACKAGE), str(metadata.parent)]))
    check(tests=BOTH).counts(passed=1, failed=1)  # with -p
    pytester.runpytest_subprocess("--tilesight").assert_outcomes(passed=1, failed=1)


def test_the_setting_of_a_project(check):
    (check.folder / "pytest.ini").write_text("[pytest]\ntilesight = true\n")
    suite = check(on=False, tests=BOTH)
    suite.counts(passed=1, failed=1)
    suite = check("-o", "tilesight=false", on=False, tests="def test_nothing(): pass\n")
    assert "= tilesight =" not in suite.out


@pytest.mark.parametrize("options, message", [
    (["--tilesight", "--tilesight-num-sms=none"], "--tilesight-num-sms is 'none'; it must be a whole number from 1"),
    (["--tilesight", "--tilesight-ignore=out-of-bound"], '"out-of-bound" is no kind of finding; did you mean'),
    (["--tilesight", "--tilesight-fail-on=often"], "--tilesight-fail-on is 'often'; it can be error, warning"),
    (["--tilesight-client=sanitizer"], "--tilesight-client needs --tilesight"),
])
def test_wrong_options_are_usage_errors(check, options, message):
    suite = check(*options, on=False, tests=BOTH)
    assert suite.result.ret == 4
    assert message in suite.err
    assert "Traceback" not in suite.err


def test_ignored_kinds(check):
    suite = check("--tilesight-ignore=out-of-bounds", tests=BOTH)
    suite.counts(passed=2)
    assert suite.report["summary"]["launches"] == 2
    assert "1 suppressed" in suite.section("tilesight")


def test_a_comment_on_the_line_suppresses(check):
    from conftest import KERNELS

    suite = check(tests=BOTH, kernels=KERNELS.replace("# no mask:", "# tilesight: ignore[out-of-bounds] padded;"))
    suite.counts(passed=2)
    assert suite.report["summary"]["launches"] == 2 and "1 suppressed" in suite.section("tilesight")


def test_markers(check):
    suite = check("--strict-markers", tests="""
        @pytest.mark.tilesight(client="off")
        def test_off():
            x, y = buggy()
            assert (x == y).all()

        @pytest.mark.tilesight(ignore=["out-of-bounds"])
        def test_ignored(): buggy()

        @pytest.mark.tilesight(ignore="out-of-bounds")
        class TestInner:
            @pytest.mark.tilesight(num_sms=3)
            def test_inherited(self): buggy()

        def test_plain(): buggy()
    """)
    suite.counts(passed=3, failed=1)
    assert "met by test_it.py::test_plain" in suite.section("tilesight")
    assert "1 finding ignored, as markers of tests say" in suite.section("tilesight")
    finding, = suite.report["findings"]
    assert finding["counts"]["launches"] == 1


def test_markers_count_under_run(check):
    """Without the plugin, which an installation would register: `tilesight run` brings its own."""
    (check.folder / "sub").mkdir()
    check(on=False, tests="""
        @pytest.mark.tilesight(client="off")
        def test_off(): buggy()

        @pytest.mark.tilesight(ignore=["out-of-bounds"])
        def test_ignored(): buggy()

        @pytest.mark.tilesight(clients="off")
        def test_wrong(): clean()

        def test_clean(): clean()
    """)  # writes the files
    run = [sys.executable, "-m", "tilesight", "run"]
    done = subprocess.run([*run, "pytest", "-p", "no:cacheprovider", "--strict-markers", "-W", "error", "-k", "not wrong"],
                          cwd=check.folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 passed" in done.stdout
    assert "1 finding ignored, as markers of tests say" in done.stderr
    assert "1 of 3 launches was not checked: client off" in done.stderr
    done = subprocess.run([*run, "pytest", "-p", "no:cacheprovider", "-k", "wrong"], cwd=check.folder,
                          capture_output=True, text=True, timeout=120)
    assert "the marker tilesight has no clients" in done.stdout and "1 error" in done.stdout


def test_a_marker_chooses_the_order_of_programs(check):
    check(tests="""
        import tilesight

        @pytest.mark.tilesight(seed=7)
        def test_marked():
            clean()
            assert tilesight.config.seed == 7

        def test_plain():
            clean()
            assert not tilesight.config.seed
    """).counts(passed=2)


@pytest.mark.parametrize("mark, message", [
    ("clients='off'", "the marker tilesight has no clients; it has ignore, client"),
    ("'off'", "the marker tilesight takes names only"),
    ("num_sms=0", "num-sms is '0'; it must be a whole number from 1"),
    ("seed=-1", "seed is '-1'; it must be a whole number from 0"),
])
def test_wrong_markers_are_errors_of_the_test(check, mark, message):
    suite = check(tests=f"@pytest.mark.tilesight({mark})\ndef test_marked(): clean()\ndef test_other(): clean()\n")
    suite.counts(passed=1, errors=1)
    assert message in suite.section("ERROR at setup of test_marked")


def test_stopping_at_the_first_failure(check):
    suite = check("-x", tests="def test_1(): buggy()\ndef test_2(): buggy()\n")
    suite.counts(failed=1)
    assert suite.report["summary"]["launches"] == 1


def test_the_last_failed(check):
    check("-p", "cacheprovider", tests=BOTH).counts(passed=1, failed=1)
    check("-p", "cacheprovider", "--lf").counts(failed=1)


def test_collecting_only(check):
    suite = check("--co", "-q", tests=BOTH)
    assert suite.result.ret == 0
    assert "= tilesight =" not in suite.out


def test_a_suite_without_launches_says_so(check):
    suite = check(tests="def test_nothing(): pass\n")
    suite.counts(passed=1)
    assert "no kernel was launched: nothing was checked" in suite.section("tilesight")


def test_without_a_terminal(check):
    suite = check("-p", "no:terminal", tests=BOTH)
    assert suite.result.ret == 1
    assert suite.report["findings"][0]["test"] == "test_it.py::test_buggy"


def test_the_interpreter_of_triton_is_switched_off(check, monkeypatch):
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    suite = check(tests=BOTH)
    suite.counts(passed=1, failed=1)
    assert "TRITON_INTERPRET=1 is ignored" in suite.section("tilesight")


def test_a_single_kernel(check):
    suite = check("--tilesight-kernel-name=other", tests=BOTH)
    suite.counts(passed=2)
    assert "no launch matches --tilesight-kernel-name other (kernels seen: copy)" in suite.section("tilesight")


def test_saved_launches(check):
    suite = check("--tilesight-save=bad.tsb", tests=BOTH)
    suite.counts(passed=1, failed=1)
    assert "saved 1 launch to bad.tsb" in suite.section("tilesight")
    assert (check.folder / "bad.tsb").exists()


def test_a_report_that_cannot_be_written_is_refused_at_once(check):
    suite = check("--tilesight", "--tilesight-json=nowhere/report.json", on=False, tests=BOTH)
    assert suite.result.ret == 4
    assert "--tilesight-json nowhere/report.json: there is no folder" in suite.err


def test_sarif(check):
    suite = check("--tilesight-sarif=found.sarif", tests=BOTH)
    suite.counts(passed=1, failed=1)
    run, = json.loads((check.folder / "found.sarif").read_text())["runs"]
    result, = run["results"]
    assert result["ruleId"] == "out-of-bounds"
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"].endswith("kernels.py") and place["region"]["startLine"] == 10


def test_annotations_of_github(check):
    suite = check("--tilesight-format=github", tests=BOTH)
    line, = [line for line in suite.out.splitlines() if line.startswith("::error ")]
    assert "kernels.py,line=10" in line and "out-of-bounds" in line


def test_a_baseline_accepts_what_is_known(check):
    suite = check("--tilesight-write-baseline=known.json", tests=BOTH)
    suite.counts(passed=2)
    assert suite.result.ret == 0
    new = """
        @triton.jit
        def other(x_ptr):
            tl.store(x_ptr + 5, 1.0)

        def test_new(): other[(1,)](np.zeros(3, np.float32))
    """
    suite = check("--tilesight-baseline=known.json", tests=BOTH, test_new="from kernels import *\n" +
                  textwrap.dedent(new))
    suite.counts(passed=2, failed=1)
    assert "accepted" in suite.section("tilesight")
    finding, = suite.report["findings"]
    assert finding["kernel"] == "other"


def test_settings_of_pyproject(check):
    (check.folder / "pyproject.toml").write_text(
        '[tool.pytest.ini_options]\ntilesight = true\n[tool.tilesight]\nignore = ["out-of-bounds"]\n')
    suite = check(on=False, tests=BOTH)
    suite.counts(passed=2)
    assert "1 suppressed" in suite.section("tilesight")


def test_files_stay_where_they_were(check):
    check("--tilesight-write-baseline=known.json", tests=BOTH)
    suite = check("--tilesight-baseline=known.json", "--tilesight-sarif=found.sarif", tests="""
        def test_moved(tmp_path, monkeypatch):
            monkeypatch.chdir(tmp_path)
            buggy()

        def test_moved_for_good(tmp_path):
            import os
            os.chdir(tmp_path)
            buggy()
    """)
    suite.counts(passed=2)
    assert suite.result.ret == 0, suite.out
    assert (check.folder / "found.sarif").exists()


TWO_PLACES = """
    @triton.jit
    def twice(x_ptr, AT: tl.constexpr):
        if AT == 0:
            tl.store(x_ptr + 5, 1.0)
        else:
            tl.store(x_ptr + 5, 1.0)

    def test_first(): twice[(1,)](np.zeros(3, np.float32), 0)
    def test_second(): twice[(1,)](np.zeros(3, np.float32), 1)
"""


def test_the_counts_of_a_baseline_are_spent_once(check):
    check("--tilesight-write-baseline=known.json", "-k", "first", tests=TWO_PLACES).counts(passed=1, deselected=1)
    suite = check("--tilesight-baseline=known.json", tests=TWO_PLACES)
    suite.counts(passed=1, failed=1)
    assert "1 error" in suite.section("tilesight") and suite.result.ret == 1


def test_workers_together_cannot_spend_more_than_there_is(check):
    pytest.importorskip("xdist")
    check("--tilesight-write-baseline=known.json", "-k", "first", tests=TWO_PLACES)
    suite = check("--tilesight-baseline=known.json", "-p", "xdist", "-n2", "--dist=each", tests=TWO_PLACES.replace(
        ", 1)", ", int(__import__('os').environ['PYTEST_XDIST_WORKER'] != 'gw0'))").replace(
        ", 0)", ", int(__import__('os').environ['PYTEST_XDIST_WORKER'] != 'gw0'))"))
    suite.counts(passed=4)
    assert "1 error" in suite.section("tilesight")
    assert suite.result.ret == 1


def test_some_tests_keep_the_rest_of_the_baseline(check):
    check("--tilesight-write-baseline=known.json", tests=BOTH)
    known = (check.folder / "known.json").read_text()
    both = ["--tilesight-baseline=known.json", "--tilesight-write-baseline=known.json"]
    for selection in (["-k", "clean"], ["test_it.py::test_clean"]):
        assert check(*both, *selection).result.ret == 0
        assert (check.folder / "known.json").read_text() == known
    suite = check("--tilesight-baseline=known.json", tests="def test_clean(): clean()\n")
    assert "--tilesight-write-baseline writes it anew" in suite.section("tilesight")


def test_a_folder_is_a_selection(check):
    (check.folder / "sub").mkdir()
    (check.folder / "sub" / "test_sub.py").write_text("from kernels import *\ndef test_sub(): clean()\n")
    (check.folder / "pytest.ini").write_text("[pytest]\npythonpath = .\n")
    check("--tilesight-write-baseline=known.json", tests=BOTH)
    suite = check("--tilesight-baseline=known.json", "sub")
    suite.counts(passed=1)
    assert "no longer" not in suite.out


def test_problems_of_processes_reach_the_exit_status(check):
    suite = check(child="import sys\nfrom kernels import *\ncopy[(1,)]()\n", tests="""
        import subprocess, sys

        def test_child(): subprocess.run([sys.executable, "child.py"])
    """)
    assert suite.report["problems"]
    suite.counts(passed=1)
    assert suite.result.ret == 1


def test_github_without_launches(check, monkeypatch, tmp_path):
    suite = check("--tilesight-format=github", tests="def test_nothing(): pass\n")
    assert "nothing was checked" in suite.section("tilesight")
    assert any(line.startswith("::") for line in suite.out.splitlines()), suite.out


def test_tests_that_are_off_are_counted(check):
    suite = check(tests="""
        @pytest.mark.tilesight(client="off")
        def test_off(): buggy()

        def test_clean(): clean()
    """)
    suite.counts(passed=2)
    said = suite.section("tilesight")
    assert "copy: 2 launches, ok" in said and "bounds not checked" not in said
    assert said.count("1 of 2 launches was not checked: client off") == 2  # of the kernel, and of all


def test_a_launch_that_is_expected_to_be_refused(check):
    suite = check("--tilesight-fail-on=error,unknown", tests="""
        def test_refused():
            with pytest.raises(triton.CompilationError):
                launch(64, block=63)

        def test_arguments():
            with pytest.raises(TypeError):
                copy[(1,)]([1.0], [2.0], 1, BLOCK=64)

        def test_clean(): clean()
    """)
    suite.counts(passed=3)
    assert "2 launches were refused by Triton (the program was told)." in suite.section("tilesight")
    assert suite.result.ret == 0
