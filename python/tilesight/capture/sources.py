"""The source files that a kernel's locations name, so that reports can show their lines."""

import linecache
import os
import re

_FILE = re.compile(r'loc\("((?:[^"\\]|\\.)*)":\d+:\d+')
_ESCAPE = re.compile(r'\\([0-9A-Fa-f]{2}|.)')


def _unescaped(text):
    def byte(match):
        code = match.group(1)
        return chr(int(code, 16)) if len(code) == 2 else code

    if "\\" not in text:
        return text
    # MLIR escapes bytes, and file names are UTF-8.
    return _ESCAPE.sub(byte, text).encode("latin-1", "replace").decode("utf-8", "replace")


def files_of(ir_text):
    """Paths named in the locations of MLIR text, in order of appearance."""
    return list(dict.fromkeys(_unescaped(name) for name in _FILE.findall(ir_text)))


def all_there(ir_text):
    """Whether every file in the locations exists: text from a cache may name files that were moved."""
    return all(os.path.exists(path) or path in linecache.cache for path in files_of(ir_text))


def collect(ir_text, functions=()):
    """Path -> text of every user source file in the locations. `functions` are JIT functions whose
    own source stands in for a file that is not to be had (a notebook cell that is gone)."""
    import triton

    own = os.path.dirname(os.path.abspath(triton.__file__)) + os.sep
    texts = {}
    for path in files_of(ir_text):
        if os.path.abspath(path).startswith(own):
            continue
        linecache.checkcache(path)
        lines = linecache.getlines(path)
        if not lines:
            for function in functions:
                if function.fn.__code__.co_filename == path:
                    lines = ["\n"] * (function.starting_line_number - 1) + list(function.raw_src)
        if lines:
            texts[path] = "".join(lines)
    return texts
