"""Which points of a plan have a prediction, and why others have none."""

from pathlib import Path

import pytest

from flowsweep.plan import load_plan
from flowsweep.plan.model import Plan
from flowsweep.prediction.paths import KnownPath
from flowsweep.prediction.points import predicted_points, predicted_trials
from flowsweep.schedule import expand
from plan_support import EXAMPLE_PLANS

LINK = 'rate = "100Mbit/s"\ndelay = "20ms"'
SWEEP = 'window = "64KiB"\ncongestion = "cubic"\nduration = "5s"'

UDP = 'test = "udp"\nduration = "3s"\nrate = "'
PAUSING = 'cross = { rate = "98Mbit/s", on = "5s", off = "5s" }'
NARROW_BACK = 'rate = "100Mbit/s", backward = { rate = "50Mbit/s" }'
CROSSED_BACK = f'rate = "100Mbit/s", delay = "20ms", backward = {{ {PAUSING.replace("5s", "1s", 1)} }}'


def plan(tmp_path: Path, link: str | None = LINK, sweep: str = SWEEP, more: str = "") -> Plan:
    lab = '[hosts.left]\naddress = "10.0.0.1"\n[hosts.right]\naddress = "10.0.0.2"\n'
    if link is not None:
        lab = f'[lab.links.wire]\nbetween = ["left", "right"]\n{link}\n'
    path = tmp_path / "plan.toml"
    path.write_text(
        f"""
[campaign]
name = "points"
{lab}
[[sweep]]
name = "s"
paths = [{{ from = "left", to = "right" }}]
{sweep}
{more}
""",
        encoding="utf-8",
    )
    return load_plan(path, {})


def test_a_window_over_a_lab_link(tmp_path: Path) -> None:
    [point] = predicted_points(plan(tmp_path))
    assert point.prediction is not None
    # 58 segments each 41.3 ms.
    assert point.prediction.goodput_bps == pytest.approx(58 * 1448 * 8 / 0.04132, rel=0.02)


def test_a_mean_that_slow_start_decides_is_beyond_what_was_compared(tmp_path: Path) -> None:
    """The link is full at the end of a second, of which slow start took half; of 60 s it takes nothing."""
    link = 'rate = "100Mbit/s"\ndelay = "50ms"\nqueue = "1250KB"'
    short, long = (
        predicted_points(
            plan(tmp_path, link, f'congestion = "cubic"\nduration = "{seconds}s"\ninterval = "100ms"')
        )[0]
        for seconds in (1, 60)
    )
    assert short.prediction is not None
    assert long.prediction is not None
    assert short.prediction.goodput_bps < 0.7 * long.prediction.goodput_bps
    assert (short.prediction.limit, short.prediction.was_compared) == ("path", False)
    assert (long.prediction.limit, long.prediction.was_compared) == ("path", True)


def test_both_directions_have_their_own_link(tmp_path: Path) -> None:
    link = 'rate = "100Mbit/s"\ndelay = "20ms"\n[lab.links.wire.backward]\nrate = "10Mbit/s"'
    there, back = predicted_points(plan(tmp_path, link, f'{SWEEP}\ndirections = "both"\nflows = 8'))
    assert there.prediction is not None
    assert back.prediction is not None
    assert there.prediction.goodput_bps > 80e6
    assert back.prediction.goodput_bps == pytest.approx(10e6 * 1448 / 1500, rel=0.01)


def test_cross_traffic_takes_its_part(tmp_path: Path) -> None:
    link = f'{LINK}\ncross = {{ rate = "40Mbit/s" }}'
    [point] = predicted_points(plan(tmp_path, link, 'duration = "30s"\nomit = "10s"\ncongestion = "cubic"'))
    assert point.prediction is not None
    assert point.prediction.goodput_bps == pytest.approx(60e6 * 1448 / 1500, rel=0.02)
    # 625 kB wait at most, of which 60 % are the flow's: they leave at the link's whole rate, in 50 ms.
    assert 0.04 < point.prediction.rtt_s <= 0.092


def test_datagrams_that_fit_beside_cross_traffic_arrive(tmp_path: Path) -> None:
    link = f'{LINK}\ncross = {{ rate = "60Mbit/s" }}'
    [point] = predicted_points(plan(tmp_path, link, f'{UDP}38Mbit/s"'))
    assert point.prediction is not None
    assert (point.prediction.goodput_bps, point.prediction.limit) == (38e6, "rate asked")


