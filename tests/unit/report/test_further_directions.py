"""One slow host of many is seen in the opening."""

from collections.abc import Sequence

from flowsweep.report.opening import opening
from report_support import Row, make_rows

SHARES = {"starlight": 1.0, "cern": 0.99, "lyon": 0.7, "oslo": 0.98}


def directions(flows: Sequence[int], *, most_at: dict[str, int]) -> list[Row]:
    """Hosts that carry a share of 48 Mbit/s each; three quarters of it where their flows are others."""
    alike = {"goodput_bps": 48e6, "goodput_mean_bps": 48e6, "link_payload_bps": None}
    rows = make_rows(flows=flows, window_sums=(1 << 20,), repeats=3, change=lambda row: row | alike)
    return [
        row
        | {"src": host, "trial_id": row["trial_id"] + host}
        | {
            name: share * row[name] * (1 if row["flows"] == most_at.get(host, flows[0]) else 0.75)
            for name in ("goodput_bps", "goodput_mean_bps")
        }
        for host, share in SHARES.items()
        for row in rows
        if row["dst"] == "sara"
    ]


def highest(rows: Sequence[Row]) -> str:
    told = opening(rows, ())
    assert told is not None
    return dict(told.lines)["Highest goodput"]


def test_the_slowest_of_several_directions_is_named() -> None:
    """One host of ten carried 30 % less, and no sentence said so."""
    assert highest(directions([2], most_at={})).endswith(
        " 3 further directions have no higher goodput: lyon → sara 33.6 Mbit/s to cern → sara 47.5 Mbit/s."
    )


def test_directions_at_settings_of_their_own_are_told_with_these() -> None:
    """Each has its highest goodput elsewhere, and the sentence read as if all were at the same point."""
    assert highest(directions([1, 2], most_at={"lyon": 2})).endswith(
        " 3 further directions have no higher goodput: lyon → sara 33.6 Mbit/s (at 2 flows, window sum "
        "1 MiB) to cern → sara 47.5 Mbit/s (at 1 flow, window sum 1 MiB)."
    )
    assert highest(directions([1, 2], most_at={})).endswith(
        " lyon → sara 33.6 Mbit/s to cern → sara 47.5 Mbit/s."
    )
