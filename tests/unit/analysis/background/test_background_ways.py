"""Whether background traffic goes along the way of a trial's own data, or the other way."""

from typing import Any

import pyarrow as pa
import pytest

from analysis_support import SECOND_NS, make_flows, make_parameters, make_record, make_samples, make_trial
from flowsweep.analysis.background.ways import OtherWays, background_ways, other_ways
from flowsweep.analysis.findings.topics import findings
from flowsweep.analysis.findings.verdict import drops_early
from flowsweep.analysis.verdict_words import limit_words
from flowsweep.analysis.verdicts import QUEUE
from flowsweep.archive import Tables, tables_of
from flowsweep.run.outcome import TrialOutcome
from flowsweep.run.tables import LINKS_SCHEMA
from flowsweep.schedule.trial import BackgroundTraffic
from report_support import make_row

LINK: dict[str, Any] = dict.fromkeys(LINKS_SCHEMA.names, 0) | {"link": "wan", "src": "a", "dst": "b"}
ALONG, APART, BACK = (True, False, False), (False, True, False), (False, True, True)


def tables_with(*pairs: tuple[str, str, str], emulated: bool) -> Tables:
    """Of a trial from a to b beside traffic between these: name, source, sink."""
    background = tuple(
        BackgroundTraffic(
            name=name, src=src, dst=dst, test="tcp", parameters=make_parameters(flows=1), start_ns=0
        )
        for name, src, dst in pairs
    )
    trial = make_trial(flows=1).model_copy(update={"background": background})
    flows = []
    for flow, (name, src, dst) in enumerate((("", "a", "b"), *pairs)):
        one = {"flow": flow, "background": name or None, "bytes": 1}
        flows += [one | {"role": "source", "host": src, "peer": dst}]
        flows += [one | {"role": "sink", "host": dst, "peer": src}]
    samples = [{"role": "sink", "flow": 0, "start_ns": 0, "end_ns": SECOND_NS, "bytes": 1}]
    outcome = TrialOutcome(
        make_record(trial),
        samples=make_samples(samples),
        flows=make_flows(flows),
        links=pa.Table.from_pylist([LINK] if emulated else [], schema=LINKS_SCHEMA),
    )
    return tables_of([outcome])


def ways(*pairs: tuple[str, str, str], emulated: bool) -> list[tuple[bool, bool, bool]]:
    tables = tables_with(*pairs, emulated=emulated)
    found = background_ways(tables.flows, tables.background_flows, tables.links).to_pyarrow().to_pylist()
    return [(row["beside_along"], row["beside_apart"], row["beside_back"]) for row in found]


@pytest.mark.parametrize("emulated", [True, False])
def test_the_same_two_hosts_tell_which_way_it_goes(*, emulated: bool) -> None:
    assert ways(("x", "a", "b"), emulated=emulated) == [ALONG]
    assert ways(("x", "b", "a"), emulated=emulated) == [BACK]
    assert ways(("x", "a", "b"), ("y", "b", "a"), emulated=emulated) == [(False, False, True)]
    assert ways(emulated=emulated) == ways(("probe", "b", "a"), emulated=emulated) == []


@pytest.mark.parametrize("pair", [("a", "c"), ("c", "b"), ("c", "d"), ("b", "c")])
def test_an_emulated_link_carries_nothing_of_others_and_of_another_path_nobody_knows(
    pair: tuple[str, str],
) -> None:
    assert ways(("x", *pair), emulated=True) == [APART]
    assert ways(("x", *pair), emulated=False) == [(False, False, False)]
    assert ways(("x", "a", "b"), ("y", *pair), emulated=True) == [(False, False, False)]


def test_trials_beside_traffic_of_other_ways_are_named() -> None:
    back, along, elsewhere = (
        tables_with(("x", *pair), emulated=False) for pair in (("b", "a"), ("a", "b"), ("c", "d"))
    )
    (trial,) = back.trials.trial_id.to_pyarrow().to_pylist()
    assert other_ways(back) == OtherWays(frozenset([trial]), frozenset([trial]))
    assert other_ways(along) == OtherWays()
    (trial,) = elsewhere.trials.trial_id.to_pyarrow().to_pylist()
    assert other_ways(elsewhere) == OtherWays(frozenset([trial]))


def test_findings_compare_with_equal_shares_only_what_goes_the_same_way() -> None:
    def claims(*pair: str) -> dict[str, str]:
        tables = tables_with(("x", pair[0], pair[1]), emulated=False)
        (trial,) = tables.trials.trial_id.to_pyarrow().to_pylist()
        row = make_row(
            trial_id=trial,
            src="a",
            dst="b",
            flows=1,
            flows_per_pair=1,
            share=0.5,
            flows_beside=1,
            jain_flows=1.0,
            background=["x"],
            subflows_used=None,
        )
        return {finding.kind: finding.claim for finding in findings([row], tables=tables)}

    along, back = claims("a", "b"), claims("b", "a")
    assert "of the goodput that it shares with x" in along["share"]
    assert "of the goodput of all traffic, that of x included" in back["share"]
    assert ("fairness" in along, "fairness" in back) == (True, False)


def test_what_may_go_the_other_way_fills_no_link_in_words() -> None:
    row: Any = {
        "verdict": QUEUE, "limit_cwnd_share": 0.1, "link_payload_bps": 95e6, "goodput_bps": 48e6,
        "share": 0.5, "rtt_min_ms": 20.0, "rtt_median_ms": 80.0, "background": ["x"],
    }  # fmt: skip
    assert limit_words(row)[1].startswith("The path carried no more (a queue made round trips 60 ms longer")
    full = row | {"goodput_bps": 94e6}
    assert limit_words(full)[1].startswith("The path carried no more (it was full, at the 95")


def test_an_own_queue_that_acknowledgements_of_others_keep_filled_does_not_drop_early() -> None:
    row: Any = {
        "link_payload_bps": 7.7e6, "goodput_bps": 6.2e6, "share": 0.95, "background": ["x"],
        "link_queue_drops": 8, "link_queued_share": 1.0,
    }  # fmt: skip
    assert not drops_early(row)
    assert drops_early(row | {"link_queued_share": 0.3})
