"""What a source was asked to send is its rate for as long as it sent: to a summary, and to a search."""

from dataclasses import replace

import pyarrow as pa
import pytest

from datagram_support import Stream, make_udp_outcome, make_udp_trial
from flowsweep.defaults import SECOND_NS
from flowsweep.plan.searching.model import RateSearch
from flowsweep.run.outcome import TrialOutcome
from flowsweep.run.results import carried
from flowsweep.run.tables import FLOWS_SCHEMA
from summary_support import summed

MBPS = 1_000_000
SENT_S = 5
"""In about one of them the source had not heard yet that its flows ran."""
ASKED_S = 4 + make_udp_trial().pad_ns / SECOND_NS


def outcome(sent: int, *, end_s: float, server: bool = False, omit_s: int = 0) -> TrialOutcome:
    """A step of a search for a rate of 8 Mbit/s, with so many datagrams in each of five seconds."""
    trial = make_udp_trial(rate_sum_bps=8 * MBPS, omit_ns=omit_s * SECOND_NS)
    search = RateSearch(low_bps=MBPS, high_bps=9 * MBPS, resolution_bps=MBPS, loss_max=0.01)
    trial = trial.model_copy(update={"search": search})
    whole = make_udp_outcome(trial, [Stream(sent=sent)])
    told = {"end_ns": round(end_s * SECOND_NS), "first_byte_ns": None if server else 0}
    rows = [row | (told if row["role"] == "source" else {}) for row in whole.flows.to_pylist()]
    flows = pa.Table.from_pylist(rows, schema=FLOWS_SCHEMA)
    record = whole.record.model_copy(update={"carried": carried(trial, flows)})
    return replace(whole, record=record, flows=flows)


CASES = {
    "at its rate": (outcome(1000, end_s=SENT_S), 1.0),
    "far below it": (outcome(800, end_s=SENT_S), 0.8),
    "just enough": (outcome(950, end_s=SENT_S), 0.95),
    "a server": (outcome(800, end_s=SENT_S, server=True), 0.8),
    "a server without what it omits": (outcome(800, end_s=SENT_S - 1, server=True, omit_s=1), 0.8),
    "an end that omits counts it": (outcome(800, end_s=SENT_S, omit_s=1), 0.8),
    "a server that tells no time": (outcome(800, end_s=0, server=True), 0.8 * SENT_S / ASKED_S),
}


@pytest.mark.parametrize("name", CASES)
def test_what_was_sent_is_held_against_all_the_time_in_which_it_was(name: str) -> None:
    told, share = CASES[name]
    [row] = summed(told)
    assert row["offered_share"] == pytest.approx(share)
    assert told.record.carried is (share >= 0.95)
