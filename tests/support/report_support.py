"""Tables like those of the analysis, with plausible numbers: a grid as in seed 000, data of reports."""

import random
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any

from flowsweep.analysis import STABLE_COLUMNS
from flowsweep.analysis.findings.finding import Finding
from flowsweep.analysis.grid_rows import cells_of_rows
from flowsweep.figures.trial_data import TrialData, TrialLine, TrialPanel
from flowsweep.plan.links.model import Link, LinkDirection
from flowsweep.report.report_data import ReportData

Row = dict[str, Any]

KIB = 1 << 10
MIB = 1 << 20
STARTED_AT = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
DIRECTIONS = (("starlight", "sara"), ("sara", "starlight"))
FLOWS = (1, 2, 4, 8, 16)
WINDOW_SUMS = tuple(MIB << exponent for exponent in range(6))
LENGTHS = tuple(2000 * count for count in range(1, 9))


def goodput_bps(
    *, flows: int, window_sum: int, length: int, src: str, repeat: int, rate: float = 9.4e9
) -> float:
    """A path of 8 ms: window-limited at first, then full; smaller lengths and one direction do worse."""
    limit = window_sum * 8 / 0.008
    full = rate * (0.83 if src == "sara" else 1.0) * (0.72 + 0.28 * min(1.0, length / 8000))
    smooth = 1 / (1 / limit**3 + 1 / full**3) ** (1 / 3)
    noise = random.Random(f"{flows} {window_sum} {length} {src} {repeat}").gauss(0, 0.015)
    return smooth * (1 - 0.006 * abs(flows - 4)) * (1 + noise)


def make_row(**changes: Any) -> Row:
    """One trial, which is also a point of the grid, as changed."""
    row: Row = {
        "trial_id": "", "sweep": "windows", "repeat": 1, "started_at": "2026-03-01T12:00:00Z",
        "src": "starlight", "dst": "sara", "test": "tcp", "flows": 1, "window_bytes": MIB,
        "window_sum_bytes": MIB,
        "length_bytes": 8000,
        "congestion": "cubic", "duration_s": 60.0, "status": "ok", "error": None, "goodput_bps": 1e9,
        "goodput_p10_bps": 0.98e9, "goodput_p90_bps": 1.01e9, "coverage": 1.0, "bytes": 7_500_000_000,
        "retransmits": 3, "rtt_min_ms": 8.02, "window_granted_send_bytes": 2 * MIB,
        "window_granted_recv_bytes": 2 * MIB, "verdict": None, "cpu_send": 0.31, "cpu_recv": 0.44,
        "goodput_mean_bps": 0.99e9, "goodput_method": "receiver_median", "window_usable_bytes": 1_290_000,
        "mode": "copy", "order_index": 0, "attempt": 1, "attempts": 1, "simultaneous": False,
        "window_send_bytes": MIB, "window_recv_bytes": MIB, "window_capped": False, "window_raised": False,
        "window_clipped": False, "bins": 15, "bins_expected": 15, "bytes_sent": 7_500_000_000,
        "rejected_connections": 0,
        "failure_phase": None, "failure_host": None, "failure_kind": None,
        "congestion_asked": "cubic", "rate_bps": None, "pacing_rate_bps": None, "mss_bytes": None,
        "dscp": None,
        "no_delay": False, "affinity": [], "family": None, "window_sum_asked_bytes": MIB,
    }  # fmt: skip
    if "goodput_bps" in changes:
        row["goodput_mean_bps"] = changes["goodput_bps"]
    row |= changes
    if not row["trial_id"]:
        identity = [row[name] for name in ("sweep", "repeat", "src", "flows", "window_sum_asked_bytes")]
        identity += [row["length_bytes"], row["congestion_asked"], row["duration_s"]]
        row["trial_id"] = f"{random.Random(repr(identity)).getrandbits(48):012x}"
    return row


