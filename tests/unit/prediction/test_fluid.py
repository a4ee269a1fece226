"""The fluid model where theory knows the answer."""

import pytest

from flowsweep.analysis import theory
from flowsweep.prediction.fluid import BURST_S, predicted
from flowsweep.prediction.setting import FlowSetting, PathModel, Prediction

PATH = PathModel(rate_bps=100e6, rtt_s=0.04, queue_bytes=500_000)
PAYLOAD_BPS = 100e6 * 1448 / 1500


def setting(path: PathModel = PATH, **changes) -> FlowSetting:
    asked = {
        "flows": 1,
        "congestion": "cubic",
        "window_segments": None,
        "flow_bps": None,
        "segment_bytes": 1448,
        "duration_s": 20.0,
        "omit_s": 5.0,
    }
    return FlowSetting(path=path, **(asked | changes))


def predict(path: PathModel = PATH, **changes) -> Prediction:
    [found] = predicted([setting(path, **changes)])
    return found


@pytest.mark.parametrize("congestion", ["cubic", "reno", "bbr"])
def test_a_window_gives_itself_each_round_trip(congestion: str) -> None:
    found = predict(congestion=congestion, window_segments=100)
    assert found.goodput_bps == pytest.approx(100 * 1448 * 8 / (0.04 + 1500 * 8 / 100e6 + BURST_S), rel=0.005)
    assert found.limit == "window"


@pytest.mark.parametrize("congestion", ["cubic", "reno", "bbr"])
@pytest.mark.parametrize("flows", [1, 4, 40])
def test_a_queue_of_bandwidth_times_delay_keeps_the_link_full(congestion: str, flows: int) -> None:
    found = predict(congestion=congestion, flows=flows, duration_s=60.0, omit_s=30.0)
    assert found.goodput_bps == pytest.approx(PAYLOAD_BPS, rel=0.03)
    assert found.limit == "path"
    assert 0.04 <= found.rtt_s <= 0.081


def test_an_application_gets_the_rate_that_it_sends() -> None:
    found = predict(flows=2, flow_bps=20e6)
    assert found.goodput_bps == pytest.approx(40e6, rel=0.01)
    assert found.limit == "rate asked"
    assert found.rtt_s == pytest.approx(0.04 + 1500 * 8 / 100e6)


@pytest.mark.parametrize("loss", [1e-3, 3e-3])
def test_reno_at_random_loss_is_as_mathis_has_it(loss: float) -> None:
    found = predict(
        PathModel(1e9, 0.04, 5e6, loss), congestion="reno", flows=8, duration_s=200.0, omit_s=20.0
    )
    # Periodic loss in the formula, losses at random here: a tenth between them, either way.
    assert found.goodput_bps == pytest.approx(8 * theory.mathis_bps(1448, 0.04, loss), rel=0.15)
    assert found.limit == "congestion control"


def test_cubic_at_random_loss_is_as_its_response_function_has_it() -> None:
    found = predict(PathModel(1e9, 0.1, 12.5e6, 1e-4), flows=8, duration_s=300.0, omit_s=50.0)
    assert found.goodput_bps == pytest.approx(8 * theory.cubic_bps(1448, 0.1, 1e-4), rel=0.25)


def test_random_losses_hardly_hold_bbr_down() -> None:
    lossy = PathModel(100e6, 0.04, 500_000, 1e-3)
    assert predict(lossy, congestion="bbr").goodput_bps > 0.9 * PAYLOAD_BPS
    assert predict(lossy, congestion="reno").goodput_bps < 0.3 * PAYLOAD_BPS


def test_more_flows_carry_more_where_losses_hold_each_of_them_down() -> None:
    lossy = PathModel(1e9, 0.04, 5e6, 1e-3)
    one, four, sixteen = (predict(lossy, congestion="reno", flows=flows).goodput_bps for flows in (1, 4, 16))
    assert 3 < four / one < 5
    assert 3 < sixteen / four < 5


def test_slow_start_counts_unless_it_is_omitted() -> None:
    far = PathModel(100e6, 0.3, 4e6)
    whole = predict(far, congestion="bbr", omit_s=0.0)
    after = predict(far, congestion="bbr", omit_s=10.0)
    assert whole.goodput_bps < 0.95 * after.goodput_bps
    assert after.whole_bps == pytest.approx(whole.goodput_bps)


def test_what_a_full_window_loses_at_once_it_loses_again() -> None:
    # Measured: 44 Mbit/s, after three reductions within 0.6 s.
    path = PathModel(100e6, 0.08, 500_000)
    found = predict(path, congestion="reno", window_segments=1104, duration_s=10.0, omit_s=3.0)
    assert found.goodput_bps == pytest.approx(44e6, rel=0.1)


def test_the_same_settings_give_the_same_predictions_in_any_company() -> None:
    settings = [
        setting(flows=1, window_segments=50),
        setting(flows=2, congestion="reno"),
        setting(PathModel(100e6, 0.04, 100_000, 1e-3), flows=3),
        setting(PathModel(200e6, 0.01, 100_000, 1e-4), flows=4, duration_s=60.0),
        setting(flows=8, congestion="bbr"),
    ]
    alone = [predicted([one])[0] for one in settings]
    for one, there in zip(alone, predicted(settings), strict=True):
        assert there.goodput_bps == pytest.approx(one.goodput_bps)
        assert there.limit == one.limit


@pytest.mark.parametrize("congestion", ["cubic", "reno", "bbr"])
@pytest.mark.parametrize(
    "path",
    [PathModel(100e6, 0.001, 50_000), PathModel(100e6, 0.02, 125_000), PathModel(1e9, 0.04, 5e6, 1e-3)],
)
def test_a_trial_of_a_day_goes_on_as_one_of_minutes(path: PathModel, congestion: str) -> None:
    minutes, day = (
        predict(path, congestion=congestion, flows=2, duration_s=duration_s, omit_s=30.0)
        for duration_s in (300.0, 86_400.0)
    )
    assert day.goodput_bps == pytest.approx(minutes.goodput_bps, rel=0.12)
    assert day.rtt_s == pytest.approx(minutes.rtt_s, rel=0.25)


def test_nothing_is_asked_and_nothing_is_answered() -> None:
    assert predicted([]) == []
