"""The mark of trials over emulated paths, from counters with a known answer."""

import ibis
import pyarrow as pa
import pytest

from flowsweep.analysis.path_emulation import path_emulation
from flowsweep.run.tables import LINKS_SCHEMA

SCHEMA = pa.schema([*LINKS_SCHEMA, pa.field("trial_id", pa.string())])
NOTHING = dict.fromkeys(LINKS_SCHEMA.names[5:], 0)


def judged(**counted: int) -> dict[str, str]:
    """Both directions count this, from counters that stood at 500 already."""
    rows = [
        {"trial_id": "t", "link": "l", "src": src, "dst": dst, "at_ns": at, "at_unix_ns": at}
        | {name: 500 + at * counted.get(name, 0) for name in NOTHING}
        for src, dst in (("a", "b"), ("b", "a"))
        for at in (0, 1)
    ]
    links = ibis.memtable(pa.Table.from_pylist(rows, schema=SCHEMA))
    (row,) = path_emulation(links).to_pyarrow().to_pylist()
    assert row["trial_id"] == "t"
    return row["path_emulation"]


@pytest.mark.parametrize(
    ("counted", "mark"),
    [
        ({"packets_out": 10_000}, "kept up"),
        ({"packets_out": 10_000, "dropped_queue_packets": 400, "dropped_loss_packets": 9}, "kept up"),
        ({"packets_out": 10_000, "late_packets": 100}, "kept up"),
        ({"packets_out": 10_000, "late_packets": 101}, "late"),
        ({"packets_out": 10_000, "late_packets": 101, "device_dropped_packets": 1}, "overloaded"),
        ({"packets_out": 10_000, "dropped_overload_packets": 1}, "overloaded"),
        ({}, "kept up"),
    ],
)
def test_a_trial_is_marked_by_what_the_machine_could_not_do(counted: dict[str, int], mark: str) -> None:
    assert judged(**counted) == mark


def test_a_trial_over_real_paths_has_no_mark() -> None:
    none = ibis.memtable(SCHEMA.empty_table())
    assert path_emulation(none).to_pyarrow().num_rows == 0
