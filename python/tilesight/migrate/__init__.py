"""`tilesight migrate`: rewrites kernels that use what Triton has removed."""

import argparse
import ast
import difflib
import os
import sys
import tempfile
import warnings
from pathlib import Path

from ..errors import Error

USAGE = """\
usage: tilesight migrate block-ptr FILE.py [--to vendored-file | plain | descriptor] [--promise WHAT,..]
                                           [--write | --check] [--prove [-- ARGUMENTS]]

Rewrites tl.make_block_ptr, tl.advance, and tl.load and tl.store on block pointers, which Triton 3.9 has
removed. Comments and formatting stay. Without an option it shows the changes as a diff.

  --to vendored-file   to calls of block_ptr.py, one file beside FILE.py that needs nothing but Triton
                       (the default)
  --to plain           to pointers and masks, written out; no other file is needed
  --to descriptor      to tensor descriptors, where the source shows that their rules hold, or you promise it
  --promise aligned    of --to descriptor: strides, where blocks begin and the rows of what is written are multiples
                       of 16 bytes, the stride of dimension order[0] is 1, no written block begins at a negative
                       coordinate
  --promise inside     of --to descriptor: blocks do not leave the tensor in dimensions that are not checked
  --write              change FILE.py, and put block_ptr.py beside it if it is not there
  --check              change and show nothing; exit status 1 where something would change
  --prove              run FILE.py as a program before and after under Tilesight, on the CPU, and compare
                       all launches with `tilesight diff`; what follows -- are its arguments. With --write
                       the file is only written if they are the same

What is not understood is refused, with line and reason, and nothing is changed.

Exit status: 0 done, 1 something would change (--check) or results differ (--prove), 2 refused or bad input,
3 it could not be proved.

Example:
  tilesight migrate block-ptr attention.py --write --prove
"""
PROMISES = ("aligned", "inside")
BYTE_ORDER_MARK = "\ufeff"


def main(arguments):
    """Runs the command and returns its exit status."""
    if not arguments or arguments[0] in ("-h", "--help"):
        print(USAGE, end="")
        return 0 if arguments else 2
    if arguments[0] != "block-ptr":
        raise Error(f"there is nothing to migrate named {arguments[0]}; there is block-ptr")
    if any(argument in ("-h", "--help") for argument in arguments[:_end(arguments)]):
        print(USAGE, end="")
        return 0
    options = _parse(arguments[1:])
    return _migrate(options)


def _end(arguments):
    return arguments.index("--") if "--" in arguments else len(arguments)


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        raise Error(f"{message} (see tilesight migrate --help)")


def _parse(arguments):
    end = _end(arguments)
    parser = _Parser(add_help=False, allow_abbrev=False)
    parser.add_argument("file", metavar="FILE.py")
    parser.add_argument("--to", choices=("vendored-file", "plain", "descriptor"), default="vendored-file")
    parser.add_argument("--promise", action="append", default=[])
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--write", action="store_true")
    how.add_argument("--check", action="store_true")
    parser.add_argument("--prove", action="store_true")
    options = parser.parse_args(arguments[:end])
    options.arguments = arguments[end + 1:]
    if options.arguments and not options.prove:
        raise Error("arguments after -- are for --prove")
    options.promise = {word for text in options.promise for word in text.split(",")}
    for word in sorted(options.promise):
        if word not in PROMISES:
            raise Error(f"--promise {word}: there are {' and '.join(PROMISES)}")
    if options.promise and options.to != "descriptor":
        raise Error("--promise is for --to descriptor")
    return options


