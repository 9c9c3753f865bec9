"""ts.opt, and passes in Python (@ts.pass_): the same tables and the same care as with plugins in C."""

import json
import os
import pathlib
import subprocess
import sys
import textwrap
import typing

import pytest

import tilesight as ts
from tilesight import ir

ROOT = pathlib.Path(__file__).resolve().parents[2]
KERNEL = """tt.func public @k(%x: i32, %p: !tt.ptr<i32>) {
  %a = arith.addi %x, %x : i32
  tt.store %p, %a : !tt.ptr<i32>
  tt.return
}
"""


@ts.pass_(stage="ttir")
def double(module, *, most: typing.Annotated[int, range(1, 9)] = 8, how: typing.Literal["product", "shift"] = "product", loud: bool = False,
           note: str = ""):
    """x + x is x * 2"""
    for add in module.walk("arith.addi")[:most]:
        a, b = add.operands
        if a != b:
            module.refused(add, "differ", "the operands differ")
            continue
        factor = module.constant(1 if how == "shift" else 2, a.type, before=add, location=add.location)
        new = module.create("arith.shli" if how == "shift" else "arith.muli", [a, factor], [a.type], before=add, location=add.location)
        add.result.replace_uses(new.result)
        module.done(add, "doubled", note or ("LOUD" if loud else "quiet"))
        add.erase()


def test_text_goes_in_and_text_with_remarks_comes_out():
    result = ts.opt(KERNEL, [double])
    assert isinstance(result, str) and "arith.muli" in result and "arith.addi" not in result
    assert [(r["pass"], r["kind"], r["rule"], r["message"], r["line"]) for r in result.remarks] == [("double", "done", "doubled", "quiet", 2)]
    assert result.changed == ["double"]
    assert ts.opt(result, [double]) == result, "it is idempotent"
    assert ts.opt(KERNEL, []) == KERNEL and ts.opt(KERNEL, "cse,dce") == KERNEL


def test_options_are_typed():
    assert "arith.shli" in ts.opt(KERNEL, double(how="shift"))
    assert ts.opt(KERNEL, [double(loud=True)]).remarks[0]["message"] == "LOUD"
    assert ts.opt(KERNEL, ["cse", double(note="a b, c=d", most=1)]).remarks[-1]["message"] == "a b, c=d"
    for options, message in ((dict(most=9), "option 'most' of pass 'double' cannot be '9': it must be a whole number from 1 to 8"),
                             (dict(how="sum"), "must be one of product, shift"), (dict(loud="perhaps"), "option 'loud'")):
        with pytest.raises(ts.Error, match=message):
            ts.opt(KERNEL, double(**options))
    with pytest.raises(ts.Error, match="has no option 'lest'"):
        double(lest=3)
    with pytest.raises(ts.Error, match="there is no pass 'canonicalise'; did you mean canonicalize"):
        ts.opt(KERNEL, "canonicalise")


def test_an_exception_undoes_the_pass_and_names_the_line():
    def helper(module):
        return {}["key"]

    @ts.pass_
    def raises(module):
        module.walk("tt.store")[0].erase()
        helper(module)

    with pytest.raises(ts.Error) as caught:
        ts.opt(KERNEL, ["cse", raises])
    line = helper.__code__.co_firstlineno + 1
    assert str(caught.value) == (f"<text>: error: pass 'raises' failed and was undone: KeyError: 'key' ({__file__}:{line}, in helper) (of {__file__})")
    assert isinstance(caught.value.__cause__, KeyError)
    assert ts.opt(KERNEL, [double]).changed == ["double"], "nothing stays of it"


def wrongly(edit):
    """What ts.opt says of a pass that does `edit`, without where."""

    @ts.pass_
    def wrong(module):
        edit(module)

    with pytest.raises(ts.Error) as caught:
        ts.opt(KERNEL, wrong)
    return str(caught.value)


def first(module, name):
    return module.walk(name)[0]


