"""What holds QUIC back: windows of every kind on an emulated link, below and far above bandwidth × delay."""

from pathlib import Path

from truth_support import NOTES, fill_table, table, write_result

from campaign_support import flowsweep, summary
from flowsweep.wording import format_rate, format_share, format_size

PLAN = Path(__file__).with_name("quic.toml")
LIMITS_BELOW_BYTES = 1 << 20
"""Bandwidth × delay is 125 kB: smaller windows limit, those of the plan above this do not."""
RIGHT_SHARE = 0.95


def test_a_full_window_is_told_from_a_full_path(tmp_path: Path) -> None:
    flowsweep("run", PLAN, "--archive", tmp_path / "archive", timeout_s=600)
    rows = sorted(summary(tmp_path / "archive"), key=lambda row: (row["sweep"], asked_bytes(row)))
    right = [row["verdict"] == expected(row) for row in rows]
    cells = [cells_of(row) for row in rows]
    columns = (
        "which",
        "window",
        "congestion",
        "goodput",
        "windows",
        "congestion control",
        "verdict",
        "expected",
    )
    fill_table(NOTES / "quic.md", "cases", table(columns, cells))
    write_result("quic", "verdicts of constructed limits of QUIC", {"cases": len(rows), "right": sum(right)})
    assert len(rows) >= 40
    assert sum(right) >= RIGHT_SHARE * len(rows)


def asked_bytes(row: dict[str, str]) -> int:
    """The window that the case is about."""
    name = {"stream": "stream_window_bytes", "source": "window_send_bytes"}.get(row["sweep"])
    return int(row[name or "window_recv_bytes"])


def expected(row: dict[str, str]) -> str:
    """What limits by construction."""
    if asked_bytes(row) > LIMITS_BELOW_BYTES:
        return "congestion window: queue"
    return "send window" if row["sweep"] == "source" else "receive window"


def cells_of(row: dict[str, str]) -> tuple[str, ...]:
    """Of the table."""
    shares = (format_share(float(row[f"{name}_limited_share"])) for name in ("flow_control", "congestion"))
    goodput = format_rate(float(row["goodput_mean_bps"]))
    asked = (row["sweep"], format_size(asked_bytes(row)), row["congestion"])
    return (*asked, goodput, *shares, row["verdict"], expected(row))
