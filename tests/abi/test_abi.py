"""What scripts/test-abi would say of changed headers."""

import shutil
import subprocess
from pathlib import Path

import abi
import pytest

HEADERS = Path(__file__).resolve().parents[2] / "include" / "tilesight"
pytestmark = [pytest.mark.slow, pytest.mark.skipif(not shutil.which("abidiff"), reason="abidiff is missing (apt-get install abigail-tools)")]


@pytest.fixture
def built(tmp_path):
    """The library of plugin.h, with one text in the place of another."""

    def build(name, old="", new=""):
        folder = tmp_path / name / "tilesight"
        folder.mkdir(parents=True)
        for header in ("client.h", "plugin.h"):
            text = (HEADERS / header).read_text()
            if header == "plugin.h" and old:
                assert text.count(old) == 1
                text = text.replace(old, new)
            (folder / header).write_text(text)
        library = folder / "abi.so"
        subprocess.run(["cc", "-g", "-shared", "-fPIC", "-fvisibility=hidden", '-DTILESIGHT_ABI_HEADER="plugin.h"', f"-I{folder}", f"-I{folder.parent}",
                        "-o", library, abi.HERE / "surface.c"], check=True)
        return library

    return build


CHANGES = {
    "a field at the end": ("  uint32_t reserved_too;\n", "  uint32_t reserved_too;\n  const char* licence;\n", []),
    "a field in the middle": ("  uint32_t client_count;\n", "  uint32_t client_count, later;\n", ["ts_plugin.reserved was unsigned int at bit 480, and is later: unsigned int at bit 480"]),
    "a field that is gone": ("  uint32_t dialect_count;\n  uint32_t reserved_too;\n", "  uint32_t dialect_count;\n", ["ts_plugin.reserved_too was unsigned int at bit 608, and is gone"]),
    "fields in another order": ("  const char* id;      /* letters, digits, -, . */\n  const char* version;", "  const char* version; const char* id;",
                                ["ts_plugin.id was char const* at bit 128, and is version: char const* at bit 128"]),
    "a field of another size": ("  uint32_t reserved_too;", "  uint64_t reserved_too;", ["ts_plugin.reserved_too was unsigned int at bit 608, and is reserved_too: unsigned long int at bit 640"]),
    "an argument more": ("(*op_parent)(ts_context, ts_op)", "(*op_parent)(ts_context, ts_op, uint32_t)",
                         ["ts_plugin_host.op_parent was ts_op_*(ts_context_*, ts_op_*)* at bit 832, and is op_parent: ts_op_*(ts_context_*, ts_op_*, unsigned int)* at bit 832"]),
    "an argument of another type": ("(*op_erase)(ts_context, ts_op)", "(*op_erase)(ts_context, ts_value)",
                                    ["ts_plugin_host.op_erase was void(ts_context_*, ts_op_*)* at bit 4800, and is op_erase: void(ts_context_*, ts_value_*)* at bit 4800"]),
    "a table inside of tables that grows": ("  uint64_t size;\n} ts_string;", "  uint64_t size, capacity;\n} ts_string;", ["ts_op_description.at was ts_point at bit 192, and is at: ts_point at bit 256", "ts_string is another size, and it is inside of tables"]),
    "a case that is added": ("TS_REMARK_NOTE = 2 }", "TS_REMARK_NOTE = 2, TS_REMARK_LATER = 3 }", []),
    "a case with another value": ("TS_REMARK_NOTE = 2 }", "TS_REMARK_NOTE = 3 }", ["TS_REMARK_NOTE was 2, and is 3"]),
}


@pytest.mark.parametrize("old, new, said", CHANGES.values(), ids=CHANGES)
def test_what_a_header_may_become(built, old, new, said):
    before, after = built("before"), built("after", old, new)
    assert abi.what_breaks_plugins(before, after) == said
    assert abi.since_the_review(after, before) != "", "any of it is to be reviewed"
    assert abi.since_the_review(before, before) == ""