def _migrate(options):
    path = Path(options.file)
    before = _read(path)
    mark = BYTE_ORDER_MARK if before.startswith(BYTE_ORDER_MARK) else ""
    before = before.removeprefix(mark)
    try:
        import libcst
    except ImportError:
        raise Error("`migrate` needs LibCST: python -m pip install libcst") from None
    from . import block_pointers

    _check_python(path, before)
    try:
        analysis = block_pointers.Analysis(before)
        after = _rewritten(analysis, options, path)
    except libcst.ParserSyntaxError as error:
        reason = " ".join(error.message.split())
        raise Error(f"{path}:{error.raw_line}:{error.raw_column + 1}: LibCST cannot read this: {reason}") from None
    except RecursionError:
        raise Error(f"{path}: expressions or statements are nested too deep to read") from None
    except block_pointers.Refused as refused:
        print(f"{path}:{refused.line}:{refused.column}: error: not migrated: {refused.reason}", file=sys.stderr)
        return 2
    if after == before:
        print(f"{path}: no block pointers of Triton's: nothing to change", file=sys.stderr)
        return 0
    calls = len(analysis.calls)
    if options.check:
        print(f"{path}: would change: {calls} call{'s' if calls > 1 else ''} on block pointers", file=sys.stderr)
        return 1
    beside = path.parent / "block_ptr.py" if options.to == "vendored-file" else None
    if beside is not None:
        _check_beside(beside)
    if not options.write:
        for line in difflib.unified_diff(before.splitlines(True), after.splitlines(True), str(path), str(path)):
            sys.stdout.write(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n")
        sys.stdout.flush()
    if options.prove:
        from .proof import prove

        status, said = prove(path, after, _library(), options.arguments)
        print(f"{path}: {said}", file=sys.stderr)
        if status:
            return status
    if options.write:
        if beside is not None and not beside.exists():
            _write(beside, _library())
            print(f"{beside}: new", file=sys.stderr)
        _write(path, mark + after)
        print(f"{path}: {calls} call{'s' if calls > 1 else ''} changed", file=sys.stderr)
    if options.to == "descriptor":
        print(f"{path}: note: every tensor begins at a multiple of 16 bytes, and has 1 to 2**31 - 1 elements a dimension: "
              "that is up to you; and the program must call triton.set_allocator before it launches these kernels on a GPU",
              file=sys.stderr)
    return 0


def _check_python(path, text):
    """Refuses what this Python cannot read, in its words: they are the better ones."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ast.parse(text)
        except SyntaxError as error:
            place = f"{path}:{error.lineno or 1}:{error.offset or 1}"
            raise Error(f"{place}: this is no Python {'.'.join(map(str, sys.version_info[:2]))}: {error.msg}") from None
        except ValueError as error:
            raise Error(f"{path}: this is no Python: {error}") from None
        except (RecursionError, MemoryError):
            raise Error(f"{path}: expressions or statements are nested too deep to read") from None


def _rewritten(analysis, options, path):
    """The new text of the file."""
    from . import descriptor, plain, vendored

    if options.to == "descriptor":
        return descriptor.rewrite(analysis, options.promise)
    if options.to == "plain":
        return plain.rewrite(analysis)
    return vendored.rewrite(analysis, package=(path.parent / "__init__.py").exists())


def _library():
    return (Path(__file__).resolve().parents[1] / "triton" / "block_ptr.py").read_text(encoding="utf-8")


def _check_beside(beside):
    """Refuses where a block_ptr.py of another kind lies; one of any age of ours stays."""
    if beside.exists() and _read(beside).split("\n", 1)[0] != _library().split("\n", 1)[0]:
        raise Error(f"{beside} is another file than Tilesight's block_ptr.py: it is in the way")


def _read(path):
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return file.read()
    except OSError as error:
        raise Error(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise Error(f"{path} is no text in UTF-8") from None


def _write(path, text):
    """All of the text, or the file as it was. A link stays one; so do the file's permissions."""
    target = os.path.realpath(path)
    name = None
    try:
        with tempfile.NamedTemporaryFile("w", dir=os.path.dirname(target), delete=False, encoding="utf-8",
                                         newline="") as file:
            name = file.name
            file.write(text)
        os.chmod(name, os.stat(target).st_mode & 0o7777 if os.path.exists(target) else 0o666 & ~_umask())
        os.replace(name, target)
    except OSError as error:
        if name is not None and os.path.exists(name):
            os.unlink(name)
        raise Error(f"{path} cannot be written: {error.strerror}") from None


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask
