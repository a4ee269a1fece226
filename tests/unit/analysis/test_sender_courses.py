"""The sender's course within an imported trial, as its file's intervals have it."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from flowsweep.analysis.sender_courses import SenderCourse, sender_courses
from flowsweep.archive import read_archive
from imported_trials import document, imported
from summary_support import archive_rows

MEGABIT = 125_000


def courses(folder: Path, mbps: Sequence[int], *, never_came: int = 0, omit: int = 0) -> list[SenderCourse]:
    """Of an iperf3 client's file with two flows, whose intervals of a second carry so much together."""
    found = document("iperf3-3.12-tcp-client.json")
    for of_receiver in ("server_output_json", "server_output_text"):
        found.pop(of_receiver, None)
    sockets = [stream["sender"]["socket"] for stream in found["end"]["streams"]]
    found["intervals"] = [
        {"streams": [interval(second - omit, rate * MEGABIT // 2, socket) for socket in sockets]}
        for second, rate in enumerate(mbps)
    ]
    lasted, size = len(mbps) - omit, sum(mbps[omit:]) * MEGABIT // 2
    found["start"]["test_start"] |= {"omit": omit, "duration": lasted}
    span = {"start": 0, "end": lasted, "seconds": lasted}
    for stream in found["end"]["streams"]:
        stream["sender"] |= {**span, "bytes": size, "bits_per_second": size * 8 / lasted}
        came = size - never_came // 2
        stream["receiver"] |= {**span, "bytes": came, "bits_per_second": came * 8 / lasted}
    (folder / "a.json").write_text(json.dumps(found), encoding="utf-8")
    imported(folder / "old", str(folder / "a.json"))
    archive = read_archive(folder / "old")
    return sender_courses(archive.tables(), archive_rows(archive))


def interval(start: int, size: int, socket: int) -> dict[str, object]:
    """Of one flow; what begins before 0 is omitted, and iperf3 counts it from 0."""
    omitted = start < 0
    span = {"start": 0 if omitted else start, "end": (0 if omitted else start) + 1, "seconds": 1}
    return {
        **span, "socket": socket, "bytes": size, "bits_per_second": size * 8, "retransmits": 0, "rtt": 20_000,
        "omitted": omitted, "sender": True,
    }  # fmt: skip


def test_thirds_are_of_all_flows_together(tmp_path: Path) -> None:
    (course,) = courses(tmp_path, [900, 900, 100, 100, 100, 100])
    assert (course["first_bps"], course["last_bps"]) == pytest.approx((900e6, 100e6))


def test_an_interval_counts_by_what_of_it_lies_in_a_third(tmp_path: Path) -> None:
    (course,) = courses(tmp_path, [90, 30, 30, 60])
    assert (course["first_bps"], course["last_bps"]) == pytest.approx((75e6, 52.5e6))


def test_what_only_filled_the_send_buffer_is_no_rate(tmp_path: Path) -> None:
    """60 Mbit of the first second never came: the path carried as much as later."""
    (course,) = courses(tmp_path, [100, 40, 40], never_came=60 * MEGABIT)
    assert (course["first_bps"], course["last_bps"]) == pytest.approx((40e6, 40e6))


def test_omitted_time_does_not_count(tmp_path: Path) -> None:
    (course,) = courses(tmp_path, [900, 100, 100, 100], omit=1)
    assert (course["first_bps"], course["last_bps"]) == pytest.approx((100e6, 100e6))


def test_two_intervals_are_no_course(tmp_path: Path) -> None:
    assert courses(tmp_path, [900, 100]) == []
