"""What capture has to know of block pointers that Tilesight has put back into a Triton without them."""

import sys

# The last line of a kernel's text that was made with them, a name for a location, which nothing refers to: text from
# the cache tells as well as new text does.
_MARK = '#restored = loc("block pointers as in Triton 3.7")\n'


def _restored():
    module = sys.modules.get(__package__.rpartition(".")[0] + ".triton.restored")
    return module if module is not None and module.active() else None


def version():
    """Part of the name of a kernel's text in the cache; None where nothing was put back."""
    module = _restored()
    return module and module.version()


def marked(front_end):
    """front_end(), a text, with the mark if it made a block pointer."""
    module = _restored()
    if module is None:
        return front_end()
    before = module.made()
    text = front_end()
    return text if module.made() == before else f"{text.rstrip()}\n{_MARK}"


def used(text):
    return text.endswith(_MARK)


def restore(note):
    """For a process of `tilesight run`. A Triton that cannot be extended is told of, and left as it is."""
    from ..errors import Error

    try:
        from ..triton import restored

        restored.install()
    except Error as error:
        note(str(error))


def tell(text, note):
    """Says once that a kernel uses what Triton has not."""
    if used(text):
        import triton

        note(f"block pointers, which Triton {triton.__version__} has removed, work here as in Triton 3.7 "
             "(not with --no-block-pointers)")
