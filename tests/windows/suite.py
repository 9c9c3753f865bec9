"""What scripts/test-windows runs on this machine, as a JUnit file: `suite.py REPORT`."""

import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent

TESTS = {
    "library_api": ["build-shared/tests/windows/library_api"],
    "library_c": ["build-shared/tests/windows/library_c"],
    "library_exports": [sys.executable, "tests/windows/exports.py", "build-shared/src/library/libtilesight.so", "cmake/exports.txt"],
    "same_bytes": [sys.executable, "tests/windows/same_bytes.py", str(ROOT / "build-shared/src/tools/tilesight"), "--",
                   "wine", str(ROOT / "build-windows/src/tools/tilesight.exe")],
}


def main():
    suite = ElementTree.Element("testsuite", name="here")
    bad = 0
    for name, command in TESTS.items():
        start = time.monotonic()
        done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        text = done.stdout.decode(errors="replace")
        case = ElementTree.SubElement(suite, "testcase", classname="here", name=name, time=f"{time.monotonic() - start:.2f}")
        if done.returncode:
            bad += 1
            ElementTree.SubElement(case, "failure", message=f"exit status {done.returncode}")
            print(f"{name} failed:\n{text[-4000:]}")
    ElementTree.ElementTree(suite).write(sys.argv[1])
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
