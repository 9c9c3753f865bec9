"""What a shared library exports: `exports.py [--objdump TOOL] LIBRARY LIST [--rebase]` compares with the reviewed
list LIST (one name a line, # begins a comment), `exports.py LIBRARY --only NAME` with one name. ELF and PE.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

LIMIT = 500  # Windows allows 65,535 a library; a public API is smaller


def tool(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def elf_exports(objdump, library):
    """Defined dynamic symbols, global, weak and unique ones alike."""
    names = []
    for line in tool(objdump, "--dynamic-syms", library).splitlines():
        # 0000000000001139 g    DF .text  000000000000000b  Base        name   (or "(Base)", or no version at all)
        match = re.match(r"[0-9a-f]{8,16} (.{7}) (\S+)\s+[0-9a-f]+\s+(.*)$", line)
        if match and match[2] != "*UND*" and not match[1].startswith("l"):
            names.append(match[3].split()[-1])
    return names


def pe_exports(objdump, library):
    """Names, and `#ordinal` for an entry of the address table that has none."""
    text = tool(objdump, "-p", library)
    table = re.search(r"Export Address Table -- .*?\n\n", text, re.S)
    pointers = re.search(r"\[Ordinal/Name Pointer\] Table.*?\n\n", text, re.S)
    if not table:
        return []
    # \t[   0] +base[   1] 1234 Export RVA        \t[   0] name   (newer: [   0] +base[   1]  0000 name)
    addresses = re.findall(r"\[ *(\d+)\] \+base\[ *\d+\] +[0-9a-f]+ (?:Export|Forwarder)", table[0])
    named = dict(re.findall(r"\[ *(\d+)\](?: \+base\[ *\d+\] +[0-9a-f]+)? +(\S+)$", pointers[0] if pointers else "", re.M))
    return [named.get(number, f"#{number}") for number in addresses]


def exports(objdump, library):
    start = Path(library).read_bytes()[:4]
    if start == b"\x7fELF":
        return elf_exports(objdump, library)
    if start[:2] == b"MZ":
        return pe_exports(objdump, library)
    sys.exit(f"{library} is neither ELF nor PE")


def listed(path):
    lines = (line.split("#")[0].strip() for line in Path(path).read_text().splitlines())
    return [line for line in lines if line]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("library")
    parser.add_argument("list", nargs="?", help="file with the names that are expected")
    parser.add_argument("--only", help="the one name that is expected")
    parser.add_argument("--objdump", default="objdump")
    parser.add_argument("--rebase", action="store_true", help="write the list anew")
    options = parser.parse_args()

    found = sorted(exports(options.objdump, options.library))
    if options.rebase and options.list:
        comments = [line for line in Path(options.list).read_text().splitlines() if line.startswith("#")]
        Path(options.list).write_text("\n".join([*comments, *found]) + "\n")
    expected = [options.only] if options.only else listed(options.list)
    unlisted = [name for name in found if name not in expected]
    missing = [name for name in expected if name not in found]
    for name in unlisted:
        print(f"exported, and not expected: {name}")
    for name in missing:
        print(f"expected, and not exported: {name}")
    print(f"{Path(options.library).name}: {len(found)} exports")
    if len(found) >= LIMIT:
        print(f"that is not below {LIMIT}")
    return 1 if unlisted or missing or len(found) >= LIMIT else 0


if __name__ == "__main__":
    sys.exit(main())