def test_a_probe_beside_a_trial_is_no_traffic_to_speak_of(tmp_path: Path) -> None:
    [point] = predicted_points(plan(tmp_path, LINK, f'{SWEEP}\nprobe = "rtt"'))
    assert point.prediction is not None


def test_groups_of_hosts_share_no_single_path(tmp_path: Path) -> None:
    path = tmp_path / "groups.toml"
    path.write_text(
        '[hosts.a]\n[hosts.b]\n[hosts.c]\n[groups]\nsources = ["a", "b"]\n[[sweep]]\nname = "s"\n'
        'paths = [{ from = "sources", to = "c" }]\nduration = "5s"\n',
        encoding="utf-8",
    )
    [point] = predicted_points(load_plan(path, {}), KnownPath(rate_bps=1e9, rtt_ns=80_000_000))
    assert point.why_not == "flows of several pairs of hosts share no single path"


def test_a_smaller_mss_leaves_more_to_headers(tmp_path: Path) -> None:
    sweep = 'duration = "30s"\nomit = "10s"\ncongestion = "cubic"\nmss = ["500B", "1460B"]'
    small, full = (point.prediction for point in predicted_points(plan(tmp_path, LINK, sweep)))
    assert small is not None
    assert full is not None
    assert small.goodput_bps / full.goodput_bps == pytest.approx((488 / 540) / (1448 / 1500), rel=0.01)


@pytest.mark.parametrize(
    ("link", "sweep", "more", "reason"),
    [
        ('delay = "20ms"', SWEEP, "", "the link has no rate"),
        (f'{LINK}\npolicer = {{ rate = "20Mbit/s", burst = "100KB" }}', SWEEP, "", "a policer"),
        (f'{LINK}\njitter = "2ms"\nreorder = true', SWEEP, "", "its delay varies"),
        ('members = [{ rate = "40Mbit/s" }, { rate = "20Mbit/s" }]', SWEEP, "", "side by side"),
        (LINK, SWEEP.replace("cubic", "vegas"), "", 'no model of congestion control "vegas"'),
        (LINK, f'{SWEEP}\ndirections = "simultaneous"', "", "both directions"),
        (LINK, SWEEP, '[[sweep.background]]\nname = "b"\nrate = "1Mbit/s"', "other traffic"),
        (LINK, 'test = "rtt"\nduration = "5s"', "", "measures no goodput"),
        (LINK, 'test = "udp"\nduration = "5s"', "", "without a rate"),
        (f'{LINK}\ncross = {{ rate = "60Mbit/s" }}', f'{UDP}100Mbit/s"', "", "sizes and moments"),
        (f'{LINK}\ncross = {{ rate = "60Mbit/s" }}', f'{UDP}42Mbit/s"', "", "sizes and moments"),
        (f"{LINK}\n{PAUSING}", f'{UDP}20Mbit/s"', "", "cross traffic pauses"),
        (f"{LINK}\n{PAUSING}", SWEEP, "", "cross traffic pauses"),
        (
            f'hops = [{{ rate = "50Mbit/s", delay = "20ms" }}, {{ rate = "100Mbit/s", {PAUSING} }}]',
            SWEEP,
            "",
            "cross traffic pauses",
        ),
        (f"hops = [{{ {CROSSED_BACK} }}, {{ {NARROW_BACK} }}]", SWEEP, "", "more than the way back carries"),
        (f"{LINK}\n[lab.links.wire.backward]\n{PAUSING}", SWEEP, "", "more than the way back carries"),
        (None, SWEEP, "", "the path is not known"),
        (f'{LINK}\n[lab.links.wire.backward]\nrate = "1Mbit/s"', SWEEP, "", "more than the way back carries"),
        (f'{LINK}\n[lab.links.wire.backward]\nloss = "5%"', SWEEP, "", "acknowledgements are lost"),
        (f'{LINK}\n[lab.links.wire.forward]\nloss = "5%"', SWEEP, "", "timeouts decide"),
        (f"{LINK}\nduplicate = 0.001", SWEEP, "", "arrive twice"),
        (LINK, SWEEP.replace("64KiB", "8KiB"), "", "segments is sent in bursts"),
        ('rate = "100Mbit/s"', SWEEP, "", "below 1 ms"),
        ('rate = "10Gbit/s"\ndelay = "50us"', 'duration = "5s"', "", "below 1 ms"),
        (LINK, SWEEP.replace("window =", "window_send =").replace("64KiB", "32KiB"), "", "send buffer"),
        (f'{LINK}\nmtu = "9000B"', SWEEP, "", "packets of 1500 bytes"),
        ('rate = "100Mbit/s"\ndelay = "1s"', SWEEP, "", "shorter than 10 round trips"),
        (LINK, 'test = "udp"\nrate = "9Mbit/s"\nlength = "8KB"\nduration = "5s"', "", "fragments"),
    ],
)
def test_where_there_is_no_model_it_is_said_why(
    tmp_path: Path, link: str | None, sweep: str, more: str, reason: str
) -> None:
    points = predicted_points(plan(tmp_path, link, sweep, more))
    assert all(point.prediction is None for point in points)
    assert all(reason in point.why_not for point in points), points[0].why_not