def test_calls_that_cannot_be_done_are_exceptions_at_their_line():
    message = wrongly(lambda module: first(module, "arith.addi").erase())
    assert message.startswith("<text>: error: pass 'wrong' failed and was undone: op_erase: results of arith.addi are still used (")
    assert f"{__file__}:" in message and "in <lambda>" in message

    def uses_erased(module):
        store = first(module, "tt.store")
        store.erase()
        store.name

    assert "op_name: was given an operation that is gone" in wrongly(uses_erased)
    assert "an operand must be Value, not str" in wrongly(lambda module: first(module, "tt.store").set_operand(1, "x"))
    assert "say where: before=OPERATION or at_end=BLOCK" in wrongly(lambda module: module.create("my.op"))
    assert "type_parse: cannot read 'i32 i'" in wrongly(lambda module: module.type("i32 i"))


def test_a_wrong_call_that_is_caught_still_undoes_the_pass():
    def catches(module):
        try:
            first(module, "arith.addi").erase()
        except ts.Error:
            pass

    assert "op_erase: results of arith.addi are still used" in wrongly(catches)


def test_ir_that_is_not_valid_is_undone():
    def breaks(module):
        first(module, "arith.addi").result.type = module.type("i64")

    assert "pass 'wrong' left IR that is not valid and was undone" in wrongly(breaks)


def test_handles_mean_nothing_after_the_pass():
    kept = []

    @ts.pass_
    def keeps(module):
        kept.append(module.walk("tt.store")[0])

    ts.opt(KERNEL, keeps)
    with pytest.raises(ts.Error, match="the pass has returned"):
        kept[0].name


LOOP = """#loc = loc("user.py":7:3)
tt.func public @k(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c8 = arith.constant 8 : i32
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %m = arith.cmpi slt, %r, %r : tensor<64xi32>
  %ps = tt.splat %x : !tt.ptr<f16> -> tensor<64x!tt.ptr<f16>>
  scf.for %i = %c0 to %n step %c8  : i32 {
    %v = tt.load %ps, %m {cache = 3 : i32} : tensor<64x!tt.ptr<f16>> loc(#loc)
    my.op %v : tensor<64xf16>
    scf.yield
  }
  tt.return
}
"""


def test_everything_can_be_read():
    seen = {}

    @ts.pass_
    def reads(module):
        load, loop, function = first(module, "tt.load"), first(module, "scf.for"), first(module, "tt.func")
        assert load.group("ptr")[0].op.name == "tt.splat" and [m.op.name for m in load.group("mask")] == ["arith.cmpi"] and load.group("other") == []
        assert load.parent == loop and loop.parent == function and function.parent == module and module.parent is None
        assert load.is_inside(loop) and not loop.is_inside(load)
        assert "reads" in load.facts and "pure" in first(module, "arith.cmpi").facts and first(module, "my.op").facts == set()
        assert load.location.place == ("user.py", 7, 3)
        body = loop.regions[0].blocks[0]
        assert [op.name for op in body.ops] == ["tt.load", "my.op", "scf.yield"]
        assert body.first == load and body.last.name == "scf.yield" and load.next.name == "my.op" and load.next.previous == load
        assert body.region.op == loop and load.block == body
        induction = body.arguments[0]
        assert induction.name == "i" and induction.block == body and induction.op is None and induction.is_outside(load)
        n = function.regions[0].blocks[0].arguments[1]
        assert [(op.name, place) for op, place in n.uses] == [("scf.for", 1)]
        assert str(load.result.type) == "tensor<64xf16>" and load.result.type.shape == (64,) and str(load.result.type.element) == "f16"
        assert load.result.type.kind == ir.TypeKind.TENSOR and load.result.type.element.width == 16
        assert str(load.result.type.with_shape([8, 8])) == "tensor<8x8xf16>" and load.result.type.encoding is None
        assert first(module, "arith.constant").results[0].constant == 0
        assert first(module, "tt.make_range").result.range == (0, 63)
        assert first(module, "tt.make_range").attribute("end").value == 64 and first(module, "tt.make_range").attribute("none") is None
        assert set(first(module, "tt.make_range").attributes) == {"start", "end"}
        module.assume("n=0..64 n%8=0")
        assert n.range == (0, 64) and n.is_multiple(8) and induction.range[1] <= 56 and loop.max_trips == 8
        assert module.parse_attribute("array<i32: 1, 0>").value == [1, 0] and module.parse_attribute('"a"').value == "a"
        assert module.parse_attribute("16 : i32").kind == ir.AttributeKind.INTEGER
        assert load == module.walk("tt.load")[0] and load != loop and len({load, module.walk("tt.load")[0]}) == 1
        seen["all"] = True

    assert ts.opt(LOOP, reads) == LOOP and seen