def make_cells(rows: Sequence[Row]) -> list[Row]:
    """The points of a grid that some trials are of, in the order of these."""
    found: list[Any] = cells_of_rows([row | {"order_index": index} for index, row in enumerate(rows)])
    return found


def failed(row: Row) -> Row:
    """The same trial, had the window been clipped."""
    message = "send window of 67108864 bytes asked, 8388608 granted; raise net.core.wmem_max to 67108864"
    empty = dict.fromkeys((
        "goodput_bps", "goodput_p10_bps", "goodput_p90_bps", "goodput_mean_bps", "coverage", "bytes",
        "retransmits",
        "rtt_min_ms", "window_usable_bytes", "cpu_send", "cpu_recv", "bytes_sent",
    ))  # fmt: skip
    reason = {"failure_phase": "prepare", "failure_host": row["src"], "failure_kind": "window_clipped"}
    return row | empty | reason | {"status": "failed", "error": f"prepare on {row['src']}: {message}"}


def make_rows(
    *,
    flows: Sequence[int] = FLOWS,
    window_sums: Sequence[int | None] = WINDOW_SUMS,
    lengths: Sequence[int] = (8000,),
    directions: Sequence[tuple[str, str]] = DIRECTIONS,
    repeats: int = 2,
    sweep: str = "windows",
    change: Callable[[Row], Row] = lambda row: row,
) -> list[Row]:
    """A grid in both directions; `change` may make something else of each row."""
    rows = []
    points = product(range(1, repeats + 1), lengths, flows, window_sums, directions)
    for index, (repeat, length, count, window_sum, (src, dst)) in enumerate(points):
        window = window_sum // count if window_sum else None
        goodput = goodput_bps(
            flows=count, window_sum=window_sum or 64 * MIB, length=length, src=src, repeat=repeat
        )
        started_at = STARTED_AT + timedelta(seconds=62 * index)
        row = make_row(
            sweep=sweep, repeat=repeat, src=src, dst=dst, flows=count, length_bytes=length, order_index=index,
            started_at=started_at.isoformat().replace("+00:00", "Z"), goodput_bps=goodput,
            goodput_p10_bps=goodput * 0.985, goodput_p90_bps=goodput * 1.008, goodput_mean_bps=goodput * 0.99,
            bytes=int(goodput * 7.5), bytes_sent=int(goodput * 7.5), window_bytes=window,
            window_send_bytes=window, window_recv_bytes=window, window_sum_bytes=window_sum,
            window_sum_asked_bytes=window_sum, window_granted_send_bytes=window and 2 * window,
            window_granted_recv_bytes=window and 2 * window,
            window_usable_bytes=int(min(goodput / count * 0.00101, window or 1e9)),
        )  # fmt: skip
        rows.append(change(row))
    return rows


def seed_000(row: Row) -> Row:
    """Some points of the grid capped, some failed."""
    capped = row["flows"] == 1 and row["window_sum_bytes"] == 32 * MIB
    if row["flows"] == 16 and row["window_sum_bytes"] == 32 * MIB and row["length_bytes"] == 8000:
        return failed(row)
    if row["flows"] == 2 and row["window_sum_bytes"] == 2 * MIB and row["repeat"] == 2:
        return failed(row)
    return row | {"window_capped": capped}


def make_facts(hostname: str = "starlight", **changes: Any) -> Row:
    """What an engine sees of its host, as changed."""
    facts: Row = {
        "hostname": hostname, "kernel": "6.18.0", "architecture": "x86_64",
        "cpu_model": "Intel(R) Xeon(R) Platinum 8481C CPU @ 2.70GHz", "cpus": 2,
        "memory_bytes": 25_213_579_264,
        "congestion_default": "bbr", "congestion_available": ["reno", "cubic", "bbr"], "tcp_info_bytes": 280,
        "sysctls": {
            "net.core.rmem_max": "212992", "net.core.wmem_max": "212992",
            "net.ipv4.tcp_rmem": "4096\t131072\t6291456", "net.ipv4.tcp_wmem": "4096\t16384\t4194304",
            "net.ipv4.tcp_congestion_control": "bbr", "net.core.default_qdisc": "fq_codel",
            "net.ipv4.tcp_no_metrics_save": "1",
        },
        "engine_version": "0.1.0",
    }  # fmt: skip
    return facts | changes


