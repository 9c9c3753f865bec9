"""Runs a case on the engine."""

import tilesight as ts


def run(case):
    """(the arrays after the launch, the arguments before it, the report)"""
    before, arguments = case.arguments(), case.arguments()
    report = ts.check(case.kernel)[case.grid](**arguments, **case.constants)
    return arguments, before, report