def test_a_path_between_real_hosts_is_as_it_is_described(tmp_path: Path) -> None:
    known = KnownPath(rate_bps=1e9, rtt_ns=80_000_000)
    [point] = predicted_points(plan(tmp_path, None), known)
    assert point.prediction is not None
    assert point.prediction.limit == "window"
    assert known.model().queue_bytes == 10e6


def test_datagrams_get_what_is_offered_or_what_the_link_carries(tmp_path: Path) -> None:
    sweep = 'test = "udp"\nrate = ["50Mbit/s", "200Mbit/s"]\nlength = "1472B"\nduration = "5s"'
    under, over = (point.prediction for point in predicted_points(plan(tmp_path, LINK, sweep)))
    assert under is not None
    assert over is not None
    assert (under.goodput_bps, under.limit) == (50e6, "rate asked")
    assert over.goodput_bps == pytest.approx(100e6 * 1472 / 1500)
    assert over.limit == "path"


COUNTING = 'rate = "10Mbit/s"\ndelay = "10ms"\nqueue_packets = 100'


def test_a_queue_of_packets_is_shorter_where_these_are_small(tmp_path: Path) -> None:
    """100 packets of 128 bytes wait for 10.24 ms, of 1500 bytes for 120 ms."""
    sweep = 'test = "udp"\nrate = "20Mbit/s"\nlength = ["100B", "1472B"]\nduration = "3s"'
    small, full = (point.prediction for point in predicted_points(plan(tmp_path, COUNTING, sweep)))
    assert small is not None
    assert full is not None
    assert small.rtt_s == pytest.approx(0.0303, abs=0.0001)
    assert full.rtt_s == pytest.approx(0.1412, abs=0.0001)


@pytest.mark.parametrize(
    ("sweep", "packet_bytes"),
    [('congestion = "cubic"\nmss = "536B"', 536 - 12 + 52), ('test = "quic"\ndatagram = "1200B"', 1228)],
)
def test_flows_of_small_packets_fill_such_a_queue_with_fewer_bytes(
    tmp_path: Path, sweep: str, packet_bytes: int
) -> None:
    for limits, queue_bytes in (
        (COUNTING, 100 * packet_bytes),
        (f'{COUNTING}\nqueue = "40KB"', 40_000),
        (COUNTING.replace("queue_packets = 100", 'queue = "40KB"'), 40_000),
    ):
        [point] = predicted_points(plan(tmp_path, limits, f'{sweep}\nduration = "20s"'))
        assert point.setting is not None
        assert (point.setting.path.queue_bytes, point.setting.path.packet_bytes) == (
            queue_bytes,
            packet_bytes,
        )


def hops(*written: str) -> str:
    return f"hops = [{', '.join(f'{{ {one} }}' for one in written)}]"


WIDE, NARROW = 'rate = "100Mbit/s", delay = "5ms"', 'rate = "10Mbit/s", delay = "5ms"'
LOSING = f"{WIDE}, loss = 0.005"


