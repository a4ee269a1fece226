"""Drops of emulated links, by cause, from counters with a known answer."""

from typing import Any

import ibis
import pyarrow as pa
import pytest

from flowsweep.analysis.tests.tcp.link_drops import link_drops
from flowsweep.run.tables import LINKS_SCHEMA

SECOND = 10**9
ROW = 10**8
SCHEMA = pa.schema([*LINKS_SCHEMA, pa.field("trial_id", pa.string())])
NOTHING = dict.fromkeys(LINKS_SCHEMA.names[5:], 0)
TRIAL: dict[str, Any] = {"trial_id": "t", "omit_ns": SECOND, "duration_ns": 3 * SECOND, "background": []}
TRIALS = pa.schema(
    [("trial_id", pa.string()), ("omit_ns", pa.int64()), ("duration_ns", pa.int64()),
     ("background", pa.list_(pa.string()))]
)  # fmt: skip

OTHERS = pa.schema([(name, pa.string()) for name in ("trial_id", "role", "host", "background")])


def way(link: str, src: str, dst: str, **dropped: tuple[int, ...]) -> list[dict[str, Any]]:
    """Five seconds of a direction that carries data from 0.1 s on; drops in the rows of these numbers."""
    return [
        {**NOTHING, "trial_id": "t", "link": link, "src": src, "dst": dst, "at_ns": at * ROW,
         "at_unix_ns": at * ROW, "bytes_in": 20_000 * at}
        | {f"dropped_{cause}_packets": sum(at >= row for row in rows) for cause, rows in dropped.items()}
        for at in range(50)
    ]  # fmt: skip


def counted(
    rows: list[dict[str, Any]], source: str = "left", schema: pa.Schema = SCHEMA
) -> list[tuple[int | None, ...]]:
    """Drops at a queue, at random, by a policer."""
    names = ("link_queue_drops", "link_random_drops", "link_policer_drops")
    return [tuple(row[name] for name in names) for row in found(rows, source, schema)]


def shares(rows: list[dict[str, Any]], source: str = "left") -> list[float | None]:
    """Of the time in which a queue held data."""
    return [row["link_queued_share"] for row in found(rows, source, SCHEMA)]


def found(
    rows: list[dict[str, Any]],
    source: str,
    schema: pa.Schema,
    background: tuple[str, ...] = (),
    others: tuple[tuple[str, str], ...] = (),
) -> list[dict[str, Any]]:
    """What links counted, of each trial."""
    flows = pa.Table.from_pylist([{"trial_id": "t", "role": "source", "host": source}])
    of_background = [
        {"trial_id": "t", "role": "source", "host": host, "background": name} for host, name in others
    ]
    links = link_drops(
        ibis.memtable(pa.Table.from_pylist(rows, schema=schema)),
        ibis.memtable(pa.Table.from_pylist([TRIAL | {"background": background}], schema=TRIALS)),
        ibis.memtable(flows),
        ibis.memtable(pa.Table.from_pylist(of_background, schema=OTHERS)),
    )
    return links.to_pyarrow().to_pylist()


def test_moments_of_each_cause_count_after_omit_and_up_to_the_end() -> None:
    # The data began in row 1: rows 12 to 31 count.
    rows = way("wan", "left", "right", queue=(5, 11, 12, 12, 31, 32), loss=(20,), policer=(13, 14, 40))
    assert counted(rows) == [(2, 1, 2)]


def test_the_other_direction_does_not_count() -> None:
    rows = way("wan", "left", "right", queue=(20,)) + way("wan", "right", "left", loss=(20, 21))
    assert counted(rows) == [(1, 0, 0)]
    assert counted(rows, "right") == [(0, 2, 0)]
    assert counted(rows, "elsewhere") == []


