"""Where a plateau begins, in the figure of goodput against window × flows."""

import pytest

from figures_support import figures, finding, known, of_kind, trace
from report_support import make_rows

ONE_WAY = (("starlight", "sara"),)


@pytest.fixture(scope="module")
def rows() -> list:
    return make_rows(lengths=(2000, 8000), repeats=3, change=known)


def test_where_a_plateau_was_found_is_shaded(rows):
    found = finding(
        "plateau", direction="starlight → sara", axis="window_sum_bytes", effect=9e6, effect_unit="bytes",
        interval_low=8e6, interval_high=10e6, evidence=tuple(row["trial_id"] for row in rows),
    )  # fmt: skip
    there, back = of_kind(figures(rows, findings=(found,)), "product")[:2]
    band = trace(there, "plateau")
    assert [2**x for x in band.x] == pytest.approx([8e6, 10e6, 10e6, 8e6, 8e6])
    assert "Shaded" in there.caption
    assert "plateau" not in [trace.name for trace in back.figure.data]


def test_an_interval_without_an_upper_end_is_shaded_up_to_the_largest_window_and_one_only_once(rows):
    found = finding(
        "plateau", direction="starlight → sara", axis="window_sum_bytes", effect=9e6, effect_unit="bytes",
        interval_low=8e6, interval_high=None, evidence=tuple(row["trial_id"] for row in rows),
    )  # fmt: skip
    there = of_kind(figures(rows, findings=(found, found)), "product")[0]
    [band] = [one for one in there.figure.data if one.name == "plateau"]
    largest = max(x for one in there.figure.data if one.mode == "lines+markers" for x in one.x)
    assert max(band.x) == pytest.approx(largest)
    assert "without an upper end it reaches to the largest window" in there.caption


def test_a_plateau_is_shaded_in_the_figure_of_its_trials_only():
    both = {
        name: [
            known(row) | {"congestion_asked": name, "trial_id": row["trial_id"] + name}
            for row in make_rows(directions=ONE_WAY, repeats=3)
        ]
        for name in ("bbr", "cubic")
    }
    found = finding(
        "plateau", direction="starlight → sara", axis="window_sum_bytes", effect=9e6, effect_unit="bytes",
        evidence=tuple(row["trial_id"] for row in both["bbr"]),
    )  # fmt: skip
    shaded = {
        one.title: "plateau" in [trace.name for trace in one.figure.data]
        for one in of_kind(figures([*both["bbr"], *both["cubic"]], findings=(found,)), "product")
    }
    assert sorted(shaded.values()) == [False, True]
    assert next(title for title, is_shaded in shaded.items() if is_shaded).endswith("bbr")
