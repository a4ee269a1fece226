"""What a trial of a search carried: what arrived, which is no more than the link carries."""

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa
import pytest

from flowsweep.tuning.measured import arrived_bps, tried_of
from flowsweep.tuning.plans import sweep_name
from flowsweep.tuning.rounds import Round, Timing
from flowsweep.tuning.settings import TODAY, Way

if TYPE_CHECKING:
    from flowsweep.analysis.summarising.trial_row import TrialRow
    from flowsweep.run.outcome import TrialOutcome

MILLISECOND_NS, SECOND_NS = 1_000_000, 1_000_000_000
LINK_BPS, MSS_BYTES = 96_528_000, 1448
LASTS = Timing(2 * SECOND_NS, SECOND_NS, SECOND_NS // 6, 25 * MILLISECOND_NS)


def samples(flows: int = 1, **values: Any) -> pa.Table:
    """A link that is full all the time; until 1.2 s 0.25 s of it waits behind a lost packet."""
    rows = []
    for flow in range(flows):
        for end_ns in range(25 * MILLISECOND_NS, 5 * SECOND_NS // 2, 25 * MILLISECOND_NS):
            arrived = LINK_BPS // flows * end_ns // SECOND_NS // 8 // MSS_BYTES
            waiting = LINK_BPS // flows // 32 // MSS_BYTES if end_ns < 6 * SECOND_NS // 5 else 0
            kernel = {
                "bytes_acked": (arrived - waiting) * MSS_BYTES, "sacked": waiting, "snd_mss_bytes": MSS_BYTES,
            }  # fmt: skip
            times = {"flow": flow, "start_ns": end_ns - 25 * MILLISECOND_NS, "end_ns": end_ns}
            rows += [times | {"role": "source"} | kernel | values]
            rows += [times | {"role": "sink"} | dict.fromkeys(kernel, 10**9)]
    return pa.Table.from_pylist(rows)


@pytest.mark.parametrize("flows", [1, 3])
def test_what_waited_behind_a_lost_packet_had_arrived(flows: int) -> None:
    found = arrived_bps(samples(flows), LASTS)
    assert found == pytest.approx(LINK_BPS, rel=1e-3)
    acknowledged = samples(flows, sacked=0)
    assert arrived_bps(acknowledged, LASTS) == pytest.approx(1.25 * LINK_BPS, rel=0.01), "what was read"


def test_a_kernel_that_does_not_say_it_and_too_few_samples_tell_nothing() -> None:
    assert arrived_bps(samples(bytes_acked=None), LASTS) is None
    assert arrived_bps(samples().slice(0, 0), LASTS) is None
    at_its_end = Timing(2 * SECOND_NS, 2 * SECOND_NS - MILLISECOND_NS, SECOND_NS, MILLISECOND_NS)
    assert arrived_bps(samples(), at_its_end) is None


def test_a_trial_of_which_nothing_arrived_has_no_other_mean() -> None:
    """What its application reads may have waited behind a loss of the part that does not count."""
    trial = SimpleNamespace(sweep=sweep_name(Way.out, TODAY), repeat=1)
    record = SimpleNamespace(trial=trial, trial_id="a")
    outcome = SimpleNamespace(record=record, samples=samples(bytes_acked=1448, sacked=0, rtt_us=20_000))
    row = cast("TrialRow", {"status": "ok", "goodput_mean_bps": 5e6})
    asked = Round("finals", {Way.out: (TODAY,)}, 1, LASTS)
    (found,) = tried_of(asked, [cast("TrialOutcome", outcome)], {"a": row})
    assert found.goodput_bps == 0
