"""Which tests fail because of their launches, and what is said."""


def test_a_test_with_an_error_finding_fails(check):
    suite = check(tests="""
        def test_clean():
            x, y = clean()
            assert (x == y).all()

        def test_buggy():
            x, y = buggy()
            assert (x == y).all()
    """)
    suite.counts(passed=1, failed=1)
    assert suite.result.ret == 1
    said = suite.section("test_buggy")
    assert "kernels.py:10:9: error: out-of-bounds: load from x_ptr reads up to 112 bytes past its end" in said
    assert "help: mask the load with offs < n" in said
    assert "site-packages" not in said and "pytest_plugin" not in said
    assert "FAILED test_it.py::test_buggy - tilesight: out-of-bounds: load from x_ptr" in suite.out


def test_the_report_names_the_test_with_its_parameters(check):
    suite = check(tests="""
        @pytest.mark.parametrize("n", [64, 100, 128])
        def test_copy(n):
            launch(n)
    """)
    suite.counts(passed=2, failed=1)
    finding, = suite.report["findings"]
    assert finding["test"] == "test_it.py::test_copy[100]"


def test_the_summary_merges_findings_and_names_their_tests(check):
    suite = check(tests="""
        @pytest.mark.parametrize("n", range(97, 102))
        def test_copy(n):
            launch(n)
    """)
    said = suite.section("tilesight")
    assert said.count("error: out-of-bounds") == 1
    assert "met by test_it.py::test_copy[97], test_it.py::test_copy[98], test_it.py::test_copy[99] and 2 more" in said
    assert "copy: 5 launches, 1 error" in said
    assert "1 kernel, 5 launches" in said and "Not checked: races" in said


def test_a_failure_of_the_tests_own_is_kept(check):
    suite = check(tests="""
        def test_wrong():
            x, y = buggy()
            assert x.sum() == 0, "the sum is wrong"
    """)
    suite.counts(failed=1)
    said = suite.section("test_wrong")
    assert "the sum is wrong" in said
    assert "error: out-of-bounds" in said[said.index("- tilesight -"):]


def test_findings_of_fixtures_belong_to_the_test_that_set_them_up(check):
    suite = check(tests="""
        @pytest.fixture(scope="module")
        def before():
            buggy()

        @pytest.fixture
        def after():
            yield
            buggy()

        def test_first(before): pass
        def test_second(before): pass
        def test_third(after): pass
    """)
    suite.counts(passed=2, errors=2)
    assert "out-of-bounds" in suite.section("ERROR at setup of test_first")
    assert "out-of-bounds" in suite.section("ERROR at teardown of test_third")


def test_expected_failures_stay_expected(check):
    suite = check(tests="""
        @pytest.mark.xfail
        def test_bug_is_known():
            buggy()

        @pytest.mark.xfail(strict=True)
        def test_nothing_is_wrong():
            clean()
    """)
    suite.counts(xfailed=1, failed=1)


def test_a_test_that_skips_itself_after_a_finding_fails(check):
    suite = check(tests="""
        def test_skipped():
            buggy()
            pytest.skip("no more to do")
    """)
    suite.counts(failed=1)


def test_launches_within_raises_are_no_exceptions(check):
    suite = check(tests="""
        def test_raises():
            with pytest.raises(ValueError):
                clean()
                raise ValueError

        def test_no_exception():
            with pytest.raises(Exception):
                buggy()
    """)
    suite.counts(passed=1, failed=1)
    assert "DID NOT RAISE" in suite.section("test_no_exception")


def test_output_that_a_test_reads_is_its_own(check):
    suite = check(tests="""
        def test_output(capfd):
            buggy()
            print("words")
            assert capfd.readouterr() == ("words\\n", "")
    """)
    suite.counts(failed=1)
    assert "out-of-bounds" in suite.section("test_output")


