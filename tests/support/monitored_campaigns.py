"""Campaigns of known truth with a router between: what others send, what trials send, what it counts."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import numpy as np

from analysis_support import STARTED_AT
from flowsweep.analysis.monitors.facts import MonitorFacts
from flowsweep.monitors.reading import Poll, monitors_table
from flowsweep.plan.monitors.model import Community, Monitor, Secret, SnmpAgent
from synthetic_campaigns import Grid, Row, campaign

TRIAL_S, APART_S = 10.0, 60.0
_ONE_POINT = Grid(flows=(1,), window_sums=(1 << 20,), directions=(("a", "b"),), noise=0, block=0)


def trials(goodput_bps: Sequence[float]) -> list[Row]:
    """One point, a trial of 10 s each minute, with these goodputs."""
    rows = campaign(Grid(**{**vars(_ONE_POINT), "repeats": len(goodput_bps)}), 1)
    for number, (row, one) in enumerate(zip(rows, goodput_bps, strict=True)):
        row["started_at"] = (STARTED_AT + timedelta(seconds=APART_S * number)).isoformat()
        row["goodput_bps"] = float(one)
        row["elapsed_s"] = TRIAL_S
        row["bytes"] = row["bytes_sent"] = round(one * TRIAL_S / 8)
    return rows


def router(
    rows: Sequence[Row], others_bps: Sequence[float], *, every_s: float = 10.0, stale_s: float = 0.0
) -> MonitorFacts:
    """What a router told of trials and others, each of which sends at one rate from a trial to the next."""
    began_s = STARTED_AT.timestamp()
    until_s = APART_S * (len(rows) + 1)
    edges = np.arange(0, until_s, 0.5) - APART_S
    own, others = np.zeros(len(edges)), np.zeros(len(edges))
    for number, (row, other) in enumerate(zip(rows, others_bps, strict=True)):
        begin_s = APART_S * number
        own[(edges >= begin_s) & (edges < begin_s + TRIAL_S)] += row["goodput_bps"]
        others[(edges >= begin_s - 20) & (edges < begin_s + APART_S - 20)] += other
    total = np.concatenate([[0.0], np.cumsum((own + others) * 0.5 / 8)])
    times = np.concatenate([edges, [edges[-1] + 0.5]])
    polls = []
    for at_s in np.arange(-APART_S + every_s / 3, until_s - APART_S, every_s):
        value = int(np.interp(at_s - stale_s, times, total))
        values = (("", "uptime_cs", round((at_s + 1000) * 100)), ("et0", "out_bytes", value))
        polls.append(Poll("core", round((began_s + at_s) * 1e6), 2000, values))
    return facts(polls)


def facts(polls: Sequence[Poll], every_s: float = 10.0, **monitor: Any) -> MonitorFacts:
    """Of one monitor, which is asked so often, behind whose interface et0 the host b is."""
    agent = SnmpAgent(
        address="192.0.2.1", port=161, login=Community(community=Secret(env="C")), interfaces=("et0",),
        beyond={"et0": ("b",)}, src=None,
    )  # fmt: skip
    known = Monitor(name="core", every_ns=round(every_s * 1e9), agent=agent, **monitor)
    return MonitorFacts({"core": known}, monitors_table(polls))
