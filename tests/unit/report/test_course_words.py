"""One mean that stands for rates that are far apart is said to be one."""

from flowsweep.report.opening import opening
from report_support import make_row


def trust(*thirds: tuple[float, float], known: int | None = None) -> str:
    """What the opening says of trials whose senders' rates were so in the first and last third."""
    rows = [
        make_row(repeat=number, imported_from="iperf3-json a.json", goodput_method="receiver_mean")
        for number in range(1, len(thirds) + 1)
    ]
    courses = [
        {"trial_id": row["trial_id"], "first_bps": first, "last_bps": last}
        for row, (first, last) in list(zip(rows, thirds, strict=True))[:known]
    ]
    told = opening(rows, (), courses=courses)
    assert told is not None
    return dict(told.lines)["Trust"]


def test_rates_that_fall_within_all_trials_are_said() -> None:
    assert trust((460e6, 100e6), (458e6, 99e6), (470e6, 101e6)) == (
        "All 3 trials are imported; 3 trials or more at this point. starlight → sara: within each of 3 "
        "trials at that point the sender's rate fell, from 460 Mbit/s in the first third of the time to "
        "100 Mbit/s in the last (medians); goodput is the mean over all of it."
    )
    told = trust((10e6, 100e6))
    assert "starlight → sara: within the trial at that point the sender's rate rose, from 10.0 Mbit/s" in told


def test_rates_that_are_near_each_other_or_unlike_are_not() -> None:
    assert "sender's rate" not in trust(*[(140e6, 100e6)] * 3)
    assert "sender's rate" not in trust((460e6, 100e6), (460e6, 100e6), (140e6, 100e6))
    assert "sender's rate" not in trust((460e6, 100e6), (100e6, 460e6))
    assert "sender's rate" not in trust((460e6, 100e6), (460e6, 100e6), known=1)
