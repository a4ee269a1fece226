"""What flows delivered, from counts of the kernel's that begin again at 0."""

import ibis

from flowsweep.analysis.tests.tcp.loss_samples import loss_samples

MSS = 1448


def test_a_count_that_is_full_goes_on_from_there() -> None:
    told = {0: [1 << 31, (1 << 32) - 2, 8, 18, 7], 1: [10, 20, 30, 40, 50]}
    samples = [
        {"trial_id": "t", "role": "source", "flow": flow, "start_ns": at, "end_ns": at + 1,
         "snd_mss_bytes": MSS, "delivered": count, "total_retrans": 0}
        for flow, counts in told.items()
        for at, count in enumerate(counts)
    ]  # fmt: skip
    trials = [{"trial_id": "t", "omit_ns": 0, "duration_ns": 9}]
    starts = [{"trial_id": "t", "role": "source", "flow": flow, "origin_ns": 0, "at_ns": 0} for flow in told]
    rows = loss_samples(*map(ibis.memtable, (samples, trials, starts)), ["t"]).to_pyarrow().to_pylist()
    found = {flow: [row["delivered_bytes"] // MSS for row in rows if row["flow"] == flow] for flow in told}
    whole = 1 << 32
    assert found == {0: [whole // 2, whole - 2, whole + 8, whole + 18, 2 * whole + 7], 1: told[1]}
