"""What theory predicts, drawn over a grid, and what was measured as a share of it."""

import math

import pytest

from figures_support import figures, known, of_kind
from report_support import MIB, make_rows

ONE_WAY = (("starlight", "sara"),)


def predicted_rows(**changes) -> list:
    return make_rows(
        directions=ONE_WAY, repeats=3,
        change=lambda row: known(row)
        | {"theory_window_bps": row["window_sum_bytes"] * 1000.0, "link_payload_bps": 9.5e9}
        | changes,
    )  # fmt: skip


def test_predictions_are_usable_window_over_rtt_and_at_most_the_links_rate():
    surface, heatmap = of_kind(figures(predicted_rows()), "prediction")
    assert (surface.needs_webgl, heatmap.needs_webgl) == (True, False)
    expected = [min(size * 1000 / 1e9, 9.5) for size in (MIB << step for step in range(6))]
    for row in surface.figure.data[0].z:
        assert list(row) == pytest.approx(expected, rel=1e-4)
    hover = surface.figure.data[0].customdata[0][0]
    assert hover.startswith("<b>1.05 Gbit/s</b><br>predicted<br>measured: ")
    assert heatmap.rows[0]["predicted_bps"] == MIB * 1000.0
    assert heatmap.rows[0]["measured_bps"] == pytest.approx(1e9, rel=0.1)


def test_without_a_known_link_nothing_is_predicted():
    drawn = figures(predicted_rows(link_payload_bps=None))
    assert of_kind(drawn, "prediction") == of_kind(drawn, "ratio") == []


def test_measured_to_predicted_is_a_map_around_1():
    (drawn,) = of_kind(figures(predicted_rows()), "ratio")
    sheet, numbers = drawn.figure.data
    assert (sheet.zmin, sheet.zmid) == (-sheet.zmax, 0)
    assert list(sheet.x) == [math.log2(MIB << step) for step in range(6)]
    first = drawn.rows[0]
    assert first["ratio"] == pytest.approx(first["measured_bps"] / first["predicted_bps"], rel=1e-4)
    assert sheet.z[0][0] == pytest.approx(math.log(first["ratio"]), rel=1e-3)
    assert float(numbers.text[0]) == pytest.approx(first["ratio"], rel=1e-2)
    assert max(abs(math.log(row["ratio"])) for row in drawn.rows) == pytest.approx(sheet.zmax, rel=1e-4)
    for expected in ("lesser of usable window × flows / RTT and the payload rate", "1 means as predicted"):
        assert expected in drawn.caption


def test_measured_to_predicted_is_drawn_over_window_and_length_and_of_what_carried_nothing():
    rows = make_rows(
        directions=ONE_WAY, lengths=(2000, 8000), flows=(1,),
        change=lambda row: known(row)
        | {"theory_window_bps": 1e9, "link_payload_bps": 9.5e9}
        | ({"goodput_bps": 0.0} if row["window_sum_bytes"] == MIB else {}),
    )  # fmt: skip
    (drawn,) = of_kind(figures(rows), "ratio")
    assert drawn.key.axis == "length_bytes"
    assert [row["window_sum_asked_bytes"] == MIB for row in drawn.rows] == [
        not row["ratio"] for row in drawn.rows
    ]
    assert drawn.figure.data[0].z[0][0] == drawn.figure.data[0].zmin


def modelled_rows(**changes) -> list:
    return predicted_rows(predicted_goodput_bps=2e9, goodput_mean_bps=1.5e9, **changes)


def test_the_models_prediction_is_compared_with_means():
    (drawn,) = of_kind(figures(modelled_rows()), "ratio")
    assert {row["ratio"] for row in drawn.rows} == {0.75}
    assert "Mean goodput over the repeats ÷ predicted: a fluid model on the plan's link" in drawn.caption
    surface, _ = of_kind(figures(modelled_rows()), "prediction")
    assert "by a fluid model on the plan's link" in surface.caption


def test_between_real_hosts_the_caption_says_what_the_path_is_taken_to_be():
    rows = modelled_rows(link_payload_bps=None, predicted_path_rate_bps=2e9)
    (drawn,) = of_kind(figures(rows), "ratio")
    assert "the highest goodput and the minimum RTT of a direction's trials" in drawn.caption


def test_a_point_without_a_mean_leaves_its_plane_without_predictions():
    rows = modelled_rows()
    smallest = min(row["window_sum_bytes"] for row in rows)
    rows = [row | ({"goodput_mean_bps": None} if row["window_sum_bytes"] == smallest else {}) for row in rows]
    drawn = figures(rows)
    assert of_kind(drawn, "prediction") == of_kind(drawn, "ratio") == []


def test_captions_say_how_many_points_are_beyond_what_the_model_was_compared_with():
    rows = modelled_rows()
    smallest = min(row["window_sum_bytes"] for row in rows)
    beyond = {"predicted_beyond_compared": 1.0}
    rows = [row | (beyond if row["window_sum_bytes"] == smallest else {}) for row in rows]
    points = len({row["flows"] for row in rows})
    told = f"Beyond what the model was compared with: {points} points."
    for kind in ("prediction", "ratio"):
        assert all(told in drawn.caption for drawn in of_kind(figures(rows), kind))
        assert not any("Beyond" in drawn.caption for drawn in of_kind(figures(modelled_rows()), kind))
