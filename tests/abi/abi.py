"""The public API against what was reviewed, with abidw and abidiff (Debian: abigail-tools). `abi.py FOLDER`: the folder has the
libraries of tests/abi/CMakeLists.txt. `--rebase` writes api.abi anew. Exit status: 0 the same, 1 not, 77 abidiff is missing.
"""

import argparse
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

HERE = Path(__file__).resolve().parent
INCLUDE = HERE.parents[1] / "include"
BASELINE = HERE / "api.abi"
NOT_RUN = 77
PUBLIC = ("--drop-private-types", "--headers-dir", INCLUDE)  # the headers' types only
ABIDW = ("abidw", "--no-show-locs", "--no-corpus-path", "--no-comp-dir-path", "--no-architecture", "--no-write-default-sizes", "--no-elf-needed",
         "--no-parameter-names", "--exported-interfaces-only", "--type-id-style", "hash", *PUBLIC)
REMEDY = """abi: read the differences above. Tables may grow at their end only, with a new TS_PLUGIN_ABI_MINOR; enumerations may get cases.
abi: what is meant: scripts/test-abi --rebase"""


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode & 3:  # abidiff adds 4 and 8 where there are differences
        sys.exit(f"abi: {command[0]} failed: {' '.join((done.stdout + done.stderr).split())}")
    return done


def since_the_review(library, baseline=BASELINE):
    """What differs; "" for nothing. New functions and cases of enumerations are differences, too."""
    done = run("abidiff", "--no-show-locs", "--no-architecture", "--harmless", "--drop-private-types", "--headers-dir2", INCLUDE, baseline, library)
    if done.returncode:
        return done.stdout
    # To abidiff, types of which nothing but the name is known are one type: ts_op and ts_value.
    before, after = Types(baseline), Types(library)
    return "".join(f"{name} is not as it was\n" for part in ("functions", "tables", "enumerations") for name, is_now in getattr(after, part).items()
                   if getattr(before, part).get(name) != is_now)


def rebase(library):
    run(*ABIDW, "--out-file", BASELINE, library)


class Types:
    """The functions, tables and enumerations of a library, or of an .abi file."""

    def __init__(self, path):
        root = ElementTree.fromstring(path.read_text() if path.suffix == ".abi" else run(*ABIDW, path).stdout)
        self._by_id = {one.get("id"): one for one in root.iter() if one.get("id")}
        self.functions = {one.get("name"): self.spelled_function(one) for one in root.iter("function-decl")}
        self.tables = {one.get("name"): self._fields(one) for one in root.iter("class-decl") if one.get("is-declaration-only") != "yes"}
        self.enumerations = {one.get("name"): {case.get("name"): case.get("value") for case in one.iter("enumerator")} for one in root.iter("enum-decl")}
        self.sizes = {one.get("name"): one.get("size-in-bits") for one in root.iter("class-decl")}

    def _fields(self, table):
        """In order: name, place in bits, type."""
        found = []
        for member in table.iter("data-member"):
            field = member.find("var-decl")
            found.append((field.get("name"), int(member.get("layout-offset-in-bits")), self.spelled(field.get("type-id"))))
        return found

    def spelled(self, key):
        """A type as text; of a table its name only."""
        one = self._by_id[key]
        if one.tag == "pointer-type-def":
            return self.spelled(one.get("type-id")) + "*"
        if one.tag == "qualified-type-def":
            return self.spelled(one.get("type-id")) + "".join(f" {word}" for word in ("const", "volatile") if one.get(word) == "yes")
        if one.tag == "typedef-decl":
            return self.spelled(one.get("type-id"))
        if one.tag == "array-type-def":
            return f"{self.spelled(one.get('type-id'))}[{one.find('subrange').get('length')}]"
        if one.tag == "function-type":
            return self.spelled_function(one)
        return one.get("name")

    def spelled_function(self, one):
        return f"{self.spelled(one.find('return').get('type-id'))}({', '.join(self.spelled(p.get('type-id')) for p in one.iter('parameter'))})"


def what_breaks_plugins(old, new):
    """What plugins that were built with the headers of `old` cannot live with, a line for each table. (abidiff has a rule for fields at the end,
    `has_data_member_inserted_at`, but then it is silent about all other changes of a table, too.)"""
    before, after = Types(old), Types(new)
    wrong = []
    for name, fields in before.tables.items():
        there = after.tables.get(name)
        if there is None:
            wrong.append(f"{name} is gone")
        elif fields[0][0] != "size" and before.sizes[name] != after.sizes[name]:
            wrong.append(f"{name} is another size, and it is inside of tables")
        else:
            differ = [f"{name}.{old[0]} was {old[2]} at bit {old[1]}, and is {f'{new[0]}: {new[2]} at bit {new[1]}' if new else 'gone'}"
                      for old, new in zip(fields, [*there, *[None] * len(fields)]) if old != new]
            wrong += differ[:1]  # the others may only be moved by it
    for name, cases in before.enumerations.items():
        there = after.enumerations.get(name, {})
        wrong += [f"{case} was {value}, and is {there.get(case, 'gone')}" for case, value in cases.items() if there.get(case) != value]
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rebase", action="store_true")
    options = parser.parse_args()
    if not shutil.which("abidiff"):
        print("abi: not run: abidiff is missing (apt-get install abigail-tools)")
        return NOT_RUN
    today, plugins, first = (options.folder / f"lib{name}.so" for name in ("abi_today", "abi_plugins", "abi_plugins_1_0"))
    broken = what_breaks_plugins(first, plugins)
    if broken:
        print("\n".join(broken) + "\nabi: plugins built with ABI 1.0 would not work any more")
        return 1
    if options.rebase:
        rebase(today)
    changed = since_the_review(today)
    if changed:
        print(f"{changed}{REMEDY}")
        return 1
    print("abi: as reviewed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
