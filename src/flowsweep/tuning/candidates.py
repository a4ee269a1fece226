"""Which settings are worth a trial, the most promising first, after a first look."""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest

from flowsweep.analysis.theory import bandwidth_delay_bytes
from flowsweep.analysis.verdicts import LOSS, QUEUE, WINDOWS
from flowsweep.tuning.allowed import Allowed
from flowsweep.tuning.rounds import Tried
from flowsweep.tuning.settings import TODAY, Setting

MANY = 8
"""Flows of the largest transfer that is tried: a hint at what the path carries."""
_STEP_BYTES = 64 * 1024
_FULL = 0.97
"""One flow with this share of the best of a first look, limited by the path, leaves nothing to search for."""
_BELOW_CAPACITY = 0.95
"""Where queues lose packets, a pace a little below what the path carried keeps them empty."""

_KINDS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(WINDOWS, ("window", "flows", "both", "congestion", "pacing")),
    LOSS: ("congestion", "flows", "both", "pacing", "window"),
    QUEUE: ("flows", "congestion", "both", "pacing", "window"),
}
_ANY_KIND = ("flows", "congestion", "both", "window", "pacing")
"""Where it is not clear what limits one flow."""


def first_look(may: Allowed) -> tuple[Setting, ...]:
    """List what a search begins with: today, many flows, and many with another congestion control."""
    others = (Setting(MANY, congestion=name) for name in may.congestions[:1])
    return TODAY, Setting(MANY), *others


def candidates(look: Sequence[Tried], may: Allowed, rtt_ms: float) -> tuple[Setting, ...]:
    """List the settings of one direction that may beat today's, the most promising first.

    Args:
        look: Trials of the first look in this direction, today's among them.
        may: What the hosts let an application ask for.
        rtt_ms: Round trip of the idle path.

    Returns:
        Kinds of settings take turns, in the order in which they suit what limited today's flow. Where one
        flow fills the path, only what could show that it does not. Windows are bandwidth × delay and twice
        that (RFC 6349, section 3.3.1), as far as both hosts grant them; a pace is tried where packets were
        lost.
    """
    capacity_bps = max(one.goodput_bps for one in look)
    # The last one: the first may have carried nothing.
    today = next(one for one in reversed(look) if one.setting == TODAY)
    verdict = today.row["verdict"] or ""
    if verdict == QUEUE and today.goodput_bps >= _FULL * capacity_bps:
        return Setting(MANY), *(Setting(congestion=name) for name in may.congestions[:1])
    kinds = {
        "flows": (Setting(MANY), Setting(4), Setting(2)),
        "congestion": tuple(Setting(congestion=name) for name in may.congestions),
        "both": tuple(Setting(flows, congestion=name) for flows in (MANY, 4) for name in may.congestions),
        "window": tuple(_windows(capacity_bps, rtt_ms, may)),
        "pacing": tuple(_paced(capacity_bps)) if any(one.row["retransmits"] for one in look) else (),
    }
    turns = zip_longest(*(kinds[kind] for kind in _KINDS.get(verdict, _ANY_KIND)))
    return tuple(setting for turn in turns for setting in turn if setting is not None)


def _windows(capacity_bps: float, rtt_ms: float, may: Allowed) -> Iterator[Setting]:
    """Those that both hosts grant; a smaller one only where autotuning gives less."""
    if may.window_most_bytes is None:
        return
    most = may.window_most_bytes // _STEP_BYTES * _STEP_BYTES
    held_bytes = bandwidth_delay_bytes(capacity_bps, rtt_ms / 1_000)
    tried = set()
    for times in (1, 2):
        wanted = math.ceil(times * held_bytes / _STEP_BYTES) * _STEP_BYTES
        window = min(wanted, most)
        helps = window == wanted or window > (may.autotuned_bytes or math.inf)
        if window and helps and window not in tried:
            tried.add(window)
            yield Setting(window_bytes=window)


def _paced(capacity_bps: float) -> Iterator[Setting]:
    for flows in (1, 4):
        # Three digits: a pace is a round number, in plans and on command lines.
        pace_bps = int(float(f"{capacity_bps * _BELOW_CAPACITY / flows:.3g}"))
        yield Setting(flows, pacing_bps=pace_bps)