def test_everything_can_be_edited():
    @ts.pass_
    def edits(module):
        load, loop = first(module, "tt.load"), first(module, "scf.for")
        pointer, = load.group("ptr")
        load.set_operands([pointer], groups=[1, 0, 0])
        load.set_attribute("isVolatile", module.parse_attribute("true"))
        copy = first(module, "tt.make_range").copy(before=loop)
        copy.result.name = "again"
        first(module, "arith.cmpi").erase()
        use = module.create("my.use", [copy.result], [], {"how": module.parse_attribute('"twice"')}, before=loop)
        use.move(before=copy.previous)
        copy.move(before=use)

    after = ts.opt(LOOP, edits)
    assert "isVolatile = true" in after and "tt.load %ps, %m" not in after
    assert "arith.cmpi" not in after and after.count("tt.make_range") == 2 and '"my.use"' in after and 'how = "twice"' in after
    assert ts.opt(after, []) == after


def test_what_is_no_pass_is_refused():
    with pytest.raises(ts.Error, match="a pass takes the module, and options by keyword"):
        @ts.pass_
        def positional(module, least):
            pass
    with pytest.raises(ts.Error, match="the option 'least' must be int, bool, str"):
        @ts.pass_
        def untyped(module, *, least: float = 1.0):
            pass
    with pytest.raises(ts.Error, match="the option 'least' must be"):
        @ts.pass_
        def without_default(module, *, least: int):
            pass
    with pytest.raises(ts.Error, match="whose default '9' is not a value that it takes"):
        @ts.pass_
        def out_of_range(module, *, least: typing.Annotated[int, range(3)] = 9):
            pass
    with pytest.raises(ts.Error, match="for the stage 'llir'"):
        ts.pass_(name="late", stage="llir")(lambda module: None)

    @ts.pass_(name="cse")
    def taken(module):
        pass

    with pytest.raises(ts.Error, match="there is a pass 'cse' already, built in"):
        ts.opt(KERNEL, taken)


def test_other_things_than_text(tmp_path):
    (tmp_path / "k.ttir").write_text(KERNEL)
    assert "arith.muli" in ts.opt(tmp_path / "k.ttir", double)
    with pytest.raises(ts.Error, match="missing.ttir: cannot be read"):
        ts.opt(tmp_path / "missing.ttir", double)
    with pytest.raises(ts.Error, match="is neither IR text nor a path, a Report"):
        ts.opt(7, double)
    with pytest.raises(ts.Error, match="<text>:2:23: error: undefined value '%z'"):
        ts.opt("tt.func @f(%x: i32) {\n  %y = arith.addi %x, %z : i32\n  tt.return\n}\n", "cse")


def test_what_is_neither_a_pass_nor_a_list_of_passes_is_refused():
    for wrong in (3, [3], None, [lambda module: None]):
        with pytest.raises(ts.Error, match="is neither a pass nor a list of passes"):
            ts.opt(KERNEL, wrong)
    for one in ("missing.so", pathlib.Path("missing.so"), ["missing.so"]):
        with pytest.raises(ts.Error, match="^missing.so: error: plugin refused: there is no such file$"):
            ts.opt(KERNEL, "cse", plugins=one)


