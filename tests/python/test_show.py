"""report.show(): the visualizer from Python."""

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
import types
import urllib.error
import urllib.parse
import urllib.request

import numpy as np
import pytest
import triton
import triton.language as tl

import tilesight as ts
from paths import ROOT

pytestmark = pytest.mark.skipif(not (ROOT / "web" / "dist" / "app.js").exists(), reason="no page was built: there is no Node")


@triton.jit
def double(x_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + offs, 2 * tl.load(x_ptr + offs, mask=offs < n), mask=offs < n)


@pytest.fixture
def report():
    return ts.check(double)[(2,)](np.arange(100, dtype=np.float32), 100, BLOCK=64)


def fetched(address, path="/"):
    """What a browser gets that opens the address and then asks for `path`."""
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    browser.open(address, timeout=20).close()
    with browser.open(urllib.parse.urljoin(address, path), timeout=20) as answer:
        return answer.read().decode()


def test_the_page_is_served_until_it_is_closed(report, capsys):
    page = report.show()
    assert page.is_open and page.address in capsys.readouterr().err
    assert '<div id="app">' in fetched(page.address)
    assert "double" in fetched(page.address, "/api/launches")
    page.close()
    assert not page.is_open
    with pytest.raises(urllib.error.URLError):
        fetched(page.address)
    page.close()


def test_two_pages_at_once(report):
    pages = [report.show(), report.show()]
    assert pages[0].address != pages[1].address
    pages[0].close()
    assert '<div id="app">' in fetched(pages[1].address)
    pages[1].close()


def test_over_ssh_the_forwarding_line_is_printed(report, capsys, monkeypatch):
    monkeypatch.setenv("SSH_CONNECTION", "192.0.2.1 50000 192.0.2.2 22")
    report.show().close()
    assert re.search(r"ssh -L (\d+):127\.0\.0\.1:\1 ", capsys.readouterr().err)


