"""Datagrams that never left their source are told from those that the path lost, and what decided is said."""

from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

from analysis_support import make_flows, make_parameters, make_samples
from datagram_support import Stream, make_udp_outcome, make_udp_trial
from flowsweep.analysis.statistics.observations import DIRECTION, Observations
from flowsweep.analysis.tests.udp.loss import loss_hypotheses
from flowsweep.analysis.verdict_words import limit_words
from flowsweep.analysis.verdicts import VERDICTS
from flowsweep.archive.parquet import NEEDED_FIELDS
from flowsweep.defaults import SECOND_NS
from flowsweep.run.outcome import TrialOutcome
from flowsweep.schedule.trial import BackgroundTraffic
from summary_support import summed

Row = dict[str, Any]
MBPS = 1e6


def outcome(*streams: Stream, errors: int = 0, **parameters: Any) -> TrialOutcome:
    """A trial whose source's host counted so many errors of sending."""
    return make_udp_outcome(make_udp_trial(flows=len(streams), **parameters), streams, send_errors=errors)


def watched(*, at_source: bool, repeat: int) -> TrialOutcome:
    """A trial in which no counter rose; the engine of a server does not watch its host."""
    whole = make_udp_outcome(make_udp_trial(flows=1, repeat=repeat), [Stream(lost=50)])
    ends = [("b", "sink"), *([("a", "source")] if at_source else [])]
    cores = [
        {"host": host, "peer": "", "role": role, "start_ns": 0, "end_ns": SECOND_NS, "kind": "core", "id": 0,
         "busy_us": 1, "idle_us": 1, "softirq_us": 0, "steal_us": 0}
        for host, role in ends
    ]  # fmt: skip
    return replace(whole, cpu=pa.Table.from_pylist(cores, schema=pa.schema(NEEDED_FIELDS["cpu"])))


def beside(test: str, src: str, *, errors: int, repeat: int) -> TrialOutcome:
    """A trial that loses 600 datagrams a second, beside a flow of background traffic from this host."""
    whole = outcome(Stream(lost=600), errors=errors, gso=False, repeat=repeat)
    dst = "b" if src == "a" else "a"
    traffic = BackgroundTraffic(
        name="cross", src=src, dst=dst, test="tcp", parameters=make_parameters(flows=1), start_ns=0
    )
    trial = whole.record.trial.model_copy(update={"background": (traffic,)})
    flow = {"flow": 1, "background": "cross", "bytes": 1000}
    ends = make_flows(
        [
            flow | {"role": "source", "host": src, "peer": dst},
            flow | {"role": "sink", "host": dst, "peer": src},
        ]
    )
    sample = {"role": "source", "flow": 1, "start_ns": 0, "end_ns": SECOND_NS, "bytes": 1000}
    told = make_samples([sample])
    told = told.append_column("state", pa.array([1 if test == "tcp" else None], pa.int64()))
    return replace(
        whole,
        record=whole.record.model_copy(update={"trial": trial}),
        flows=pa.concat_tables([whole.flows, ends]),
        samples=pa.concat_tables([whole.samples, told], promote_options="default"),
    )


@pytest.fixture(scope="module")
def rows() -> dict[str, Row]:
    outcomes = {
        # 16 Mbit/s asked for and sent; of 5000 datagrams 3000 are lost.
        "own device drops": outcome(Stream(lost=600), errors=2_700, gso=False, repeat=1),
        "the path drops": outcome(Stream(lost=600), errors=0, gso=False, repeat=2),
        "either": outcome(Stream(lost=600), errors=1_500, gso=False, repeat=3),
        "pieces": outcome(Stream(lost=600), errors=40, gso=True, repeat=4),
        # Of 500 lost 160 at the sink and 160 at the source, then 170 and 170; at last a fifth at each.
        "both ends": outcome(Stream(lost=100, socket_dropped=160), errors=160, gso=False, repeat=12),
        "both ends, most": outcome(Stream(lost=100, socket_dropped=170), errors=170, gso=False, repeat=13),
        "both ends, some": outcome(Stream(lost=100, socket_dropped=100), errors=100, gso=False, repeat=14),
        "both ends, few": outcome(Stream(lost=100, socket_dropped=80), errors=80, gso=False, repeat=15),
        # Refused, tried again and sent: 16 Mbit/s all the same.
        "refused for a while": outcome(Stream(lost=50, refused=400), errors=3_000, gso=False, repeat=8),
        "nobody says": outcome(Stream(lost=50, refused=None), errors=3_000, gso=False, repeat=9),
        "nobody says, nothing lost": outcome(Stream(refused=None), errors=3_000, gso=False, repeat=10),
        "nobody says, no errors": outcome(Stream(lost=50, refused=None), gso=False, repeat=11),
        # 40 Mbit/s asked for, 8 Mbit/s sent: the socket's buffer was full of what the device had not sent.
        "refused": outcome(Stream(), errors=9_000, rate_bps=40_000_000, repeat=5),
        "refused and lost": outcome(Stream(lost=100), errors=9_000, rate_bps=40_000_000, repeat=6),
        "late without a reason": outcome(Stream(), rate_bps=40_000_000, repeat=7),
        "only the sink is watched": watched(at_source=False, repeat=16),
        "both are watched": watched(at_source=True, repeat=17),
        "datagrams beside from its source": beside("udp", "a", errors=2_700, repeat=18),
        "datagrams beside from its source, no errors": beside("udp", "a", errors=0, repeat=19),
        "datagrams beside from its sink": beside("udp", "b", errors=2_700, repeat=20),
        "TCP beside from its source": beside("tcp", "a", errors=2_700, repeat=21),
    }
    return dict(zip(outcomes, summed(*outcomes.values()), strict=True))


