"""What a job of files came to, which stage was waited for, and the verdict from it."""

from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from analysis_support import SECOND_NS, make_end
from file_support import JOB_BYTES, SECONDS, make_file_outcome, make_file_trial
from flowsweep.analysis.findings.verdict import verdict_hypotheses
from flowsweep.analysis.statistics.observations import observations
from flowsweep.analysis.tests.file.words import moved_part
from flowsweep.analysis.verdict_words import limit_words
from flowsweep.cli.summary_rows import row_of_outcomes

MANY_SYNCS = {"waits": (0.0, 0.9), "files": 4000, "syncs": 0.8, "device_busy": (0.9, 0.1)}
"""Files of 10 kB, one after the other, on a disk that has little to do."""


def row_of(*, asked: dict[str, Any] | None = None, **seen: Any) -> Any:
    """Of the summary, by the prepared statement, which a contract test compares with the analysis."""
    return row_of_outcomes([make_file_outcome(make_file_trial(**(asked or {})), **seen)])


def test_goodput_is_of_the_whole_job_until_all_of_it_is_synced() -> None:
    row = row_of(last_sync_s=2)
    assert row["status"] == "ok"
    assert (row["job_s"], row["goodput_bps"]) == (SECONDS, JOB_BYTES * 8 / SECONDS)
    assert row["goodput_mean_bps"] == row["goodput_bps"]
    assert (row["job_bytes"], row["job_moved_share"], row["files_moved"]) == (JOB_BYTES, 1.0, 1)
    assert (row["goodput_method"], row["mode"], row["coverage"]) == ("job_mean", "whole", None)


def test_a_job_takes_what_each_end_says_by_its_own_clock() -> None:
    """The sink's begins a round trip of the controller, or a probe's time, before the source's does."""
    row = row_of(first_byte_s=(0.05, 0.25))
    assert row["job_s"] == pytest.approx(SECONDS - 0.25 + 0.05)
    assert row["goodput_bps"] == pytest.approx(JOB_BYTES * 8 / row["job_s"])


def test_a_device_below_several_pairs_counts_once() -> None:
    outcome = make_file_outcome(make_file_trial(), device_busy=(0.5, 0.5))
    devices = outcome.of_tests["devices"]
    index = devices.schema.get_field_index("peer")
    another = devices.set_column(index, devices.schema.field(index), pa.array(["c"] * devices.num_rows))
    tables = {**outcome.of_tests, "devices": pa.concat_tables([devices, another])}
    row = row_of_outcomes([replace(outcome, of_tests=tables)])
    assert (row["source_device_bytes_per_byte"], row["sink_device_bytes_per_byte"]) == (1.0, 1.0)
    assert (row["source_device_busy_share"], row["sink_device_busy_share"]) == (0.5, 0.5)


def test_what_devices_moved_is_not_known_unless_every_host_has_one() -> None:
    outcome = make_file_outcome(make_file_trial())
    devices, unseen = (
        one.of_tests["devices"] for one in (outcome, make_file_outcome(make_file_trial(), device=None))
    )
    index = unseen.schema.get_field_index("host")
    another = unseen.set_column(index, unseen.schema.field(index), pa.array(["c"] * unseen.num_rows))
    sinks = another.filter(pc.equal(another["role"], "sink"))
    tables = {**outcome.of_tests, "devices": pa.concat_tables([devices, sinks])}
    row = row_of_outcomes([replace(outcome, of_tests=tables)])
    assert (row["source_device_bytes_per_byte"], row["sink_device_bytes_per_byte"]) == (1.0, None)


def test_a_quota_held_a_job_back_for_a_share_of_the_time_that_it_took() -> None:
    """It may take far less than it may take."""
    outcome = make_file_outcome(make_file_trial(duration_ns=600 * SECOND_NS), seconds=10)
    ends = tuple(make_end("a", window_bytes=None, throttled_us=10_000_000) for _ in outcome.record.sources)
    record = outcome.record.model_copy(update={"sources": ends})
    assert row_of_outcomes([replace(outcome, record=record)])["throttled_send_share"] == 1.0


