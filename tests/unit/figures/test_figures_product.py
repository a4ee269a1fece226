"""Where a plateau begins, in the figure of goodput against window × flows."""

import pytest

from figures_support import figures, finding, known, of_kind, trace
from report_support import MIB, make_rows

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


def test_windows_that_the_other_end_holds_back_are_one_point_with_all_its_repeats():
    def held_back(row):
        sums = dict.fromkeys(("window_bytes", "window_sum_bytes", "window_sum_asked_bytes"))
        ends = {"window_send_bytes": row["window_sum_bytes"], "window_recv_bytes": MIB}
        return known(row) | sums | ends | {"goodput_bps": row["window_sum_bytes"] / MIB * 1e8}

    rows = make_rows(flows=(1, 2), window_sums=(MIB, 4 * MIB, 16 * MIB), directions=ONE_WAY, change=held_back)
    (one,) = of_kind(figures(rows), "product")
    line, marks = (
        next(
            trace for trace in one.figure.data if trace.name == "1 flow" and ("lines" in trace.mode) is drawn
        )
        for drawn in (True, False)
    )
    assert list(marks.y) == [0.1, 0.1, 0.4, 0.4, 1.6, 1.6]
    assert list(line.y) == [0.4]
    assert "points with the same are put together" in one.caption
    assert len(one.rows) == 6


def test_one_trial_that_answers_two_sums_of_windows_counts_once():
    rows = make_rows(flows=(1, 2), window_sums=(MIB, 2 * MIB, 4 * MIB), directions=ONE_WAY, change=known)
    capped = [row | {"window_sum_asked_bytes": 8 * MIB} for row in rows if row["window_sum_bytes"] == 4 * MIB]
    (one,) = of_kind(figures([*rows, *capped]), "product")
    (marks,) = [trace for trace in one.figure.data if trace.name == "1 flow" and trace.mode == "markers"]
    assert len(marks.x) == 6
    assert "are put together" not in one.caption
