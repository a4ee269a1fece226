"""One slow host of many is seen in the opening."""

from flowsweep.report.opening import opening
from report_support import make_rows


def test_the_slowest_of_several_directions_is_named() -> None:
    """One host of ten carried 30 % less, and no sentence said so."""
    alike = {"goodput_bps": 48e6, "goodput_mean_bps": 48e6, "link_payload_bps": None}
    rows = [
        row
        for row in make_rows(flows=[2], window_sums=(1 << 20,), repeats=3, change=lambda row: row | alike)
        if row["dst"] == "sara"
    ]
    hosts = {"starlight": 1.0, "cern": 0.99, "lyon": 0.7, "oslo": 0.98}
    told = opening(
        [
            row
            | {"src": host, "trial_id": row["trial_id"] + host}
            | {name: share * row[name] for name in ("goodput_bps", "goodput_mean_bps")}
            for host, share in hosts.items()
            for row in rows
        ],
        (),
    )
    assert told is not None
    assert dict(told.lines)["Highest goodput"].endswith(
        " 3 further directions have no higher goodput: lyon → sara 33.6 Mbit/s to cern → sara 47.5 Mbit/s."
    )
