"""What one launch amounted to, for Python."""

import html as markup
import json
import sys

from . import engine
from .config import config
from .errors import Error, FindingsError


class Fields(dict):
    """A JSON object whose keys are attributes, too."""

    def __getattr__(self, name):
        try:
            value = self[name]
        except KeyError:
            raise AttributeError(f"there is no field {name!r}; there are {', '.join(self)}") from None
        return Fields(value) if isinstance(value, dict) else value


class Finding(Fields):
    """A finding, with the fields of the JSON contract (docs/findings.md)."""

    def __repr__(self):
        return f"<{self.severity} {self.kind} at {self.location.file}:{self.location.line}>"


class Report:
    """The report of one launch. `native` is the engine's own."""

    def __init__(self, native_report, kernel):
        self.native = native_report
        self._specialisation = kernel
        self._trace = None
        self._merged = None

    @property
    def kernel(self):
        """The kernel's name."""
        return self.native.kernel

    @property
    def grid(self):
        return self.native.grid

    @property
    def seconds(self):
        return self.native.seconds

    @property
    def verdict(self):
        """"ok", "finding" or "unknown", after what comments and pyproject.toml accept."""
        return self.session.verdict

    @property
    def unknowns(self):
        """What was not executed or not checked, and why: a list of texts."""
        return self.native.unknowns

    @property
    def checked(self):
        return self.native.checked

    @property
    def not_checked(self):
        return self.native.not_checked

    @property
    def ir(self):
        """The kernel's MLIR text as Triton's front end wrote it."""
        return self._specialisation.text if self._specialisation else ""

    @property
    def document(self):
        """The whole report as the JSON contract has it."""
        return json.loads(self.session.json(None))

    @property
    def findings(self):
        return [Finding(entry) for entry in self.document["findings"]]

    @property
    def trace(self):
        """Values of the launch (`trace.at`), and what client="tracer" recorded: a tilesight.recorded.Trace."""
        if self._trace is None:
            from .recorded import Trace  # with numpy, which `tilesight run` itself does without

            self._trace = Trace(self.native.trace, self.grid, self.native.arguments, self.native)
        return self._trace

    @property
    def profile(self):
        """Counts and bytes; needs client="profiler"."""
        raise Error("there is no profiler yet")

    @property
    def session(self):
        """The native Session with this launch alone."""
        if self._merged is None:
            self._merged = engine.native().Session(**config.accepted())
            self._merged.add(self.native)
        return self._merged

    def text(self, colour=False):
        """The report for people."""
        return self.session.text(colour)

    def __str__(self):
        return self.text().rstrip("\n")

    def show(self, html=None):
        """Opens the visualizer on this launch; `print(report)` prints the report.

        Returns a tilesight.visualizer.Page, which is served until close() or the program's end: a script in a terminal
        waits there for Ctrl-C. In a notebook the page appears in the cell. `html="page.html"` writes it as one file
        and serves nothing. Under `tilesight run`, which keeps no inputs, it opens nothing and the report notes that.
        Raises tilesight.Error where the launch's inputs are gone, or this build has no visualizer."""
        from . import visualizer
        from .session import recorder

        if recorder.wire is not None and not self.native.has_inputs:
            recorder.note(f"report.show() of {self.kernel} opens nothing here: use `tilesight run --save-all --save "
                          "run.tsb`, then `tilesight view run.tsb`")
            return None
        if html is not None:
            print(visualizer.write(self, html), end="", file=sys.stderr)
            return None
        if visualizer.in_notebook():
            from IPython.display import HTML, display

            display(HTML(visualizer.frame(self)))
            return None
        return visualizer.serve(self)

    def _repr_html_(self):
        """For notebooks: the visualizer, or the text of the report where there is none to show."""
        from . import visualizer

        try:
            return visualizer.frame(self)
        except Error as error:
            return f"<pre>{markup.escape(self.text())}\nno visualizer: {markup.escape(str(error))}</pre>"

    def raise_for_findings(self):
        """Raises FindingsError if there is a finding of severity error."""
        if self.session.errors:
            raise FindingsError("\n" + self.text(), self)

    def save(self, path):
        """Writes the launch as a bundle."""
        save(path, [self])

    def __repr__(self):
        return f"<tilesight report: {self.kernel} {self.grid}, {self.verdict}>"


def save(path, reports):
    """Writes the launches of `reports` as one bundle. Raises tilesight.Error where inputs are gone."""
    for report in reports:
        if not report.native.has_inputs:
            raise Error(f"the inputs of a launch of {report.kernel} are gone: set ts.config.keep_inputs "
                        "= \"64M\" before it, or use `tilesight run --save`")
    writer = engine.native().BundleWriter(str(path))
    for report in reports:
        writer.add(report.native)
    writer.finish()
