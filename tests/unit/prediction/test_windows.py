"""Usable windows against those that were measured on a path of 600 Mbit/s and 150 ms."""

import json
from pathlib import Path

import pytest

from flowsweep.prediction.windows import usable_segments

MEASURED = json.loads(
    (Path(__file__).parents[3] / "docs" / "truth" / "windows.json").read_text(encoding="utf-8")
)["trials"]
SEGMENT = 1448
GRANTED_MOST = 4 << 20
"""Of that host: more was not granted."""


@pytest.mark.parametrize("sweep", ["receive", "both"])
def test_receive_windows_are_as_measured(sweep: str) -> None:
    rows = [row for row in MEASURED if row["sweep"] == sweep]
    assert rows
    for row in rows:
        asked = int(row["window_recv_bytes"])
        send = int(row["window_send_bytes"]) if row["window_send_bytes"] else None
        if asked <= GRANTED_MOST:
            segments = usable_segments(send, asked, SEGMENT)
            assert segments is not None
            assert segments * SEGMENT == pytest.approx(int(row["window_usable_bytes"]), rel=0.05), asked


def test_a_send_window_is_twice_of_what_was_asked_less_what_its_writer_leaves() -> None:
    rows = [row for row in MEASURED if not row["window_recv_bytes"]]
    granted = [row for row in rows if int(row["window_send_bytes"]) <= GRANTED_MOST]
    assert len(granted) > 10
    for row in granted:
        segments = usable_segments(int(row["window_send_bytes"]), None, SEGMENT)
        assert segments is not None
        assert segments * SEGMENT == pytest.approx(int(row["window_usable_bytes"]), rel=0.22)


def test_the_smaller_of_both_ends_counts() -> None:
    assert usable_segments(1 << 16, 1 << 20, SEGMENT) == usable_segments(1 << 16, None, SEGMENT)
    assert usable_segments(1 << 20, 1 << 16, SEGMENT) == usable_segments(None, 1 << 16, SEGMENT)


def test_autotuning_has_no_limit_that_a_plan_says() -> None:
    assert usable_segments(None, None, SEGMENT) is None


def test_no_window_is_too_small_to_send() -> None:
    assert usable_segments(1024, 1024, SEGMENT) == 2