def test_nothing_temporary_stays(report, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    page = report.show()
    assert list(tmp_path.glob("*/*.tsb"))
    page.close()
    assert not list(tmp_path.iterdir())


def test_one_file(report, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert report.show(html="page.html") is None
    assert (tmp_path / "page.html").read_text().startswith("<!doctype html>")
    assert "page.html" in capsys.readouterr().err


def test_a_file_that_cannot_be_written(report, tmp_path):
    with pytest.raises(ts.Error, match="none/page.html cannot be written"):
        report.show(html=tmp_path / "none" / "page.html")


def test_a_launch_that_was_not_kept():
    x = np.zeros(1 << 18, np.float32)
    report = ts.check(double)[(1,)](x, 64, BLOCK=64)
    report.native.drop_inputs()
    with pytest.raises(ts.Error, match="inputs of a launch of double are gone: set ts.config.keep_inputs"):
        report.show()
    assert re.search(r"^<pre>.*no visualizer: the inputs", report._repr_html_(), re.DOTALL)


def test_in_a_notebook_it_is_in_the_cell(report, monkeypatch):
    shown = []
    notebook = types.SimpleNamespace(get_ipython=lambda: types.SimpleNamespace(kernel=object()))
    display = types.SimpleNamespace(HTML=lambda text: text, display=shown.append)
    monkeypatch.setitem(sys.modules, "IPython", notebook)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    assert report.show() is None
    for text in (*shown, report._repr_html_()):
        assert re.match(r'<div><iframe [^<>]*srcdoc="&lt;!doctype html&gt;[^<>"]*"[^<>]*></iframe></div>$', text)
    assert len(shown) == 1


PROGRAM = """
import os, signal, sys
import numpy as np
import triton, triton.language as tl
import tilesight as ts

@triton.jit
def fill(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, BLOCK), 1.0)

page = ts.check(fill)[(1,)](np.zeros(64, np.float32), BLOCK=64).show()
print("went on", flush=True)
"""


def started(tmp_path, source, command=(), **more):
    """A program outside of pytest, whose temporary files go to tmp_path/temp."""
    (tmp_path / "program.py").write_text(source)
    (tmp_path / "temp").mkdir()
    hidden = ("CI", "SSH_CONNECTION", "PYTEST_CURRENT_TEST", "PYTEST_VERSION")
    env = {name: value for name, value in os.environ.items() if name not in hidden}
    env.update({"PYTHONPATH": str(ROOT / "python"), "TMPDIR": str(tmp_path / "temp"),
                "PATH": "/nowhere", **more.pop("env", {})})  # no browser opens
    return subprocess.Popen([sys.executable, *command, "program.py"], cwd=tmp_path, env=env, **more)


def ended(address):
    """Is nothing served there any more, within some seconds?"""
    for _ in range(100):
        try:
            fetched(address)
        except OSError:
            return True
        time.sleep(0.05)
    return False


def test_without_a_terminal_the_program_just_ends(tmp_path):
    program = started(tmp_path, PROGRAM, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    out, err = program.communicate(timeout=60)
    assert program.returncode == 0 and out == "went on\n"
    (address,) = re.findall(r"http://\S+", err)
    assert ended(address) and not list((tmp_path / "temp").glob("tilesight-*"))


def test_the_server_ends_with_a_program_that_is_killed(tmp_path):
    program = started(tmp_path, PROGRAM + "os.kill(os.getpid(), signal.SIGKILL)\n", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                      stderr=subprocess.PIPE, text=True)
    _, err = program.communicate(timeout=60)
    assert program.returncode == -signal.SIGKILL
    assert ended(re.search(r"http://\S+", err).group())


def test_under_tilesight_run_nothing_opens(tmp_path):
    source = PROGRAM.replace("page = ts.check(fill)[(1,)](np.zeros(64, np.float32), BLOCK=64)",
                             "fill[(1,)](np.zeros(64, np.float32), BLOCK=64)\npage = ts.launches[-1]")
    program = started(tmp_path, source, ("-m", "tilesight", "run"), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                      stderr=subprocess.STDOUT, text=True)
    out, _ = program.communicate(timeout=60)
    assert program.returncode == 0 and "went on" in out and "http://" not in out
    assert "tilesight run --save-all --save run.tsb" in out and "1 launch" in out


def said(terminal, until):
    """What a program writes to its terminal up to `until`, or to its end."""
    text = ""
    while until not in text:
        if not select.select([terminal], [], [], 60)[0]:
            raise AssertionError(f"no {until!r} in {text!r}")
        try:
            text += os.read(terminal, 4096).decode()
        except OSError:  # the other end is closed
            break
    return text


def in_a_terminal(tmp_path, source, **more):
    try:
        ours, theirs = pty.openpty()
    except OSError as error:
        pytest.skip(f"no terminal can be made here: {error}")
    program = started(tmp_path, source, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True, **more)
    os.close(theirs)
    return program, ours


def test_in_a_terminal_it_waits_for_ctrl_c(tmp_path):
    program, terminal = in_a_terminal(tmp_path, PROGRAM)
    text = said(terminal, "Ctrl-C closes its page http")
    assert "went on" in text
    address = re.search(r"http://\S+", text).group()
    assert '<div id="app">' in fetched(address)
    program.send_signal(signal.SIGINT)
    assert program.wait(timeout=20) == 0
    assert ended(address) and not list((tmp_path / "temp").glob("tilesight-*"))
    os.close(terminal)


@pytest.mark.parametrize("source, env", [(PROGRAM, {"CI": "true"}), (PROGRAM + "page.close()\n", {}),
                                       (PROGRAM + "raise KeyboardInterrupt\n", {})])
def test_in_a_terminal_it_does_not_wait(tmp_path, source, env):
    program, terminal = in_a_terminal(tmp_path, source, env=env)
    assert "Ctrl-C closes" not in said(terminal, "no such text")
    program.wait(timeout=20)
    os.close(terminal)
