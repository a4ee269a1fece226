"""What the sender counted and what the receiver did, as repeats of one point."""

from flowsweep.report.opening import opening
from report_support import MIB, Row, make_rows

SAID = "3 of 6 repeats behind the highest goodput are what the sender counted, 3 what the receiver did: "


def rows_of(*methods: str) -> list[Row]:
    """A trial of each method, one way."""
    rows = make_rows(flows=[1], window_sums=(MIB,), directions=(("starlight", "sara"),), repeats=len(methods))
    return [row | {"goodput_method": method} for row, method in zip(rows, methods, strict=True)]


def trust(rows: list[Row]) -> str:
    told = opening(rows, ())
    assert told is not None
    return dict(told.lines)["Trust"]


def test_repeats_counted_at_both_ends_are_no_silent_repeats() -> None:
    """It was "All 6 trials are imported; 6 trials or more at this point"."""
    told = trust(rows_of(*["sender_mean"] * 3, *["receiver_mean"] * 2, "receiver_median"))
    assert told.startswith(SAID)
    assert told.endswith("what a sender counts may still be under way, or lost.")


def test_points_and_ends_of_one_kind_are_nothing_to_say() -> None:
    assert "sender" not in trust(rows_of("sender_mean", "sender_median", "sender_mean"))
    assert "sender" not in trust(rows_of(*["receiver_median"] * 3))
    back = [
        row | {"src": "sara", "dst": "starlight", "trial_id": f"back-{row['trial_id']}"}
        for row in rows_of(*["receiver_mean"] * 3)
    ]
    assert "sender" not in trust([*rows_of(*["sender_mean"] * 3), *back])
