"""Kernels that Triton rejects: where, and why, in one line."""


def describe(function, error, args=()):
    """(file, line, column, message) for an exception that binding or the front end raised."""
    file, line, column = _place(error) or (function.fn.__code__.co_filename,
                                           function.starting_line_number, 1)
    return file, line, column, _message(error, args)


def in_front_end(error):
    """Was it raised while the front end walked through the kernel, and not for its arguments?"""
    return _place(error) is not None


def _chain(error):
    while error is not None:
        yield error
        error = error.__cause__


def _place(error):
    """Of the innermost statement that the front end was at, helper functions included."""
    place = None
    for link in _chain(error):
        node = getattr(link, "node", None)
        generator = _generator(link.__traceback__)
        if node is None or generator is None or not hasattr(node, "lineno"):
            continue
        function = getattr(generator, "jit_fn", None)
        indent = _indentation(function) if function is not None else 0
        place = (generator.file_name, generator.begin_line + node.lineno, node.col_offset + 1 + indent)
    return place


def _generator(traceback):
    """Triton's code generator in the innermost frame that has one."""
    found = None
    while traceback is not None:
        owner = traceback.tb_frame.f_locals.get("self")
        if hasattr(owner, "begin_line") and hasattr(owner, "file_name"):
            found = owner
        traceback = traceback.tb_next
    return found


def _indentation(function):
    for text in function.raw_src:
        if text.lstrip().startswith("def "):
            return len(text) - len(text.lstrip())
    return 0


def _message(error, args):
    *_, innermost = _chain(error)
    if isinstance(innermost, KeyError) and innermost.args and innermost.args[0] in _dtypes(args):
        return f"tensors of dtype {innermost.args[0]} cannot be passed"
    text = getattr(innermost, "error_message", None) or str(innermost)
    if not hasattr(innermost, "error_message"):
        text = f"{type(innermost).__name__}: {text}" if text else type(innermost).__name__
    return " ".join(text.split())


def _dtypes(args):
    return {str(arg.dtype).split(".")[-1] for arg in args if hasattr(arg, "dtype")}
