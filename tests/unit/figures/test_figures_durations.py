"""How long a trial has to be: no more is said of a few trials than they tell."""

import pytest

from figures_support import figures, of_kind
from report_support import MIB, make_rows

ALL, NINE_OF_TEN, HALF = "all trials", "nine of ten trials", "the middle half"


@pytest.mark.parametrize(
    ("trials", "names"),
    [(1, [ALL]), (3, [ALL]), (4, [ALL, HALF]), (19, [ALL, HALF]), (20, [NINE_OF_TEN, HALF])],
)
def test_the_spread_has_the_name_of_what_is_drawn(trials: int, names: list[str]) -> None:
    rows = make_rows(flows=(1,), window_sums=(MIB,), directions=(("starlight", "sara"),), repeats=trials)
    cuts = [
        {
            "trial_id": row["trial_id"], "bins": 3, "duration_ns": 12_000_000_000,
            "goodput_bps": row["goodput_bps"] * (0.9 - 0.01 * row["repeat"]),
        }
        for row in rows
    ]  # fmt: skip
    (one,) = of_kind(figures(rows, truncated=cuts), "duration")
    traces = [trace for trace in one.figure.data if trace.showlegend is not False]
    assert [trace.name for trace in traces] == [*names, "median of the trials"]
    (cut, _) = one.rows
    assert cut["deviation_lowest_percent"] == pytest.approx(-10 - trials)
    assert cut["deviation_highest_percent"] == pytest.approx(-11)
    assert (cut["deviation_p25_percent"] is None) == (HALF not in names)
    assert (cut["deviation_p5_percent"] is None) == (ALL in names)
    if ALL in names:
        assert traces[0].y[0] == pytest.approx(-10 - trials)
        assert "all: " in traces[-1].text[0]
    else:
        assert traces[0].y[0] == pytest.approx(-29.05)
        assert "nine of ten: " in traces[-1].text[0]