def test_isolated():
    assert ts.opt(KERNEL, "cse,dce", isolate=True) == KERNEL
    with pytest.raises(ts.Error, match="a pass that is a Python function runs in its own process; in a file that is given as a plugin it can be isolated"):
        ts.opt(KERNEL, double, isolate=True)


@pytest.fixture
def kernel():
    triton = pytest.importorskip("triton")
    import triton.language as tl

    @triton.jit
    def copy(x, y, n, BLOCK: tl.constexpr, scale=3):
        offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(y + offsets, tl.load(x + offsets, mask=offsets < n) * scale, mask=offsets < n)

    return copy


def test_a_kernel(kernel):
    text = ts.opt(kernel, "canonicalize", signature={"x": "*fp32", "y": "*fp32", "n": "i32"}, constexprs={"BLOCK": 64})
    assert "tensor<64xf32>" in text and "tt.store" in text and "test_passes.py" in text
    for arguments, message in ((dict(), "copy needs a signature"), (dict(signature={"x": "*fp32"}), "without a type or a value: y, n, BLOCK"),
                               (dict(signature={"z": "i32"}), "copy has no parameter z; it has x, y, n, BLOCK, scale")):
        with pytest.raises(ts.Error, match=message):
            ts.opt(kernel, "cse", **arguments)
    with pytest.raises(ts.Error, match="go with a @triton.jit function only"):
        ts.opt(KERNEL, "cse", signature={"x": "i32"})


def test_a_launch(kernel):
    import numpy as np

    x, y = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    report = ts.check(kernel)[(1,)](x, y, 64, BLOCK=64)
    after = ts.opt(report, "remove-boundary-checks{assume=grid.x=1}")
    assert [r["kind"] for r in after.remarks] == ["refused", "refused"], after.remarks
    assert after == report.ir


PLUGIN = '''
"""Passes of an example."""
import tilesight as ts

@ts.pass_(stage="ttir")
def count_loads(module, *, least: int = 1):
    "say how many loads there are"
    loads = module.walk("tt.load")
    if len(loads) >= least:
        module.note(None, f"{len(loads)} loads", rule="count")

@ts.pass_
def fails(module):
    raise ValueError("no")
'''


def command(tmp_path, *arguments):
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    return subprocess.run([sys.executable, "-m", "tilesight", *arguments], cwd=tmp_path, env=environment, text=True, capture_output=True, timeout=120)


def test_a_python_file_is_a_plugin(tmp_path):
    (tmp_path / "loads.py").write_text(PLUGIN)
    (tmp_path / "k.ttir").write_text(LOOP)
    done = command(tmp_path, "opt", "k.ttir", "--plugin", "loads.py", "--pass", "count-loads{least=1}", "--remarks")
    assert (done.returncode, done.stdout) == (0, LOOP), done.stderr
    assert "note: count-loads [count]: 1 loads" in done.stderr
    done = command(tmp_path, "opt", "k.ttir", "--plugin", "loads.py", "--pass", "fails", "-o", "out.ttir")
    assert done.returncode == 2 and not (tmp_path / "out.ttir").exists()
    assert "k.ttir: error: pass 'fails' failed and was undone: ValueError: no (" in done.stderr and "loads.py:14, in fails)" in done.stderr
    listed = json.loads(command(tmp_path, "plugins", "--plugin", "loads.py", "--json").stdout)
    plugin = next(p for p in listed if p["path"].endswith("loads.py"))
    assert plugin["id"] == "loads" and plugin["summary"] == "Passes of an example." and [p["name"] for p in plugin["passes"]] == ["count-loads", "fails"]
    result = ts.opt(LOOP, "count-loads", plugins=[tmp_path / "loads.py"])
    assert [r["message"] for r in result.remarks] == ["1 loads"]


def test_python_files_that_are_no_plugin_are_refused(tmp_path):
    (tmp_path / "k.ttir").write_text(KERNEL)
    for text, message in (("x = 1\n", "plugin refused: has no function with @ts.pass_"), ("\nimport nothing_of_this_name\n", "cannot be imported: ModuleNotFoundError: "),
                          ("def f(:\n", "cannot be imported: SyntaxError"), ("import sys\nsys.exit(3)\n", "cannot be imported: SystemExit: 3")):
        (tmp_path / "p.py").write_text(text)
        done = command(tmp_path, "opt", "k.ttir", "--plugin", "p.py", "--pass", "cse")
        assert done.returncode == 2 and message in done.stderr and done.stderr.count("\n") == 1, done.stderr


