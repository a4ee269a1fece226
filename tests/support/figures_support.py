"""Rows and findings from which all kinds of figures can be drawn."""

from flowsweep.analysis.findings.finding import Finding
from flowsweep.figures.collection import drawn_figures
from flowsweep.figures.drawing import Drawn, FigureData
from report_support import make_cells

RTT_MS = 8.0
SHARES = {
    "limit_cwnd_share": 0.5, "limit_rwnd_share": 0.2, "limit_send_buffer_share": 0.05,
    "limit_none_share": 0.25, "sender_idle_share": 0.1,
    "kernel_rwnd_share": 0.15, "kernel_send_buffer_share": 0.0,
}  # fmt: skip


def known(row: dict) -> dict:
    return row | SHARES | {"rtt_min_ms": RTT_MS}


def figures(rows: list, **changes) -> list[Drawn]:
    return drawn_figures(FigureData(trials=rows, cells=make_cells(rows), **changes))


def of_kind(drawn: list[Drawn], kind: str) -> list[Drawn]:
    return [one for one in drawn if one.key.kind == kind]


def intervals_of(rows: list) -> list[dict]:
    return [
        {"trial_id": row["trial_id"], "bin": index, "goodput_bps": row["goodput_bps"] * (1 + index / 100)}
        for row in rows
        for index in range(5)
    ]


def truncated_of(rows: list) -> list[dict]:
    """What 3 intervals say is 10 % too low, what 4 say 5 %."""
    return [
        {
            "trial_id": row["trial_id"], "bins": bins, "duration_ns": 4_000_000_000 * bins,
            "goodput_bps": row["goodput_bps"] * factor,
        }
        for row in rows
        for bins, factor in ((3, 0.9), (4, 0.95))
    ]  # fmt: skip


def finding(kind="effect", **changes) -> Finding:
    settings = {
        "kind": kind, "sweep": "windows", "mode": "copy", "direction": None, "axis": "length_bytes",
        "decision": "effect", "claim": "Length 2 to 8 KB changes goodput by 24 %.", "effect": 24.0,
        "effect_unit": "%", "interval_low": 22.0, "interval_high": 26.0, "p_value": 0.001,
        "p_adjusted": 0.002, "n": 60, "method": "linear model", "evidence": (), "figure": None,
    }  # fmt: skip
    return Finding(**(settings | changes))


def trace(one: Drawn, name: str):
    (found,) = [trace for trace in one.figure.data if trace.name == name and trace.mode != "markers"]
    return found