@pytest.mark.parametrize(
    ("link", "rate", "goodput_bps"),
    [
        (hops(WIDE, NARROW), "20Mbit/s", 10e6 * 1472 / 1500),
        (hops(NARROW, LOSING), "20Mbit/s", 9.95e6 * 1472 / 1500),
        (hops(LOSING, NARROW), "8Mbit/s", 7.96e6),
        # Of what is lost or dropped before the slowest hop it need drop no more.
        (hops(LOSING, NARROW), "12Mbit/s", None),
        (hops(WIDE, NARROW), "200Mbit/s", None),
        (hops(NARROW, WIDE), "200Mbit/s", 10e6 * 1472 / 1500),
    ],
)
def test_datagrams_lost_before_the_slowest_hop_do_not_overload_it(
    tmp_path: Path, link: str, rate: str, goodput_bps: float | None
) -> None:
    sweep = f'test = "udp"\nrate = "{rate}"\nlength = "1472B"\nduration = "5s"'
    [there] = predicted_points(plan(tmp_path, link, sweep))
    if goodput_bps is None:
        assert there.why_not == "datagrams overload the slowest hop, and some are lost on hops before it"
    else:
        assert there.prediction is not None
        assert there.prediction.goodput_bps == pytest.approx(goodput_bps)


def test_on_the_way_back_hops_come_in_the_other_order(tmp_path: Path) -> None:
    sweep = 'test = "udp"\nrate = "12Mbit/s"\nlength = "1472B"\nduration = "5s"\ndirections = "both"'
    there, back = predicted_points(plan(tmp_path, hops(LOSING, NARROW), sweep))
    assert there.prediction is None
    assert back.prediction is not None
    assert back.prediction.goodput_bps == pytest.approx(9.95e6 * 1472 / 1500)


def test_repeats_of_a_point_share_its_prediction(tmp_path: Path) -> None:
    loaded = plan(tmp_path)
    [point] = expand(loaded)
    trials = [trial for repeat in (1, 2, 3) for trial in point.trials(repeat)]
    found = predicted_trials({trial.trial_id: trial for trial in trials}, loaded.links)
    assert found.keys() == {trial.trial_id for trial in trials}
    assert len(set(found.values())) == 1


@pytest.mark.parametrize(
    ("of_parameters", "of_link"),
    [
        ({"duration_ns": 0}, {}),
        ({"omit_ns": 5_000_000_000}, {}),
        ({"mss_bytes": 12}, {}),
        ({"mss_bytes": -1}, {}),
        ({"rate_bps": -1}, {}),
        ({"flows": 0}, {}),
        ({"flows": 10**400}, {}),
        ({"mss_bytes": 10**400}, {"delay_ns": 10**400}),
        ({}, {"rate_bps": 0}),
        ({}, {"rate_bps": -5}),
        ({}, {"rate_bps": 10**400}),
        ({}, {"loss": 1.0}),
        ({}, {"loss": float("nan")}),
        ({}, {"delay_ns": -(10**9)}),
        ({}, {"queue_bytes": -1}),
    ],
)
def test_numbers_of_a_stranger_that_no_plan_can_have_are_not_predicted(
    tmp_path: Path, of_parameters: dict[str, object], of_link: dict[str, object]
) -> None:
    loaded = plan(tmp_path)
    [point] = expand(loaded)
    [trial] = point.trials(repeat=1)
    trial = trial.model_copy(update={"parameters": trial.parameters.model_copy(update=of_parameters)})
    [link] = loaded.links
    ways = {way: getattr(link, way).model_copy(update=of_link) for way in ("forward", "backward")}
    assert predicted_trials({"t": trial}, [link.model_copy(update=ways)]) == {}
    assert predicted_trials({"t": trial}, [link.model_copy(update={**ways, "mtu_bytes": 10**400})]) == {}


@pytest.mark.parametrize("window", [0, -1, 10**9, 10**300])
def test_windows_of_a_stranger_that_are_none_hold_nothing_back(tmp_path: Path, window: int) -> None:
    loaded = plan(tmp_path)
    [point] = expand(loaded)
    [trial] = point.trials(repeat=1)
    asked = {"window_send_bytes": window, "window_recv_bytes": window}
    trial = trial.model_copy(update={"parameters": trial.parameters.model_copy(update=asked)})
    assert predicted_trials({"t": trial}, loaded.links)["t"].goodput_bps > 80e6