def test_the_native_tool_says_who_opens_python(tmp_path):
    tool = ROOT / "build" / "src" / "tools" / "tilesight"
    if not tool.exists():
        pytest.skip("no native tool in build/")
    (tmp_path / "p.py").write_text(PLUGIN)
    done = subprocess.run([tool, "opt", "--list-passes", "--plugin", "p.py"], cwd=tmp_path, text=True, capture_output=True, timeout=60)
    assert done.returncode == 2 and "p.py: error: plugin refused: is a Python file, and this is not the `tilesight` of a Python" in done.stderr


def test_plugin_test_with_a_pass_in_python(tmp_path):
    (tmp_path / "p.py").write_text("import tilesight as ts\n" + textwrap.dedent('''
        @ts.pass_
        def negate(module):
            for add in module.walk("arith.addi"):
                new = module.create("arith.subi", add.operands, [add.result.type], before=add)
                add.result.replace_uses(new.result)
                add.erase()
        '''))
    (tmp_path / "cases").mkdir()
    (tmp_path / "cases" / "one.test").write_text(f"pass: negate\n--- in\n{KERNEL}--- out\nunchanged\n")
    command(tmp_path, "plugin-test", "p.py", "cases", "--rebase")
    done = command(tmp_path, "plugin-test", "p.py", "cases")
    assert done.returncode == 1 and "it does not compute the same: run " in done.stdout, done.stdout + done.stderr
    apart = command(tmp_path, "plugin-test", "p.py", "cases", "--isolate")
    assert (apart.returncode, apart.stdout, apart.stderr) == (done.returncode, done.stdout, done.stderr)


HARMFUL = '''
import ctypes, os, sys, tilesight as ts

@ts.pass_
def harm(module, *, how: str = ""):
    "does harm"
    print("hello from the pass")
    if how == "crashes": ctypes.string_at(16)
    if how == "ends": os._exit(3)
    if how == "exits": sys.exit(4)
    if how == "hangs":
        while True: pass
    if how == "raises": raise ValueError("it does not like this kernel")
    for add in module.walk("arith.addi"):
        module.note(add, "sum")
'''


@pytest.mark.parametrize("how, said", [
    ("crashes", "k.ttir: error: pass 'harm' (of {folder}/p.py) crashed with signal 11 (Segmentation fault)"),
    ("ends", "k.ttir: error: pass 'harm' (of {folder}/p.py) ended the process with exit status 3"),
    ("hangs", "k.ttir: error: pass 'harm' (of {folder}/p.py) did not return within 1.5 s and was stopped"),
    ("raises", "k.ttir: error: pass 'harm' failed and was undone: ValueError: it does not like this kernel ({folder}/p.py:13, in harm) (of {folder}/p.py)"),
])
def test_an_isolated_pass_in_python_takes_nothing_down(tmp_path, monkeypatch, how, said):
    (tmp_path / "p.py").write_text(HARMFUL)
    (tmp_path / "k.ttir").write_text(KERNEL)
    (tmp_path / "to.ttir").write_text("before")
    said = said.format(folder=tmp_path)
    done = command(tmp_path, "opt", "k.ttir", "--plugin", "p.py", "--pass", f"harm{{how={how}}}", "-o", "to.ttir", "--isolate", "--timeout", "1.5")
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"hello from the pass\n{said}\n")
    assert (tmp_path / "to.ttir").read_text() == "before"
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ts.Error) as error:
        ts.opt(pathlib.Path("k.ttir"), f"harm{{how={how}}}", plugins=["p.py"], isolate=True, timeout=1.5)
    assert str(error.value) == said


