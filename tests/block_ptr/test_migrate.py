"""`tilesight migrate block-ptr`: migrate/NAME.before.py becomes NAME.after.py, NAME.plain.py with --to plain,
NAME.promised.py with --to descriptor --promise aligned,inside, and descriptor_NAME.before.py NAME.descriptor.py without
a promise; all compute the same on the engine. NAME.refused.py is refused with NAME.refused.txt; what only one of the others refuses
has NAME.plain.txt, and so on. --rebase writes what is expected anew: look at it in git."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tilesight as ts
from tilesight.migrate import main
from tilesight.triton import restored

from flavours import NATIVE, RELEASE, library

pytest.importorskip("libcst")
HERE = Path(__file__).resolve().parent / "migrate"
ROOT = HERE.parents[2]
BEFORE = sorted(path.name.removesuffix(".before.py") for path in HERE.glob("*.before.py"))
REFUSED = sorted(path.name.removesuffix(".refused.py") for path in HERE.glob("*.refused.py"))
# What a release refuses in a file as it was.
REFUSED_BEFORE = {("keywords", (3, 8)): "mask=None for a block pointer", ("positional", (3, 8)): "None as its mask",
                  ("element_type_by_type", (3, 8)): ".type.element_ty", ("element_type_by_type", (3, 9)): ".type.element_ty",
                  ("descriptor_two_orders", (3, 8)): "an `if` between block pointers of different `order`",
                  ("one_dimension", (3, 6)): "an extent without a tuple where it is 1",
                  ("one_dimension", (3, 7)): "an extent without a tuple where it is 1"}
DESCRIPTOR = ["--to", "descriptor"]
SIZES = [(20, 40), (16, 32), (1, 1), (33, 17), (31, 65)]  # blocks have 16 x 16 elements


def expected(path, found, request):
    if request.config.getoption("--rebase", default=False):
        path.write_text(found)
    assert path.exists(), f"{path} is missing: run pytest tests/block_ptr/test_migrate.py --rebase"
    assert found == path.read_text()


def migrate(*arguments):
    return main(["block-ptr", *map(str, arguments)])


@pytest.mark.parametrize("name", BEFORE)
def test_text(name, tmp_path, request, capsys):
    file = tmp_path / "kernels.py"
    file.write_bytes((HERE / f"{name}.before.py").read_bytes())
    assert migrate("--check", file) == 1 and file.read_text() == (HERE / f"{name}.before.py").read_text()
    assert migrate(file, "--write") == 0, capsys.readouterr().err
    expected(HERE / f"{name}.after.py", file.read_text(), request)
    assert migrate("--check", file) == 0  # nothing is left to do


def loaded(path):
    name = "migrate_" + path.name.replace(".", "_")
    spec = importlib.util.spec_from_file_location(name, path)
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def result_of(module, size):
    rows, columns = size
    x = np.random.default_rng(rows).standard_normal(size, dtype=np.float32)
    y = np.full(size, -7, np.float32)
    report = ts.check(module.kernel)[(-(-rows // 16), )](x, y, rows, columns, BM=16, BN=16)
    assert report.verdict == "ok", report.text()
    return y


@pytest.fixture
def block_ptr(monkeypatch):
    monkeypatch.setitem(sys.modules, "block_ptr", library())


@pytest.mark.parametrize("name", BEFORE)
def test_the_same_numbers(name, block_ptr, collect):
    if (name, RELEASE) in REFUSED_BEFORE:
        pytest.skip(f"this Triton refuses {REFUSED_BEFORE[name, RELEASE]}")
    try:
        assert restored.install() != NATIVE
        before = loaded(HERE / f"{name}.before.py")
        old = [result_of(before, size) for size in SIZES]
    finally:
        restored.uninstall()
    after = loaded(HERE / f"{name}.after.py")
    assert any((y != -7).any() for y in old)
    for y, size in zip(old, SIZES):
        np.testing.assert_array_equal(result_of(after, size), y)


def others(target):
    """The files that a target other than vendored-file takes."""
    return [name for name in BEFORE if not (HERE / f"{name}.{target}.txt").exists()]


@pytest.mark.parametrize("name", BEFORE)
def test_text_of_plain(name, tmp_path, request, capsys):
    check_other("plain", name, ["--to", "plain"], tmp_path, request, capsys)


@pytest.mark.parametrize("name", BEFORE)
def test_text_of_promised(name, tmp_path, request, capsys):
    check_other("promised", name, [*DESCRIPTOR, "--promise", "aligned,inside"], tmp_path, request, capsys)


@pytest.mark.parametrize("name", [name for name in BEFORE if name.startswith("descriptor_")])
def test_text_of_descriptor(name, tmp_path, request, capsys):
    check_other("descriptor", name, DESCRIPTOR, tmp_path, request, capsys)


def check_other(target, name, options, tmp_path, request, capsys):
    file = tmp_path / "kernels.py"
    text = (HERE / f"{name}.before.py").read_text()
    file.write_text(text)
    status = migrate(file, *options, "--write")
    said = capsys.readouterr().err
    assert os.listdir(tmp_path) == ["kernels.py"]
    if status == 2:
        assert said.count("\n") == 1 and file.read_text() == text
        assert not (HERE / f"{name}.{target}.py").exists()
        expected(HERE / f"{name}.{target}.txt", said.replace(str(tmp_path) + "/", ""), request)
    else:
        assert status == 0 and not (HERE / f"{name}.{target}.txt").exists()
        expected(HERE / f"{name}.{target}.py", file.read_text(), request)
        assert migrate("--check", file, *options) == 0  # nothing is left to do


@pytest.mark.parametrize("name", others("plain"))
def test_the_same_numbers_of_plain(name, collect, block_ptr):
    after, plain = (loaded(HERE / f"{name}.{kind}.py") for kind in ("after", "plain"))
    for size in SIZES:
        np.testing.assert_array_equal(result_of(plain, size), result_of(after, size))


# Rows are multiples of 16 bytes.
ALIGNED = [(20, 40), (16, 32), (1, 16), (33, 64)]
NARROW = {"helper_copies": "blocks of one element", "helper_without_checks": "blocks of one element"}


@pytest.mark.parametrize("name, target", [(name, target) for target in ("promised", "descriptor") for name in BEFORE
                                          if (HERE / f"{name}.{target}.py").exists()])
def test_the_same_numbers_of_descriptors(name, target, collect, block_ptr):
    if name in NARROW:
        pytest.skip(f"Triton makes no descriptor of {NARROW[name]}")
    after, descriptors = (loaded(HERE / f"{name}.{kind}.py") for kind in ("after", target))
    for size in ALIGNED:
        np.testing.assert_array_equal(result_of(descriptors, size), result_of(after, size))


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name, tmp_path, request, capsys):
    file = tmp_path / "kernels.py"
    text = (HERE / f"{name}.refused.py").read_text()
    file.write_text(text)
    for options in [], ["--write"], ["--check"], ["--to", "plain"], [*DESCRIPTOR, "--promise", "aligned,inside"]:
        assert migrate(file, *options) == 2
        said = capsys.readouterr()
        assert said.out == "" and said.err.count("\n") == 1
        expected(HERE / f"{name}.refused.txt", said.err.replace(str(tmp_path) + "/", ""), request)
    assert file.read_text() == text and os.listdir(tmp_path) == ["kernels.py"]


PROGRAM = """
import sys
import numpy as np