QUIC = 'test = "quic"\nduration = "20s"\nomit = "5s"'


def test_quic_fills_a_path_but_for_its_headers(tmp_path: Path) -> None:
    [point] = predicted_points(plan(tmp_path, LINK, f"{QUIC}\nflows = 4"))
    assert point.prediction is not None
    assert point.prediction.limit == "path"
    assert point.prediction.goodput_bps == pytest.approx(100e6 * 1417 / 1480, rel=0.005)
    assert point.of_kernel is None, "ns-3 has no QUIC"


def test_nine_tenths_of_a_receive_window_of_quic_are_in_flight(tmp_path: Path) -> None:
    for window in ('window_recv = "128KiB"', 'window = "128KiB"', 'stream_window = "128KiB"'):
        [point] = predicted_points(plan(tmp_path, LINK, f"{QUIC}\n{window}"))
        assert point.prediction is not None
        assert point.prediction.limit == "window"
        assert point.prediction.goodput_bps == pytest.approx(0.9 * 131_072 * 8 / 0.04012, rel=0.02)


@pytest.mark.parametrize(
    ("sweep", "link", "why"),
    [
        ('congestion = "bbr"', "", 'there is no model of QUIC with congestion control "bbr"'),
        ("", "loss = 0.001", "over 0.01 % is lost at random, for which the model of QUIC is too rough"),
        ("", 'queue = "9KB"', "a queue of fewer than 16 packets holds no burst of QUIC"),
        (
            'window = "32KiB"',
            "",
            "which part of a window of QUIC below 64 KiB is in flight depends on the path",
        ),
        (
            'window_send = "128KiB"',
            "",
            "which part of a send window of QUIC is in flight depends on the path",
        ),
        ('datagram = "1490B"', "", "datagrams larger than the path's packets do not arrive"),
    ],
)
def test_what_the_model_says_nothing_of_quic_about(tmp_path: Path, sweep: str, link: str, why: str) -> None:
    [point] = predicted_points(plan(tmp_path, f"{LINK}\n{link}", f"{QUIC}\n{sweep}"))
    assert point.prediction is None
    assert point.why_not == why


FAR = 'rate = "1Gbit/s"\ndelay = "50ms"\nqueue = "12MB"'


@pytest.mark.parametrize(
    ("link", "sweep"),
    [
        (FAR, 'stream_window = "16MiB"'),
        (FAR, "streams_per_flow = 16"),
        (FAR, "streams_per_flow = 16\nflows = 4"),
        (LINK, 'streams_per_flow = 16\nwindow_send = "3MB"'),
    ],
)
def test_a_send_window_of_quic_that_is_the_smaller_one_has_no_model(
    tmp_path: Path, link: str, sweep: str
) -> None:
    """The library's own is 10 MB, and a stream's window 1.25 MB."""
    [point] = predicted_points(plan(tmp_path, link, f"{QUIC}\n{sweep}"))
    assert point.prediction is None
    assert point.why_not == "which part of a send window of QUIC is in flight depends on the path"


@pytest.mark.parametrize(
    "sweep", ["streams_per_flow = 16", 'stream_window = "16MiB"', "streams_per_flow = 16\nflows = 4"]
)
def test_a_send_window_of_quic_does_not_matter_where_a_third_of_it_fills_the_path(
    tmp_path: Path, sweep: str
) -> None:
    """Path and queue hold 1.1 MB."""
    for plain in ("streams_per_flow = 8", sweep):
        [point] = predicted_points(plan(tmp_path, LINK, f"{QUIC}\n{plain}"))
        assert point.prediction is not None, point.why_not
        assert point.prediction.goodput_bps == pytest.approx(100e6 * 1417 / 1480, rel=0.01)


@pytest.mark.parametrize("path", EXAMPLE_PLANS, ids=lambda path: path.stem)
def test_a_point_of_a_test_without_a_model_is_not_simulated(path: Path) -> None:
    loaded = load_plan(path, {})
    points = predicted_points(loaded, None if loaded.links else KnownPath(rate_bps=1e9, rtt_ns=80_000_000))
    simulated = {point.trial.test for point in points if point.of_kernel is not None}
    assert simulated <= {"tcp"}