@pytest.mark.parametrize("member", ["", "/1"])
def test_every_hop_counts_in_the_direction_of_the_data(member: str) -> None:
    rows = [
        *way("wan:1", "left", "wan:1"), *way("wan:1", "wan:1", "left", policer=(15, 16, 17)),
        *way(f"wan:2{member}", "wan:1", "wan:2", policer=(20, 21)),
        *way(f"wan:2{member}", "wan:2", "wan:1", queue=(20,)),
        *way("wan:3", "wan:2", "right", loss=(25,)), *way("wan:3", "right", "wan:2", loss=(22, 23)),
        *way("wan2:1", "wan2:1", "third", queue=(20,)), *way("left", "third", "fourth", queue=(20,)),
    ]  # fmt: skip
    assert counted(rows) == [(0, 1, 2)]
    assert counted(rows, "right") == [(1, 2, 3)]


def test_paths_side_by_side_count_together_and_hosts_may_be_called_like_links() -> None:
    rows = way("right/1", "left", "right", queue=(20,)) + way("right/2", "left", "right", queue=(20, 22))
    rows += way("right/1", "right", "left", loss=(20,))
    assert counted(rows) == [(3, 0, 0)]
    assert counted(rows, "right") == [(0, 1, 0)]


def test_the_share_of_the_time_that_data_waited_is_that_of_the_link_that_held_them_most() -> None:
    def waited(name: str, src: str, dst: str, rows: range) -> list[dict[str, Any]]:
        return [row | {"queue_bytes": 1500 * (row["at_ns"] // ROW in rows)} for row in way(name, src, dst)]

    hops = waited("wan:1", "left", "wan:1", range(12, 17)) + waited("wan:2", "wan:1", "right", range(22, 60))
    back = waited("wan:1", "wan:1", "left", range(50)) + waited("wan:2", "right", "wan:1", range(12))
    assert shares(hops + back) == [0.5]
    assert shares(hops + back, "right") == [1.0]


def test_a_dense_probe_that_begins_before_is_no_data() -> None:
    """A second of 112 kB/s, as of a probe of IPv6 each millisecond, and then 2 MB/s beside it."""
    rows = way("wan", "left", "right", queue=(18, 19, 21, 22, 41, 42))
    sums = [11_200 * at + 200_000 * max(0, at - 10) for at in range(50)]
    rows = [row | {"bytes_in": sum_} for row, sum_ in zip(rows, sums, strict=True)]
    assert [row["link_queue_drops"] for row in found(rows, "left", SCHEMA, ("probe",))] == [2]


@pytest.mark.parametrize(("before", "counts"), [((11, 12, 31, 32), 2), ((18, 19, 21, 22, 41, 42), 2)])
def test_a_probe_that_begins_before_is_no_data(before: tuple[int, ...], counts: int) -> None:
    """From row 1 on, or from row 11 on after a second of 18 kB/s."""
    later = 10 * (before[0] > 11)
    rows = way("wan", "left", "right", queue=before)
    sent = [row["at_ns"] // ROW for row in rows]
    probe = [1_800 * at + 20_000 * max(0, at - later) for at in sent]
    rows = [row | {"bytes_in": sum_} for row, sum_ in zip(rows, probe, strict=True)]
    assert [row["link_queue_drops"] for row in found(rows, "left", SCHEMA, ("probe",))] == [counts]
    slow = [row | {"bytes_in": 1_800 * at} for row, at in zip(rows, sent, strict=True)]
    assert [row["link_queue_drops"] for row in found(slow, "left", SCHEMA, ("probe",))] == [
        sum(16 < at <= 36 for at in before)
    ]


@pytest.mark.parametrize(
    ("others", "shared"),
    [
        ((), False),
        ((("left", "probe"),), False),
        ((("right", "datagrams"),), False),
        ((("right", "datagrams"), ("left", "datagrams")), True),
    ],
)
def test_a_link_is_shared_with_what_is_sent_the_same_way(
    others: tuple[tuple[str, str], ...], *, shared: bool
) -> None:
    rows = way("wan", "left", "right") + way("wan", "right", "left")
    assert [row["link_shared"] for row in found(rows, "left", SCHEMA, (), others)] == [shared]


def test_what_emulators_did_not_count_yet_is_null() -> None:
    former = SCHEMA.remove(SCHEMA.get_field_index("dropped_policer_packets"))
    rows = way("wan", "left", "right", queue=(20,))
    assert counted(rows, schema=former) == [(1, 0, None)]
