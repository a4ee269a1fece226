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


def limited(row, verdict=None):
    """A trial whose windows end it: 8 ms are far from full with the largest."""
    return known(row) | {"verdict": verdict, "goodput_bps": row["window_sum_bytes"] * 8 / 0.0085}


SMALL = (MIB // 4, MIB // 2, MIB)


def test_where_windows_limit_the_highest_goodput_no_knee_is_drawn():
    rows = make_rows(window_sums=SMALL, directions=ONE_WAY, change=lambda row: limited(row, "receive window"))
    (one,) = of_kind(figures(rows), "product")
    assert "BDP" not in [trace.name for trace in one.figure.data]
    assert "(BDP) is not known: windows limit where goodput is highest, so it is more than" in one.caption
    assert max(row["window_over_rtt_bps"] for row in one.rows) == MIB * 8 / 0.008
    # What the usable windows make is above what came, and in sight.
    assert one.figure.layout.yaxis.range[1] >= max(max(trace.y) for trace in one.figure.data)


def test_without_a_verdict_goodput_that_grows_up_to_the_largest_window_has_no_knee():
    rows = make_rows(window_sums=SMALL, directions=ONE_WAY, change=limited)
    found = finding(
        "plateau", direction="starlight → sara", axis="window_sum_bytes", effect=9e5, effect_unit="bytes",
        evidence=tuple(row["trial_id"] for row in rows),
    )  # fmt: skip
    (growing,), (flat,) = (of_kind(figures(rows, findings=known), "product") for known in ((), (found,)))
    assert "BDP" not in [trace.name for trace in growing.figure.data]
    assert "so it is probably more than" in growing.caption
    assert trace(flat, "BDP")


@pytest.mark.parametrize("verdict", ["congestion window: loss", "sender CPU"])
def test_what_else_limits_the_highest_goodput_leaves_a_knee(verdict):
    rows = make_rows(window_sums=SMALL, directions=ONE_WAY, change=lambda row: limited(row, verdict))
    (one,) = of_kind(figures(rows), "product")
    assert trace(one, "BDP")


def test_a_known_link_has_its_knee_although_windows_limit():
    def of_link(row):
        return limited(row, "send window") | {"link_payload_bps": 2e9}

    (one,) = of_kind(figures(make_rows(window_sums=SMALL, directions=ONE_WAY, change=of_link)), "product")
    assert 2 ** trace(one, "BDP").x[0] == pytest.approx(2e6)


def test_a_window_of_one_end_has_its_diamonds_and_without_any_the_caption_has_none():
    def of_sender(row):
        others = dict.fromkeys(("window_bytes", "window_recv_bytes", "window_sum_bytes"))
        return known(row) | others | {"window_sum_asked_bytes": None}

    rows = make_rows(flows=(2,), directions=ONE_WAY, change=of_sender)
    (one,) = of_kind(figures(rows), "product")
    (diamonds,) = [trace for trace in one.figure.data if trace.name == "usable"]
    assert [2**x for x in diamonds.x] == pytest.approx([MIB << step for step in range(6)])
    assert "open diamonds" in one.caption
    (bare,) = of_kind(figures([row | {"window_usable_bytes": None} for row in rows]), "product")
    assert "usable" not in [trace.name for trace in bare.figure.data]
    assert "diamonds" not in bare.caption


def of_segments(row, mss, payload_bps):
    changes = {"mss_bytes": mss, "link_payload_bps": payload_bps, "trial_id": f"{row['trial_id']}{mss}"}
    return known(row) | changes


def test_each_panel_has_its_own_payload_rate():
    grid = make_rows(flows=(1, 2, 4), directions=ONE_WAY)
    rows = [of_segments(row, *link) for link in ((536, 8.6e9), (1448, 9.4e9)) for row in grid]
    told = {one.title: one for one in of_kind(figures(rows), "product")}
    assert len(told) == 2
    for mss, rate in (("536", "8.60"), ("1448", "9.40")):
        (one,) = [one for title, one in told.items() if mss in title]
        assert f"{rate} Gbit/s (the link's payload rate)" in one.caption
        assert trace(one, "BDP").y == (0, float(rate))
        assert max(row["window_over_rtt_bps"] for row in one.rows) == float(rate) * 1e9


def test_links_of_unlike_payload_in_one_panel_have_no_knee_and_diamonds_of_their_own():
    """One pair of hosts has half of what two pairs have, and numbers of flows tell them apart."""

    def of_pairs(row):
        usable = {"window_usable_bytes": row["window_usable_bytes"] * 8, "goodput_bps": 3e7 * row["flows"]}
        return known(row) | usable | {"link_payload_bps": 38.6e6 * row["flows"]}

    rows = make_rows(flows=(1, 2), directions=ONE_WAY, change=of_pairs)
    (one,) = of_kind(figures(rows), "product")
    assert "BDP" not in [trace.name for trace in one.figure.data]
    assert (
        "No knee (BDP) is drawn: payload rates of the trials' links are from 38.6 Mbit/s to 77.2 Mbit/s."
        in one.caption
    )
    assert "57.9" not in one.caption
    assert (
        "open diamonds: what the windows that were usable make, and the trial's link carries" in one.caption
    )
    (diamonds,) = [trace for trace in one.figure.data if trace.name == "usable"]
    shared = {round(2**x): [] for x in diamonds.x}
    for x, y in zip(diamonds.x, diamonds.y, strict=True):
        shared[round(2**x)].append(y)
    assert shared[2 * MIB] == [38.6, 77.2]
    assert max(row["window_over_rtt_bps"] for row in one.rows) == pytest.approx(32 * MIB * 8 / 0.008)


def test_payloads_that_differ_by_a_header_s_option_are_one_link():
    rows = make_rows(flows=(1, 2), directions=ONE_WAY, change=known)
    rows = [row | {"link_payload_bps": 9.4e9 + 0.04e9 * (row["repeat"] - 1)} for row in rows]
    (one,) = of_kind(figures(rows), "product")
    assert "9.42 Gbit/s (the link's payload rate)" in one.caption
