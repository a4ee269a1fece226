"""Counters of a host are of all its traffic: what ran beside a trial may be what they tell of."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

from analysis_support import make_trial
from datagram_support import Stream, make_udp_outcome, make_udp_trial
from flowsweep.run.outcome import TrialOutcome
from flowsweep.run.tables import LINKS_SCHEMA
from flowsweep.schedule import Trial
from flowsweep.schedule.trial import BackgroundTraffic
from quic_support import make_quic_trial
from rtt_support import make_rtt_trial
from summary_support import summed

Row = dict[str, Any]
MILLISECOND_NS = 1_000_000
MAKE_TRIAL: dict[str, Callable[[], Trial]] = {
    "tcp": make_trial, "udp": make_udp_trial, "quic": make_quic_trial, "rtt": make_rtt_trial
}  # fmt: skip
LOST = 40
"""Of 1000 datagrams a second, for 5 s."""


def beside(repeat: int, test: str, src: str, dst: str, stream: Stream, **more: Any) -> TrialOutcome:
    """A trial from a to b, and traffic of a test beside it."""
    name = "probe" if test == "rtt" else "cross"
    parameters = MAKE_TRIAL[test]().parameters
    background = BackgroundTraffic(
        name=name, src=src, dst=dst, test=parameters.test, parameters=parameters, start_ns=0
    )
    trial = make_udp_trial(gso=False, repeat=repeat, rate_bps=more.pop("rate_bps", 8_000_000))
    return make_udp_outcome(trial.model_copy(update={"background": (background,)}), [stream], **more)


def over_a_link(outcome: TrialOutcome) -> TrialOutcome:
    """Over an emulated link whose queue dropped something in each 0.1 s."""
    nothing = dict.fromkeys(LINKS_SCHEMA.names[5:], 0)
    rows = [
        {"link": "wire", "src": "a", "dst": "b", "at_ns": at * 100 * MILLISECOND_NS, "at_unix_ns": at}
        | nothing
        | {"bytes_in": at * 100_000, "dropped_queue_packets": at}
        for at in range(50)
    ]
    return replace(outcome, links=pa.Table.from_pylist(rows, schema=LINKS_SCHEMA))


@pytest.fixture(scope="module")
def rows() -> dict[str, Row]:
    lost, whole = Stream(lost=LOST), Stream()
    full = Stream(lost=LOST, socket_dropped=5 * LOST)
    errors = {"send_errors": 100_000}
    outcomes = {
        "datagrams": beside(1, "udp", "a", "b", lost, **errors),
        "datagrams elsewhere": beside(2, "udp", "a", "c", lost, **errors),
        "datagrams back": beside(3, "udp", "b", "a", lost, **errors),
        "quic back": beside(4, "quic", "b", "a", lost, **errors),
        "tcp": beside(5, "tcp", "a", "b", lost, **errors),
        "probe": beside(6, "rtt", "a", "b", lost, **errors),
        "datagrams, no errors": beside(7, "udp", "a", "b", lost, send_errors=0),
        "datagrams, late": beside(8, "udp", "a", "b", whole, rate_bps=40_000_000, **errors),
        "datagrams, refused": beside(
            9, "udp", "a", "b", Stream(refused=9_000), rate_bps=40_000_000, **errors
        ),
        "kernel": beside(10, "tcp", "a", "b", lost, softnet_dropped=90_000, send_errors=0),
        "kernel or link": over_a_link(
            beside(11, "tcp", "a", "b", lost, softnet_dropped=90_000, send_errors=0)
        ),
        "kernel or link, a probe": over_a_link(
            beside(12, "rtt", "a", "b", lost, softnet_dropped=90_000, send_errors=0)
        ),
        "own sockets": over_a_link(beside(13, "tcp", "a", "b", full, send_errors=0)),
    }  # fmt: skip
    return dict(zip(outcomes, summed(*outcomes.values()), strict=True))


@pytest.mark.parametrize(
    ("name", "at_sender", "verdict"),
    [
        ("datagrams", None, "not clear"),
        ("datagrams elsewhere", None, "not clear"),
        ("datagrams back", LOST / 1000, "host drops"),
        ("quic back", None, "not clear"),
        ("tcp", LOST / 1000, "host drops"),
        ("probe", LOST / 1000, "host drops"),
        ("datagrams, no errors", 0.0, "path loss"),
    ],
)
def test_errors_of_other_datagrams_are_not_the_trials_drops(
    rows: dict[str, Row], name: str, at_sender: float | None, verdict: str
) -> None:
    row = rows[name]
    on_path = None if at_sender is None else LOST / 1000 - at_sender
    assert (row["loss_at_sender"], row["loss_on_path"]) == (pytest.approx(at_sender), pytest.approx(on_path))
    assert row["verdict"] == verdict


def test_a_source_that_was_refused_nothing_was_not_held_back_by_errors_of_others(
    rows: dict[str, Row],
) -> None:
    assert rows["datagrams, late"]["verdict"] == "not clear"
    assert rows["datagrams, refused"]["verdict"] == "send window"


@pytest.mark.parametrize(
    ("name", "verdict"),
    [
        ("kernel", "host drops"),
        ("kernel or link", "not clear"),
        ("kernel or link, a probe", "host drops"),
        ("own sockets", "host drops"),
    ],
)
def test_drops_before_sockets_may_be_of_other_traffic_where_a_link_dropped_too(
    rows: dict[str, Row], name: str, verdict: str
) -> None:
    assert rows[name]["loss_at_hosts"] == pytest.approx(LOST / 1000)
    assert rows[name]["verdict"] == verdict