def test_an_isolated_pass_in_python_does_the_same(tmp_path, monkeypatch):
    (tmp_path / "p.py").write_text(HARMFUL)
    (tmp_path / "k.ttir").write_text(KERNEL)
    monkeypatch.chdir(tmp_path)
    here = ts.opt(pathlib.Path("k.ttir"), "harm", plugins=["p.py"])
    apart = ts.opt(pathlib.Path("k.ttir"), "harm", plugins=["p.py"], isolate=True)
    assert (apart, apart.remarks, apart.changed) == (here, here.remarks, here.changed) and len(here.remarks) == 1
    done = command(tmp_path, "opt", "k.ttir", "--plugin", "p.py", "--pass", "harm", "--isolate")
    assert (done.returncode, done.stdout, done.stderr) == (0, KERNEL, "hello from the pass\n")
    monkeypatch.setenv("TILESIGHT_PLUGIN_PATHS", "p.py")
    done = command(tmp_path, "opt", "k.ttir", "--pass", "harm{how=ends}", "--isolate")
    assert (done.returncode, done.stderr) == (2, f"hello from the pass\nk.ttir: error: pass 'harm' (of {tmp_path}/p.py) ended the process with exit status 3\n")
    assert "harm " in command(tmp_path, "opt", "--list-passes", "--isolate").stdout


def test_a_python_plugin_of_the_environment(tmp_path, monkeypatch):
    (tmp_path / "loads.py").write_text(PLUGIN)
    monkeypatch.setenv("TILESIGHT_PLUGIN_PATHS", str(tmp_path / "loads.py"))
    assert "count-loads " in command(tmp_path, "opt", "--list-passes").stdout


def test_check_runs_passes_on_the_kernels_of_a_bundle_first(kernel, tmp_path):
    import numpy as np

    x, y = np.arange(50, dtype=np.float32), np.zeros(50, np.float32)
    ts.clear()
    ts.check(kernel)[(1,)](x, y, 50, BLOCK=64)
    (tmp_path / "p.py").write_text(textwrap.dedent('''
        import tilesight as ts

        @ts.pass_
        def without_masks(module):
            for load in module.walk("tt.load"):
                load.set_operands(load.group("ptr"), groups=[1, 0, 0])
        '''))
    ts.trace()(kernel)
    kernel[(1,)](x, y, 50, BLOCK=64)
    ts.save(tmp_path / "run.tsb")
    assert command(tmp_path, "check", "run.tsb").returncode == 0
    done = command(tmp_path, "check", "run.tsb", "--pass", "cse", "--pass", "canonicalize")
    assert done.returncode == 0 and "after the passes cse, canonicalize, not as they were recorded" in done.stderr, done.stderr
    done = command(tmp_path, "check", "run.tsb", "--pass", "without-masks", "--plugin", "p.py")
    assert done.returncode == 1 and "out-of-bounds: load from x" in done.stderr, done.stderr


@pytest.mark.parametrize("arguments, said", [
    (["--pass", "csse"], "tilesight: error: there is no pass 'csse'; did you mean cse? (see tilesight check --help)"),
    (["--pass", "cse{x=1}"], "tilesight: error: pass 'cse' has no option 'x'; it has none (see tilesight check --help)"),
    (["--pass", "cse{"], "tilesight: error: cannot read the pipeline 'cse{': expected an option, or '}' at its end (see tilesight check --help)"),
    (["--pass", "cse", "--plugin", "missing.so"], "missing.so: error: plugin refused: there is no such file"),
])
def test_check_says_once_that_a_pass_is_wrong_before_it_runs_any_launch(kernel, tmp_path, arguments, said):
    import numpy as np

    x, y = np.arange(50, dtype=np.float32), np.zeros(50, np.float32)
    ts.clear()
    ts.trace()(kernel)
    for _ in range(3):
        kernel[(1,)](x, y, 50, BLOCK=64)
    ts.save(tmp_path / "run.tsb")
    done = command(tmp_path, "check", "run.tsb", "missing.tsb", *arguments)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", said + "\n")
