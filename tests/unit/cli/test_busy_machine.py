"""A machine that is too busy to emulate a path is warned of before the campaign."""

import pytest

from flowsweep.cli.busy_machine import warning


@pytest.mark.parametrize(
    ("load", "cpus", "warns"),
    [(0.2, 2, False), (0.99, 2, False), (1.0, 2, True), (6.3, 2, True), (6.3, 16, False)],
)
def test_a_load_is_too_much_from_half_of_the_processors_on(load: float, cpus: int, *, warns: bool) -> None:
    assert (warning(load, cpus) is not None) == warns


def test_the_warning_says_how_busy_and_what_follows() -> None:
    assert warning(6.3, 2) == (
        "warning: this machine is busy before the campaign begins (load 6.30, 2 processors): emulated paths "
        "may be late, and trials whose path was late take no part in findings"
    )
