"""The tutorial cases under Tilesight: float64 results within the bounds, and nothing to find."""

import pytest

from tutorials.suite import parameters
from twins.findings import Run


@pytest.mark.parametrize("case", parameters())
def test_result_and_silence(case, collect):
    run = Run(client=["sanitizer", "tracer"])
    case.launch(run.check)
    assert run.reports
    assert run.findings == [] and run.unknowns == []
    assert {report.verdict for report in run.reports} == {"ok"}