@pytest.mark.parametrize(
    ("name", "verdict"),
    [
        ("own device drops", "host drops"),
        ("the path drops", "path loss"),
        ("either", "not clear"),
        ("pieces", "not clear"),
        ("both ends", "not clear"),
        ("both ends, most", "host drops"),
        ("both ends, some", "not clear"),
        ("both ends, few", "path loss"),
        ("refused for a while", "not clear"),
        ("nobody says", "not clear"),
        ("nobody says, nothing lost", "application rate"),
        ("nobody says, no errors", "path loss"),
        ("refused", "send window"),
        ("refused and lost", "not clear"),
        ("late without a reason", "not clear"),
        ("datagrams beside from its source", "not clear"),
        ("datagrams beside from its source, no errors", "path loss"),
        ("datagrams beside from its sink", "host drops"),
        ("TCP beside from its source", "host drops"),
    ],
)
def test_the_place_of_loss_decides(rows: dict[str, Row], name: str, verdict: str) -> None:
    assert rows[name]["verdict"] == verdict
    assert verdict in {*VERDICTS, None}


def test_what_never_left_the_source_is_no_loss_of_the_path(rows: dict[str, Row]) -> None:
    row = rows["own device drops"]
    assert (row["lost"], row["loss_at_sender"], row["loss_on_path"]) == (
        3000, pytest.approx(2_700 / 5000), pytest.approx(300 / 5000)
    )  # fmt: skip
    assert (rows["the path drops"]["loss_at_sender"], rows["the path drops"]["loss_on_path"]) == (0.0, 0.6)
    unknown = rows["refused and lost"]
    assert (unknown["loss_at_sender"], unknown["loss_on_path"]) == (None, None)


def test_of_errors_that_may_be_of_others_no_drops_are_known(rows: dict[str, Row]) -> None:
    row = rows["datagrams beside from its source"]
    assert (row["loss_at_sender"], row["loss_on_path"]) == (None, None)


def test_of_a_source_that_nobody_watched_no_drops_are_known(rows: dict[str, Row]) -> None:
    names = ("send_errors", "loss_at_sender", "loss_on_path", "host_dropped_packets")
    assert [rows["only the sink is watched"][name] for name in names] == [None, None, 0.05, 0]
    assert [rows["both are watched"][name] for name in names] == [0, 0.0, 0.05, 0]


def test_drops_of_both_ends_are_no_more_than_what_was_lost(rows: dict[str, Row]) -> None:
    row = rows["both ends, most"]
    assert [row[name] for name in ("loss", "loss_at_hosts", "loss_at_sender", "loss_on_path")] == [
        pytest.approx(lost / 5000) for lost in (500, 170, 170, 160)
    ]
    assert limit_words(row) == ("host drops", "Hosts dropped most of what was missing.")


def test_a_datagram_that_was_refused_and_sent_later_is_no_drop_of_the_sender(rows: dict[str, Row]) -> None:
    def places(name: str) -> tuple[float | None, float | None]:
        return rows[name]["loss_at_sender"], rows[name]["loss_on_path"]

    assert places("refused for a while") == (None, None)
    assert places("nobody says") == (None, None)
    assert places("nobody says, nothing lost") == (0.0, 0.0)
    assert places("nobody says, no errors") == (0.0, 0.05)


def test_a_source_that_was_refused_did_not_offer_its_rate(rows: dict[str, Row]) -> None:
    assert rows["refused"]["offered_share"] == pytest.approx(0.2)
    assert rows["the path drops"]["offered_share"] == pytest.approx(1.0)


def said(*trials: tuple[float, float, Row]) -> str:
    """What is said of trials: rate (Mbit/s), loss, and more."""
    rows = tuple(
        {"trial_id": str(number), "status": "ok", DIRECTION: "a → b", "rate_sum_bps": rate * MBPS,
         "loss": loss, "datagrams_sent": 100_000} | more
        for number, (rate, loss, more) in enumerate(trials)
    )  # fmt: skip
    [hypothesis] = loss_hypotheses(Observations("s", None, rows, ()))
    return hypothesis.say("described")


def test_what_the_worst_trial_lost_is_said_since_it_decides() -> None:
    worst = [(50, 0.0, {}), (50, 0.0, {}), (50, 0.004, {}), (60, 0.2, {})]
    assert said(*worst) == (
        "a → b: already at 50.0 Mbit/s up to 0.400 % of the datagrams are lost (median of 3 trials 0 %), the "
        "lowest rate that was offered."
    )


def test_a_rate_that_was_not_offered_was_not_carried() -> None:
    held = [(40, 0.0, {"offered_share": 1.0}), (130, 0.0, {"offered_share": 0.393})]
    assert said(*held) == (
        "a → b: up to 40.0 Mbit/s, the highest rate that was offered, no trial loses more than 0.100 %; in 1 "
        "trial at 130 Mbit/s the source sent less than it was asked to, 39.3 % at least."
    )


def test_losses_of_the_source_are_said_to_be_its_own() -> None:
    own = [(40, 0.0, {}), (130, 0.618, {"loss_at_sender": 0.547})]
    assert said(*own).endswith(
        "at 130 Mbit/s 61.8 % of the datagrams are lost, most of them before they left the source."
    )


def test_few_datagrams_cannot_show_little_loss() -> None:
    few = [(1, 0.0, {"datagrams_sent": 300}), (2, 0.0, {"datagrams_sent": 300})]
    assert "(trials of 300 datagrams cannot show less than 1.00 %)" in said(*few)
