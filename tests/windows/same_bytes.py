"""The tool for Windows does what the one for this machine does: `same_bytes.py NATIVE -- COMMAND...` runs both with
the same arguments and compares exit status, standard output, standard error and files, byte by byte.

COMMAND starts the other tool: `wine tilesight.exe`.
"""

import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent


def texts():
    return sorted(TESTS.glob("data/ttir/3.9/*.ttir"))


def cases(folder):
    """Arguments, and the files that they write."""
    yield ["--version"], []
    yield ["--help"], []
    yield ["explain"], []
    yield ["explain", "--markdown"], []
    yield ["explain", "out-of-bnds"], []
    yield ["chekc"], []
    yield ["check", "missing.tsb"], []
    yield ["check", "x.txt"], []
    yield ["info", "cut.ttir"], []
    yield ["opt", "--list-passes"], []
    yield ["opt", "cut.ttir"], []
    for text in texts():
        yield ["info", text.name], []
        yield ["opt", text.name, "--pass-pipeline", "inline,canonicalize,cse,licm,dce", "--remarks"], []
    for text in texts()[:5]:
        yield ["opt", text.name, "--pass", "cse", "-o", "out.ttir"], ["out.ttir"]
    yield ["info", "bundle"], []
    for options in ([], ["--client", "tracer"], ["--client", "null"], ["--threads", "1"], ["--address-only"]):
        yield ["check", "bundle", *options, "--json", "r.json", "--sarif", "r.sarif"], ["r.json", "r.sarif"]
    yield ["check", "bundle", "--write-baseline", "b.json"], ["b.json"]


def prepare(folder):
    for text in texts():
        (folder / text.name).write_bytes(text.read_bytes())
    (folder / "x.txt").write_text("hello\n")
    (folder / "cut.ttir").write_text("module {\n  tt.func public @k(%x: !tt.ptr<f32>) {\n")
    with zipfile.ZipFile(TESTS / "findings/fuzz_seeds/bundle.tsb") as bundle:
        bundle.extractall(folder / "bundle")


def outcome(command, arguments, files, folder):
    for name in files:
        (folder / name).unlink(missing_ok=True)
    done = subprocess.run([*command, *arguments], cwd=folder, capture_output=True, stdin=subprocess.DEVNULL, timeout=60)
    written = {name: (folder / name).read_bytes() if (folder / name).exists() else None for name in files}
    return {"exit status": done.returncode, "standard output": done.stdout, "standard error": done.stderr, **written}


# What a run takes: no two agree; and what is named after the system.
VARIES = (b'"seconds":', b" ms", b" s)", b" in 0.", b"seconds",
          b".so)", b".dll)",  # where plugins lie
          b"wine: ")  # of its own services, which share standard error; a crash of ours shows in the exit status, too


def stable(value):
    if not isinstance(value, bytes):
        return value
    value = value.replace(b"file:///Z:/", b"file:///")  # wine's name of this machine's files
    return b"\n".join(line for line in value.split(b"\n") if not any(word in line for word in VARIES))


def main():
    native, other = [sys.argv[1]], sys.argv[sys.argv.index("--") + 1:]
    count = 0
    failed = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder)
        for arguments, files in cases(folder):
            count += 1
            expected, found = outcome(native, arguments, files, folder), outcome(other, arguments, files, folder)
            for what in expected:
                if stable(expected[what]) != stable(found[what]):
                    failed.append(arguments)
                    print(f"{' '.join(arguments)}: {what} differs\n  here:  {str(expected[what])[:600]}\n  other: {str(found[what])[:600]}")
    print(f"{count} commands compared, {len(failed)} differences")
    return 1 if failed or not count else 0


if __name__ == "__main__":
    sys.exit(main())
