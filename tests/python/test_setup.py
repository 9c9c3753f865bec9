"""scripts/setup: which Triton it takes."""

import os
import re
import subprocess

import pytest

from paths import ROOT

SETUP = (ROOT / "scripts" / "setup").read_text()


def function(name):
    return re.search(rf"^{name}\(\) {{.*?^}}", SETUP, re.MULTILINE | re.DOTALL).group(0)


@pytest.mark.parametrize("installed, asked, chosen", [
    (None, None, "3.9.0"), ("3.8.0", None, "3.8.0"), ("3.8.0", "3.6.0", "3.6.0"), ("3.5.1", None, "3.9.0"),
    (None, "3.7", "3.7.0")])
def test_a_triton_that_is_there_stays_unless_another_is_named(tmp_path, installed, asked, chosen):
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f"#!/bin/sh\necho {installed}\n" if installed else "#!/bin/sh\nexit 1\n")
    python.chmod(0o755)
    environment = {**os.environ, "TILESIGHT_TRITON": asked or ""}
    if asked is None:
        del environment["TILESIGHT_TRITON"]
    done = subprocess.run(["sh", "-euc", f"{function('choose_triton')}\nchoose_triton; echo $triton"],
                          cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.stdout == f"{chosen}\n", done.stderr


@pytest.mark.parametrize("version", ["4.0", "3.10.0", "3.5.1", "new"])
def test_other_tritons_are_refused_before_anything_is_installed(version):
    done = subprocess.run([ROOT / "scripts" / "setup"], env={**os.environ, "TILESIGHT_TRITON": version},
                          capture_output=True, text=True)
    assert done.returncode == 1 and done.stdout == ""
    assert f"TILESIGHT_TRITON is {version}; Tilesight works with Triton 3.6 to 3.9" in done.stderr
