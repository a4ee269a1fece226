"""How much of a window is usable: asked for at both ends, at one, and what the kernel makes of it."""

from pathlib import Path

import pytest
from truth_support import NOTES, PLANS, fill_table, run_side_by_side, table, write_result

from campaign_support import summary

PLAN = PLANS / "windows.toml"
RTT_S = 0.15
MTU_SCALING_RATIO = 170 / 256
"""What the kernel says of packets of 1500 bytes in the memory of a TUN device: payload over memory."""
INITIAL_SCALING_RATIO = 1 / 2
WINDOW_FIELD_MAX = 65_535
CASES = (("both", "bbr"), ("receive", "bbr"), ("send", "bbr"), ("send", "cubic"))
Row = dict[str, str]


def test_usable_windows_follow_the_rules_of_the_kernel(tmp_path: Path) -> None:
    run_side_by_side([(PLAN, (), tmp_path / "archive")])
    rows = [row for row in summary(tmp_path / "archive") if row["status"] == "ok"]
    write_notes(rows)
    for row in rows:
        usable = int(row["window_usable_bytes"])
        if row["sweep"] == "send":
            assert usable == pytest.approx(int(row["window_granted_send_bytes"]), rel=0.15), row
        else:
            expected = receive_window_bytes(int(row["window_granted_recv_bytes"]))
            assert usable == pytest.approx(expected, rel=0.05), row


def receive_window_bytes(granted_bytes: int) -> int:
    """What a receiver comes to announce: `tcp_select_initial_window`, `tcp_measure_rcv_mss` (Linux 6.18)."""
    initially = int(granted_bytes * INITIAL_SCALING_RATIO)
    shift = max(0, initially.bit_length() - 16)
    return min(int(granted_bytes * MTU_SCALING_RATIO), WINDOW_FIELD_MAX << shift)


def write_notes(rows: list[Row]) -> None:
    by_case: dict[tuple[str, str], dict[int, Row]] = {case: {} for case in CASES}
    for row in rows:
        asked = row["window_recv_bytes"] or row["window_send_bytes"]
        by_case[row["sweep"], row["congestion"]][int(asked)] = row
    lines = []
    for asked in sorted(by_case[CASES[0]]):
        found = [by_case[case].get(asked) for case in CASES]
        granted = found[0]["window_granted_recv_bytes"] if found[0] else ""
        lines.append((kib(asked), kib(int(granted)), *(cell(row) for row in found)))
    columns = ("requested", "granted", *(f"{side}, {congestion}" for side, congestion in CASES))
    fill_table(NOTES.parent / "explanation" / "windows.md", "windows", table(columns, lines))
    kept = (
        "sweep", "congestion", "window_send_bytes", "window_recv_bytes", "window_granted_send_bytes",
        "window_granted_recv_bytes", "window_usable_bytes", "goodput_bps", "path_emulation",
    )  # fmt: skip
    points = [{name: row[name] for name in kept} for row in rows]
    write_result("windows", "tests/truth/windows.toml", {"trials": points})


def cell(row: Row | None) -> str:
    """Usable, as a share of what was asked for, and what the mean flight was of it."""
    if row is None:
        return ""
    usable = int(row["window_usable_bytes"])
    asked = int(row["window_recv_bytes"] or row["window_send_bytes"])
    mean = float(row["goodput_bps"]) / 8 * RTT_S / usable
    return f"{kib(usable)} ({usable / asked:.2f}; {mean:.2f})"


def kib(count: int) -> str:
    return f"{count / 1024:,.0f}"
