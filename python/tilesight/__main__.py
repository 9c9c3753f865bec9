"""The command `tilesight`: `run` and `migrate` are Python, everything else is the native program."""

import os
import sys


def main(arguments=None):
    """Runs a command and returns its exit status."""
    from .errors import Error

    arguments = sys.argv[1:] if arguments is None else list(arguments)
    try:
        if arguments[:1] == ["run"]:
            from .run import main as run
            return run(arguments[1:])
        if arguments[:1] == ["migrate"]:
            from .migrate import main as migrate
            return migrate(arguments[1:])
        from .engine import native
        if arguments[:1] == ["isolated"]:  # what a pass prints is there when the process ends all at once
            sys.stdout.reconfigure(line_buffering=True)
        if arguments[:1] == ["isolated"] or any(".py" in text for text in [*arguments, os.environ.get("TILESIGHT_PLUGIN_PATHS", "")]):
            from .passes import _use_python_plugins
            _use_python_plugins()
        return native().main(["tilesight", *arguments])
    except Error as error:
        print(f"tilesight: error: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
