"""Points that have no scale to stand on: repeats, and their mean with its interval."""

import math
from dataclasses import replace

import pytest

from figures_support import figures, of_kind
from flowsweep.analysis.findings.finding import FigureKey
from flowsweep.figures.drawing import figure_of
from flowsweep.figures.grid.panel import panels
from flowsweep.figures.grid.repeats import repeats
from report_support import MIB, make_cells, make_rows

ONE_WAY = (("starlight", "sara"),)


def test_a_single_point_shows_its_repeats_and_their_mean_with_its_interval():
    goodputs = (90e6, 100e6, 110e6)
    rows = [
        row | {"goodput_bps": goodput}
        for row, goodput in zip(
            make_rows(flows=[4], window_sums=(MIB,), directions=ONE_WAY, repeats=3), goodputs, strict=True
        )
    ]
    found = figures(rows)
    assert "line" not in {one.key.kind for one in found}
    (one,) = of_kind(found, "repeats")
    marks, mean = one.figure.data
    assert list(marks.x) == [90, 100, 110]
    # Logarithms 4.4998, 4.6052, 4.7005: mean 4.6018, standard error 0.05796, t(0.975, 2) = 4.3027.
    middle, factor = 990_000 ** (1 / 3), math.exp(4.302653 * 0.0579573)
    assert mean.x[0] == pytest.approx(middle, rel=1e-4)
    assert mean.x[0] + mean.error_x.array[0] == pytest.approx(middle * factor, rel=1e-3)
    assert mean.x[0] - mean.error_x.arrayminus[0] == pytest.approx(middle / factor, rel=1e-3)
    assert mean.text[0] == "99.7 [77.7, 128] Mbit/s"
    assert figure_of(FigureKey("plane", "windows", "copy", "starlight → sara"), found) is one


def test_one_repeat_is_shown_without_an_interval():
    rows = make_rows(flows=[4], window_sums=(MIB,), directions=ONE_WAY, repeats=1)
    (one,) = of_kind(figures(rows), "repeats")
    mean = one.figure.data[1]
    assert (list(mean.error_x.array), list(mean.error_x.arrayminus)) == ([None], [None])
    assert mean.text[0].endswith("one repeat")


def test_directions_and_words_of_a_single_point_have_a_row_each():
    rows = [
        row | {"congestion": name, "congestion_asked": name, "trial_id": row["trial_id"] + name}
        for name in ("bbr", "cubic")
        for row in make_rows(flows=[4], window_sums=(MIB,), repeats=2)
    ]
    there, back = of_kind(figures(rows), "repeats")
    assert [there.title, back.title] == ["starlight → sara", "sara → starlight"]
    assert list(there.figure.data[1].y) == ["congestion control bbr", "congestion control cubic"]


def test_points_of_which_no_trial_carried_anything_have_no_mean():
    rows = make_rows(flows=[4], window_sums=(MIB,), directions=ONE_WAY, repeats=1)
    (panel,) = panels(make_cells(rows))
    nothing = [row | {"goodputs_bps": []} for row in panel.rows]
    assert not repeats(replace(panel, rows=tuple(nothing))).data[1].x


def test_a_repeat_that_carried_nothing_is_shown_and_its_point_has_no_mean():
    rows = make_rows(flows=[4], window_sums=(MIB,), directions=ONE_WAY, repeats=3)
    (panel,) = panels(make_cells(rows))
    one_empty = [row | {"goodputs_bps": [0.0, 90e6, 100e6]} for row in panel.rows]
    marks, mean = repeats(replace(panel, rows=tuple(one_empty))).data
    assert (list(marks.x), list(mean.x)) == ([0.0, 0.09, 0.1], [])  # Gbit/s


def captions(*goodputs: float) -> str:
    rows = make_rows(flows=[4], window_sums=(MIB,), directions=ONE_WAY, repeats=len(goodputs))
    rows = [row | {"goodput_bps": goodput} for row, goodput in zip(rows, goodputs, strict=True)]
    (one,) = of_kind(figures(rows), "repeats")
    return one.caption


def test_the_caption_names_no_mean_or_interval_that_is_not_drawn():
    marks = "Each mark is a repeat: the sum over all flows."
    mean = "their geometric mean and its 95 % interval (Student's t over the repeats)."
    assert captions(90e6, 100e6, 110e6) == f"{marks} Diamond, line and numbers: {mean}"
    for few in ((90e6,), (90e6, 100e6)):
        assert captions(*few) == (
            f"{marks} Diamond and number: their geometric mean; 3 repeats would tell an interval."
        )
    assert captions(90e6, 0, 110e6) == (
        f"{marks} There is no mean where a repeat carried nothing: a geometric mean is of values above 0."
    )


def test_the_caption_says_from_how_many_repeats_on_some_points_have_an_interval():
    rows = [
        row | {"congestion": name, "congestion_asked": name, "trial_id": row["trial_id"] + name}
        for name, repeats in (("bbr", 3), ("cubic", 2))
        for row in make_rows(flows=[4], window_sums=(MIB,), directions=ONE_WAY, repeats=repeats)
    ]
    (one,) = of_kind(figures(rows), "repeats")
    assert one.caption.endswith("its 95 % interval (Student's t over the repeats, of 3 or more).")