x = np.random.default_rng(0).standard_normal((20, 40), dtype=np.float32)
y = np.zeros((20, 40), np.float32)
assert sys.argv[1:] == ["an argument"]
kernel[(2, )](x, y, 20, 40, BM=16, BN=16)
"""


def command(folder, *arguments):
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python"), "PYTHONWARNINGS": "ignore",
                   "TILESIGHT_CACHE_DIR": str(folder / "cache")}
    return subprocess.run([sys.executable, "-m", "tilesight", "migrate", *arguments], cwd=folder, env=environment,
                          capture_output=True, text=True, timeout=300)


def test_proved(tmp_path):
    (tmp_path / "p.py").write_text((HERE / "loop.before.py").read_text() + PROGRAM)
    done = command(tmp_path, "block-ptr", "p.py", "--write", "--prove", "--", "an argument")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ("p.py: proved: every launch computes the same before and after\nblock_ptr.py: new\n"
                           "p.py: 6 calls changed\n")
    assert (tmp_path / "p.py").read_text() == (HERE / "loop.after.py").read_text() + PROGRAM
    assert sorted(os.listdir(tmp_path)) == ["block_ptr.py", "cache", "p.py"]


@pytest.mark.parametrize("options, golden", [(["plain"], "plain"), (["descriptor", "--promise", "aligned"], "promised")])
def test_proved_without_another_file(options, golden, tmp_path):
    (tmp_path / "p.py").write_text((HERE / "loop.before.py").read_text() + PROGRAM)
    done = command(tmp_path, "block-ptr", "p.py", "--write", "--prove", "--to", *options, "--", "an argument")
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith("p.py: proved: every launch computes the same before and after\np.py: 6 calls changed\n")
    assert ("triton.set_allocator" in done.stderr) == (golden == "promised")
    assert (tmp_path / "p.py").read_text() == (HERE / f"loop.{golden}.py").read_text() + PROGRAM
    assert sorted(os.listdir(tmp_path)) == ["cache", "p.py"]


def test_a_wrong_library_is_not_proved(tmp_path):
    """A block_ptr.py beside that computes something else is what the migrated program would use."""
    text = (HERE / "loop.before.py").read_text() + PROGRAM
    (tmp_path / "p.py").write_text(text)
    right = (ROOT / "python" / "tilesight" / "triton" / "block_ptr.py").read_text()
    wrong = right.replace("tile = tl.broadcast_to(tl.cast(value,", "tile = tl.broadcast_to(tl.cast(value + 1,")
    assert wrong != right
    (tmp_path / "block_ptr.py").write_text(wrong)
    done = command(tmp_path, "block-ptr", "p.py", "--write", "--prove", "--", "an argument")
    assert done.returncode == 1 and "not proved" in done.stderr, done.stderr
    assert (tmp_path / "p.py").read_text() == text


def test_what_cannot_be_run_is_not_proved(tmp_path):
    text = (HERE / "loop.before.py").read_text()
    (tmp_path / "p.py").write_text(text)
    done = command(tmp_path, "block-ptr", "p.py", "--write", "--prove")
    assert done.returncode == 3 and "no kernel was launched" in done.stderr
    assert (tmp_path / "p.py").read_text() == text and not (tmp_path / "block_ptr.py").exists()


def test_in_a_package_and_windows_lines(tmp_path):
    (tmp_path / "__init__.py").write_text("")
    (tmp_path / "p.py").write_bytes((HERE / "loop.before.py").read_text().replace("\n", "\r\n").encode())
    (tmp_path / "p.py").chmod(0o640)
    assert migrate(tmp_path / "p.py", "--write") == 0
    text = (tmp_path / "p.py").read_bytes()
    assert b"from . import block_ptr as bp\r\n" in text and text.count(b"\n") == text.count(b"\r\n")
    assert (tmp_path / "p.py").stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("target", ["vendored-file", "plain"])
def test_a_file_as_editors_write_it(target, tmp_path, capsys):
    """Byte order mark, lines as on Windows, tabs, and no end of the last line stay."""
    text = (HERE / "loop.before.py").read_text().rstrip().replace("    ", "\t").replace("\n", "\r\n")
    (tmp_path / "p.py").write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert migrate(tmp_path / "p.py", "--to", target) == 0 and "No newline at end of file" in capsys.readouterr().out
    assert migrate(tmp_path / "p.py", "--to", target, "--write") == 0
    written = (tmp_path / "p.py").read_bytes()
    assert written.startswith(b"\xef\xbb\xbfimport") and not written.endswith(b"\n")
    assert written.count(b"\n") == written.count(b"\r\n") and b"\n    " not in written
    assert migrate(tmp_path / "p.py", "--check") == 0


def test_nothing_to_change(tmp_path, capsys):
    for text in "", "\ufeffimport triton\n", "def f(x):\n    return x.load()\n":
        (tmp_path / "p.py").write_text(text)
        for target in "vendored-file", "plain", "descriptor":
            assert migrate(tmp_path / "p.py", "--to", target, "--write") == 0
            said = capsys.readouterr().err
            assert said == f"{tmp_path / 'p.py'}: no block pointers of Triton's: nothing to change\n"
            assert (tmp_path / "p.py").read_text() == text


@pytest.mark.parametrize("arguments, said", [
    (["block-ptrs", "p.py"], "nothing to migrate named block-ptrs; there is block-ptr"),
    (["block-ptr"], "FILE.py"),
    (["block-ptr", "none.py"], "none.py cannot be read: No such file"),
    (["block-ptr", "p.py", "--to", "descriptor", "--promise", "all"], "--promise all: there are aligned and inside"),
    (["block-ptr", "p.py", "--to", "plain", "--promise", "inside"], "--promise is for --to descriptor"),
    (["block-ptr", "p.py", "--to", "else"], "invalid choice"),
    (["block-ptr", "p.py", "--write", "--check"], "not allowed with"),
    (["block-ptr", "p.py", "--", "x"], "arguments after -- are for --prove"),
    (["block-ptr", "broken.py"], "broken.py:1:7: this is no Python 3."),
    (["block-ptr", "python2.py"], "python2.py:2:1: this is no Python 3."),
    (["block-ptr", "latin1.py"], "latin1.py is no text in UTF-8"),
    (["block-ptr", "binary.py"], "source code string cannot contain null bytes"),
    (["block-ptr", "deep.py"], "deep.py: expressions or statements are nested too deep to read"),
    (["block-ptr", "folder"], "folder cannot be read: Is a directory"),
    (["block-ptr", "p.py", "q.py"], "unrecognized arguments: q.py"),
    (["block-ptr", "p.py"], "is another file than Tilesight's block_ptr.py"),
])
def test_bad_input(arguments, said, tmp_path):
    (tmp_path / "p.py").write_text((HERE / "loop.before.py").read_text())
    (tmp_path / "broken.py").write_text("def f(:\n")
    (tmp_path / "python2.py").write_text("import triton\nprint 'a kernel'\n")
    (tmp_path / "latin1.py").write_bytes(b"# caf\xe9\n")
    (tmp_path / "binary.py").write_bytes(b"a = 1\0\n")
    (tmp_path / "deep.py").write_text(f"a = {' + '.join(['1'] * 5000)}\n")
    (tmp_path / "folder").mkdir()
    (tmp_path / "block_ptr.py").write_text("mine = 1\n")
    done = command(tmp_path, *arguments)
    assert done.returncode == 2 and said in done.stderr and done.stderr.count("\n") == 1, done.stderr


def test_without_libcst(tmp_path):
    (tmp_path / "p.py").write_text("")
    (tmp_path / "libcst.py").write_text("raise ImportError\n")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "python"), str(tmp_path)])}
    done = subprocess.run([sys.executable, "-m", "tilesight", "migrate", "block-ptr", "p.py"], cwd=tmp_path,
                          env=environment, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr == "tilesight: error: `migrate` needs LibCST: python -m pip install libcst\n"