def test_a_job_that_ran_out_of_time_says_how_much_of_it_was_moved() -> None:
    row = row_of(moved_bytes=JOB_BYTES // 4)
    assert (row["status"], row["job_moved_share"]) == ("ok", 0.25)
    assert row["goodput_bps"] == JOB_BYTES * 2 / SECONDS


def test_a_short_job_is_whole() -> None:
    row = row_of(seconds=0.4)
    assert (row["status"], row["job_s"]) == ("ok", 0.4)


def test_of_files_that_are_there_the_job_is_not_known() -> None:
    row = row_of(asked={"file_size_bytes": None, "files": None, "existing": "/data"})
    assert (row["job_bytes"], row["job_moved_share"]) == (None, None)
    assert row["goodput_bps"] == JOB_BYTES * 8 / SECONDS


def test_shares_are_of_the_time_that_others_waited() -> None:
    row = row_of(waits=(0.25, 0.5))
    shares = [row[f"{name}_share"] for name in ("source_storage", "network", "sink_storage")]
    assert shares == pytest.approx([0.25, 0.25, 0.5])


def test_shares_are_not_known_where_an_end_told_nothing() -> None:
    outcome = make_file_outcome(make_file_trial())
    source = {
        name: table.filter(pc.equal(table["role"], "source"))
        for name, table in ({"samples": outcome.samples, "flows": outcome.flows} | outcome.of_tests).items()
    }
    samples, flows = source.pop("samples"), source.pop("flows")
    row = row_of_outcomes([replace(outcome, samples=samples, flows=flows, of_tests=source)])
    shares = ("source_storage", "network", "sink_storage", "source_storage_idle", "sink_storage_call", "sync")
    assert [row[f"{name}_share"] for name in shares] == [None] * len(shares)


def test_a_job_says_why_it_was_over_before_all_was_moved() -> None:
    row = row_of(moved_bytes=JOB_BYTES // 4)
    assert moved_part(row) == "25.0 % of all files when time was up"
    assert moved_part(row | {"status": "incomplete"}) == "25.0 % of all files when it broke off"
    assert moved_part(row | {"job_moved_share": 1.0}) is None


def test_what_is_left_to_sync_at_the_end_is_the_sinks() -> None:
    row = row_of(last_sync_s=1)
    assert row["sink_storage_share"] == pytest.approx(0.25)
    assert row["sync_share"] == pytest.approx(0.25)
    assert row["network_share"] == pytest.approx(0.75)


def test_devices_are_told_by_what_they_moved() -> None:
    row = row_of(device_bytes_per_byte=(0.5, 2.0))
    told = [row[f"{end}_device_bytes_per_byte"] for end in ("source", "sink")]
    assert told == pytest.approx([0.5, 2.0])
    assert row["sink_device_busy_share"] == pytest.approx(0.9)
    assert row["source_file_system"] == "ext2/ext3/ext4"


def test_files_in_memory_have_no_device() -> None:
    row = row_of(device=None)
    assert (row["source_device_bytes_per_byte"], row["source_device_busy_share"]) == (None, None)
    assert row["sink_file_system"] == "tmpfs"


@pytest.mark.parametrize(
    ("seen", "verdict"),
    [
        ({"waits": (0.9, 0.0)}, "source disk"),
        ({"waits": (0.9, 0.0), "device_bytes_per_byte": (0.4, 1.0)}, "source file system"),
        ({"waits": (0.9, 0.0), "device": None}, "source file system"),
        ({"waits": (0.9, 0.0), "storage_cpu": (0.95, 0.1), "cpu": (1.0, 0.2)}, "sender CPU"),
        ({"waits": (0.0, 0.9)}, "sink disk"),
        ({"waits": (0.0, 0.9), "device_bytes_per_byte": (1.0, 0.1)}, "sink file system"),
        (MANY_SYNCS, "sink file system"),
        # Whoever waits for a device that has much to do waits for the device.
        (MANY_SYNCS | {"device_busy": (0.9, 0.9)}, "sink disk"),
        # Or for one that a control group holds back, whose time is not counted.
        (MANY_SYNCS | {"files": 1}, "sink disk"),
        (MANY_SYNCS | {"syncs": 0.2}, "sink disk"),
        ({"waits": (0.0, 0.9), "storage_cpu": (0.1, 0.95), "cpu": (0.2, 1.0)}, "receiver CPU"),
        ({"last_sync_s": 3}, "sink disk"),
        ({}, "network"),
        ({"cpu": (0.98, 0.1)}, "sender CPU"),
        ({"cpu": (0.1, 0.98)}, "receiver CPU"),
        ({"cpu": (0.98, 0.98)}, "not clear"),
        # Files in memory are read at once: the network limits, however little it leaves to wait for.
        ({"idle": (0.08, 0.9)}, "network"),
        # A thread of the stage that does not limit may be as busy as it likes.
        ({"waits": (0.9, 0.0), "cpu": (0.1, 1.1), "storage_cpu": (0.05, 0.95)}, "source disk"),
        # A network that is nearly as fast holds the source up, too, and yet its files never wait.
        ({"waits": (0.4, 0.0), "idle": (0.01, 0.9)}, "source disk"),
        ({"waits": (0.0, 0.4), "idle": (0.9, 0.01)}, "sink disk"),
        # Both disks wait for nobody, or each end for the other in turn.
        ({"waits": (0.45, 0.4), "idle": (0.0, 0.0)}, "not clear"),
        ({"waits": (0.5, 0.0), "idle": (0.4, 0.9)}, "not clear"),
        # A job that lies in buffers at once: files took a twentieth of its time, and nothing waited else.
        ({"waits": (0.06, 0.0), "idle": (0.0, 0.9), "calls": (0.06, 0.06)}, "not clear"),
        ({"waits": (0.0, 0.06), "idle": (0.9, 0.0), "calls": (0.06, 0.06)}, "not clear"),
        # Stages that hardly wait are as fast as each other.
        ({"waits": (0.02, 0.0), "idle": (0.0, 0.02)}, "not clear"),
    ],
)
def test_the_verdict(seen: dict[str, Any], verdict: str) -> None:
    assert row_of(**seen)["verdict"] == verdict


def test_a_pace_that_was_asked_for_and_came_is_what_limits() -> None:
    assert row_of(asked={"pacing_rate_bps": JOB_BYTES * 8 // SECONDS})["verdict"] == "application rate"


def test_what_holds_connections_up_is_said_of_the_network_only() -> None:
    assert row_of(waits=(0.9, 0.0))["network_limit"] is None


@pytest.mark.parametrize(
    ("waits", "verdict", "waited"),
    [
        ((0.9, 0.0), "source file system", "Sending waited for files"),
        ((0.0, 0.9), "sink file system", "Receiving waited for files"),
    ],
)
def test_of_a_disk_that_nobody_sees_nothing_is_said(
    waits: tuple[float, float], verdict: str, waited: str
) -> None:
    """On btrfs, ZFS or NFS the disk may have been what limited."""
    unseen, seen = row_of(waits=waits, device=None), row_of(waits=waits, device_bytes_per_byte=(0.1, 0.1))
    assert limit_words(unseen) == (
        verdict, f"{waited}; nothing tells what the disk below them did."
    )  # fmt: skip
    assert limit_words(seen)[0] == verdict
    assert "disk had little to" in limit_words(seen)[1]
    end = verdict.partition(" ")[0]
    assert _finding_of(unseen).endswith(f"the only trial waited for the {end}'s files.")
    assert _finding_of(seen).endswith(f"the only trial waited for the {end}'s file system.")


def _finding_of(row: Any) -> str:
    (observed,) = observations([row])
    (hypothesis,) = verdict_hypotheses(observed)
    return hypothesis.say("described")


def test_the_network_is_not_said_to_limit_disks_that_nothing_reached() -> None:
    assert limit_words(row_of(device=None)) == ("network", "Files at both ends waited for the network.")
    alone = row_of(asked={"part": "network"}, device=None)
    assert limit_words(alone) == ("network", "The network was measured by itself, from memory to memory.")
    assert "the only trial waited for the network, at 80.0 Mbit/s" in _finding_of(row_of())
    assert "the only trial measured the network by itself, at 80.0 Mbit/s" in _finding_of(alone)