def test_unittest_classes(check):
    suite = check(tests="""
        import unittest

        class Kernels(unittest.TestCase):
            def test_clean(self):
                clean()

            def test_buggy(self):
                buggy()

            def test_wrong(self):
                buggy()
                self.assertEqual(1, 2)

            @unittest.expectedFailure
            def test_known(self):
                buggy()
                self.assertEqual(1, 2)
    """)
    suite.counts(passed=1, failed=2, xfailed=1)
    assert "help: mask the load" in suite.section("Kernels.test_buggy")
    assert "AssertionError: 1 != 2" in suite.section("Kernels.test_wrong")


def test_doctests(check):
    suite = check("--doctest-modules", examples='''
        def run():
            """
            >>> from kernels import buggy
            >>> x, y = buggy()
            >>> float(y[3])
            3.0
            """
    ''')
    suite.counts(failed=1)
    assert "out-of-bounds" in suite.section("[doctest] examples.run")


def test_launches_of_an_imported_module_are_errors_of_its_collection(check):
    suite = check(tests="buggy()\ndef test_nothing(): pass\n")
    suite.counts(errors=1)
    assert "out-of-bounds" in suite.section("ERROR collecting test_it.py")


def test_launches_of_a_conftest_make_the_run_fail(check):
    suite = check(conftest="import kernels\nkernels.buggy()\n", tests="def test_nothing(): pass\n")
    suite.counts(passed=1)
    assert suite.result.ret == 1
    assert "\n  met outside all tests\n" in suite.section("tilesight")


def test_a_finding_of_a_test_and_outside_all_tests(check):
    suite = check(conftest="import kernels\nkernels.buggy()\n", tests="def test_buggy(): buggy()\n")
    assert "met by test_it.py::test_buggy, and outside all tests" in suite.section("tilesight")


GAP = """
    @triton.jit
    def row(x_ptr, y_ptr, BLOCK: tl.constexpr):
        offs = tl.arange(0, BLOCK)
        tl.store(y_ptr + offs, tl.load(x_ptr + offs))  # x has three columns of four

    def test_gap():
        x, y = np.zeros((8, 4), np.float32), np.zeros(4, np.float32)
        row[(1,)](x[:, :3], y, BLOCK=4)
"""


def test_warnings_fail_nothing_and_are_told_in_full_at_the_end(check):
    suite = check(tests=GAP)
    suite.counts(passed=1)
    said = suite.section("tilesight")
    assert "warning: out-of-view" in said and "tl.load(x_ptr + offs)" in said
    assert "met by test_it.py::test_gap" in said
    assert "row: 1 launch, 1 warning" in said


def test_fail_on_warning(check):
    suite = check("--tilesight-fail-on=warning", tests=GAP)
    suite.counts(failed=1)
    assert "warning: out-of-view" in suite.section("test_gap")


def test_fail_on_never(check):
    suite = check("--tilesight-fail-on=never", tests="def test_buggy(): buggy()\n")
    suite.counts(passed=1)
    assert suite.result.ret == 0
    assert "help: mask the load" in suite.section("tilesight")


UNKNOWN = """
    @triton.jit
    def strange(y_ptr):
        x = tl.inline_asm_elementwise("frob.b32 $0, $1;", "=r,r", [1], dtype=tl.int32, is_pure=True, pack=1)
        tl.store(y_ptr, x)

    def test_strange():
        strange[(1,)](np.zeros(1, np.int32))
"""


def test_unknowns_fail_nothing_and_stand_in_the_summary(check):
    suite = check(tests=UNKNOWN)
    suite.counts(passed=1)
    said = suite.section("tilesight")
    assert "unknown: " in said and "frob.b32" in said and "kernel strange, 1 launch" in said
    assert "strange: 1 launch, unknown (1 reason)" in said


def test_fail_on_unknown(check):
    suite = check("--tilesight-fail-on=unknown", tests=UNKNOWN)
    suite.counts(failed=1)
    assert "frob.b32" in suite.section("test_strange")


def test_fail_on_unknown_in_pyproject(check):
    (check.folder / "pyproject.toml").write_text('[tool.tilesight]\nfail-on = "never,unknown"\n')
    suite = check(tests=UNKNOWN + "\n    def test_buggy(): buggy()\n")
    suite.counts(passed=1, failed=1)
    assert "frob.b32" in suite.section("test_strange")
