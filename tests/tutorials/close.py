"""How near is near enough."""

import numpy as np


def assert_close(got, wanted, absolute, relative=0.0):
    """|got - wanted| <= absolute + relative * |wanted|, everywhere, NaN nowhere."""
    got = got.astype(np.float64)
    error = np.abs(got - wanted) - relative * np.abs(wanted)
    worst = np.unravel_index(np.argmax(np.where(np.isnan(error), np.inf, error)), error.shape)
    assert error[worst] <= absolute, (
        f"element {tuple(int(i) for i in worst)} is {got[worst]}, wanted {wanted[worst]} "
        f"(error {error[worst]:.3g} > {absolute:.3g})")