PLAN_TEXT = """\
[campaign]
name = "itanium-february"
repeats = 2
seed = 20040218

[lab.links.lambda]
between = ["starlight", "sara"]
rate = "10Gbit/s"

[[sweep]]
name = "windows"
test = "tcp"
paths = [{ from = "starlight", to = "sara" }]
directions = "both"
flows = [1, 2, 4, 8, 16]
window_sum = ["1MiB", "2MiB", "4MiB", "8MiB", "16MiB", "32MiB"]
length = ["2KB", "4KB", "6KB", "8KB", "10KB", "12KB", "14KB", "16KB"]
"""


def make_finding(**changes: Any) -> Finding:
    """An effect of the length of writes, as changed."""
    settings: dict[str, Any] = {
        "kind": "effect", "sweep": "windows", "mode": "copy", "direction": None, "axis": "length_bytes",
        "decision": "effect", "claim": "Length matters.", "effect": 12.1, "effect_unit": "%",
        "interval_low": 11.4, "interval_high": 12.8, "p_value": 1e-5, "p_adjusted": 4e-4, "n": 120,
        "method": "linear model of log goodput, blocked by repeat", "evidence": (), "figure": None,
    }  # fmt: skip
    return Finding(**(settings | changes))


def make_series(flows: Sequence[int] = (0,), caption: str = "") -> TrialData:
    """What is drawn of a trial over its first 0.4 s."""
    values = [[90, 100, 95, 99] for _ in flows]
    goodput: TrialLine = {"name": "", "dash": "solid", "first_s": 0.05, "step_s": 0.1, "values": values}
    cwnd: TrialLine = goodput | {"name": "cwnd", "values": [[50, 60, 70, None] for _ in flows]}
    ssthresh: TrialLine = goodput | {
        "name": "ssthresh",
        "dash": "dot",
        "values": [[40, 40, 40] for _ in flows],
    }
    panels: list[TrialPanel] = [
        {"title": "goodput", "unit": "Gbit/s", "quantum": 0.01, "caption": "", "lines": [goodput]},
        {
            "title": "congestion window",
            "unit": "MB",
            "quantum": 0.01,
            "caption": caption,
            "lines": [cwnd, ssthresh],
        },
    ]
    return {"flows": list(flows), "thinned": False, "panels": panels}


def make_report_data(rows: Sequence[Row], *, name: str = "itanium-february", **changes: Any) -> ReportData:
    """A report's data for some trials, as changed."""
    other = make_facts("sara", cpus=4, sysctls=make_facts()["sysctls"] | {"net.core.rmem_max": "67108864"})
    way = LinkDirection(rate_bps=10_000_000_000)
    link = Link(name="lambda", between=("starlight", "sara"), forward=way, backward=way).model_dump()
    settings: dict[str, Any] = {
        "name": name,
        "created_at": STARTED_AT,
        "seed": 20040218,
        "flowsweep_version": "0.1.0",
        "plan": {
            "text": PLAN_TEXT,
            "campaign": {"name": name, "repeats": 2, "order": "blocks", "seed": 20040218},
            "links": [link],
            "sweeps": [{"name": "windows", "paths": [{"src": "starlight", "dst": "sara"}]}],
        },
        "host_facts": {"starlight": make_facts(), "sara": other},
        "trials_planned": len(rows),
        "trials": tuple(rows),
        "summary_columns": STABLE_COLUMNS,
        "cells": tuple(make_cells(rows)),
    }
    return ReportData(**(settings | changes))
