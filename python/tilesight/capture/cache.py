"""Kernel text on disk, shared between processes.

One file an entry, named by a hash of everything the text depends on. Files are written aside and
renamed, so readers see whole entries; an entry that does not match its checksum counts as missing.
"""

import hashlib
import os
import tempfile

FORMAT = "tilesight-ttir-1"


def folder():
    """The cache's folder: $TILESIGHT_CACHE_DIR, else below $XDG_CACHE_HOME; None if it is off."""
    chosen = os.environ.get("TILESIGHT_CACHE_DIR")
    if chosen is not None:
        return os.path.join(chosen, "ttir") if chosen else None
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "tilesight", "ttir")


def key_of(parts):
    """The entry's name: a hash of `parts` (strings)."""
    digest = hashlib.sha256(FORMAT.encode())
    for part in parts:
        data = part.encode("utf-8", "surrogateescape")
        digest.update(b"%d:" % len(data))
        digest.update(data)
    return digest.hexdigest()


def _path(key):
    root = folder()
    return os.path.join(root, key[:2], key + ".mlir") if root else None


def _seal(text):
    data = text.encode("utf-8", "surrogateescape")
    return f"{FORMAT} {hashlib.sha256(data).hexdigest()}\n".encode() + data


def load(key):
    """The text, or None."""
    path = _path(key)
    if path is None:
        return None
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError:
        return None
    _, separator, body = data.partition(b"\n")
    if not separator:
        return None
    text = body.decode("utf-8", "surrogateescape")
    return text if _seal(text) == data else None


def store(key, text):
    """Keeps the text. A folder that cannot be written is no error: the next process compiles again."""
    path = _path(key)
    if path is None:
        return
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=os.path.dirname(path), suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(_seal(text))
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise
    except OSError:
        pass
