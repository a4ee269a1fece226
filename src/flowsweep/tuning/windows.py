"""Which bounds of autotuning to raise where a window held one flow back, and what one flow then carries."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, cast

from flowsweep.analysis.findings.advice import NOTHING_GAINED, WINDOW_MAX_BYTES, window_advice
from flowsweep.analysis.findings.host_settings import (
    SETTINGS,
    USELESS_WITHOUT,
    HostFacts,
    HostSetting,
    Side,
    capped_buffer,
    most_buffer_bytes,
    recorded,
    tuned_share,
)
from flowsweep.analysis.summarising.trial_row import TrialRow, goodput_of
from flowsweep.analysis.theory import bandwidth_delay_bytes, window_bps
from flowsweep.tuning.settings import Setting
from flowsweep.wording import counted, format_rate, format_size

_BUFFERS = frozenset(name for _, _, name, _ in SETTINGS.values())


class _Need(NamedTuple):
    """What an end has to let be in flight of one flow."""

    host: str
    goal_bps: float
    """That it is for."""
    needed_bytes: int
    window_bytes: int
    """The same, in whole steps."""
    settings: tuple[HostSetting, ...]
    """What is to be set."""
    capped_bytes: int | None
    """About what it lets be in flight then, where memory or the largest number may allow less than needed."""
    is_enough: bool
    """Whether it is known to let so much be in flight then."""


def window_settings(
    rows: Sequence[TrialRow],
    most_bps: float,
    hosts: HostFacts,
    chosen: Setting,
    names: Mapping[str, str],
) -> Iterator[tuple[HostSetting, str]]:
    """Say what lets one flow carry what more flows, or larger windows, were seen to, each with a reason.

    Args:
        rows: Today's trials that a window held back, with a goodput.
        most_bps: What was seen.
        hosts: What was recorded of the hosts.
        chosen: What carried it.
        names: What sentences call hosts, where that is not as plans do.

    Returns:
        Settings of both ends, as what is raised at one shows the bound of the other; for no more than the
        largest window of TCP carries. Where one of them cannot
        be raised as far, the other is raised no further than is of use, and the reasons say that what was
        chosen is still needed. Nothing where the end that held most of these trials back has nothing that can
        be raised.
    """
    slowest = min(rows, key=goodput_of)
    ((verdict, _),) = Counter(row["verdict"] for row in rows).most_common(1)
    limiting: Side = "send" if verdict == "send window" else "receive"
    seen_bytes = bandwidth_delay_bytes(max(map(goodput_of, rows)), (slowest["rtt_min_ms"] or 0.0) / 1_000)
    one_flow_bps = _largest_window_bps(slowest)
    needs = _needs(slowest, min(most_bps, one_flow_bps), hosts, seen_bytes)
    least = _least(needs)
    instead = _instead(needs, slowest, chosen, names, one_flow_bps if one_flow_bps < most_bps else None)
    if least is not None:
        needs = _bounded(needs, least, slowest, hosts, seen_bytes)
    if limiting not in needs or not needs[limiting].settings:
        return
    for need in needs.values():
        for one in need.settings:
            reason = _reason(one, need, hosts, instead)
            if one.name in _BUFFERS and most_buffer_bytes(hosts, one.host, slowest["flows"]) is None:
                reason += " Its memory for TCP was not recorded."
            yield one, reason


def _largest_window_bps(row: TrialRow) -> float:
    """What one flow carries at most, whatever is set; a byte less, since what is needed is rounded up."""
    rtt_ms = row["rtt_min_ms"]
    return float(window_bps(WINDOW_MAX_BYTES - 1, rtt_ms / 1_000)) if rtt_ms else math.inf


def _needs(row: TrialRow, goal_bps: float, hosts: HostFacts, seen_bytes: float) -> dict[Side, _Need]:
    """Of each end that does not allow it already; `seen_bytes`: what both let be in flight today."""
    found = {side: _need(row, side, goal_bps, hosts, seen_bytes) for side in SETTINGS}
    return {side: need for side, need in found.items() if need is not None}


def _need(row: TrialRow, side: Side, goal_bps: float, hosts: HostFacts, seen_bytes: float) -> _Need | None:
    of_side = cast("TrialRow", {**row, "verdict": f"{side} window"})
    advice = window_advice(of_side, path_bps=goal_bps, hosts=hosts)
    settings = () if advice is None else advice.settings
    if advice is None or not any(one.name in _BUFFERS for one in settings):
        host = row["src"] if side == "send" else row["dst"]
        needed = math.ceil(bandwidth_delay_bytes(goal_bps, (row["rtt_min_ms"] or 0.0) / 1_000))
        bounds = recorded(hosts, host, SETTINGS[side][2])
        allowed = None if bounds is None else _in_flight_bytes(side, hosts, host, bounds[-1], seen_bytes)
        if allowed is not None and allowed < needed and goodput_of(row) < NOTHING_GAINED * goal_bps:
            # It is as high already as the memory for TCP, or the largest number, lets it be.
            return _Need(host, goal_bps, needed, needed, settings, allowed, is_enough=False)
    if advice is None:
        return None
    capped_bytes = advice.capped_bytes
    for one in settings:
        if capped_bytes is not None and one.name in _BUFFERS:
            in_flight = _in_flight_bytes(side, hosts, one.host, one.numbers[-1], seen_bytes)
            capped_bytes = min(in_flight, advice.needed_bytes)
    size = advice.needed_bytes, advice.window_bytes
    return _Need(advice.host, goal_bps, *size, settings, capped_bytes, is_enough=advice.is_enough)


def _in_flight_bytes(side: Side, hosts: HostFacts, host: str, buffer_bytes: int, seen_bytes: float) -> int:
    """About what a bound of autotuning lets be in flight: its usual share, or more where more was seen."""
    share = tuned_share(side, hosts, host)
    in_force = recorded(hosts, host, SETTINGS[side][2])
    if in_force is not None and in_force[-1] > 0:
        share = max(share, seen_bytes / in_force[-1])
    return int(buffer_bytes * share)


def _least(needs: Mapping[Side, _Need]) -> _Need | None:
    """Of the end that lets least be in flight whatever is set."""
    known = [need for need in needs.values() if need.capped_bytes is not None]
    return min(known, key=lambda need: need.capped_bytes or 0, default=None)


def _most_bps(least: _Need, row: TrialRow) -> float:
    """About what an end that cannot be raised further lets one flow carry."""
    return float(window_bps(least.capped_bytes or 0, (row["rtt_min_ms"] or 0.0) / 1_000))


def _bounded(
    needs: Mapping[Side, _Need], least: _Need, row: TrialRow, hosts: HostFacts, seen_bytes: float
) -> dict[Side, _Need]:
    """What both ends need for as much as the least of them allows."""
    again = _needs(row, _most_bps(least, row), hosts, seen_bytes)
    found: dict[Side, _Need] = {}
    for side, need in needs.items():
        if need is least or (side in again and again[side].capped_bytes is not None):
            found[side] = need
        elif side in again:
            found[side] = again[side]
    return found


def _instead(
    needs: Mapping[Side, _Need],
    row: TrialRow,
    chosen: Setting,
    names: Mapping[str, str],
    one_flow_bps: float | None,
) -> str:
    """Say whether what is set takes the place of what was chosen.

    Args:
        needs: Of both ends.
        row: Of today's setting.
        chosen: What was.
        names: What sentences call hosts.
        one_flow_bps: What one flow carries at most, where that is less than was seen.
    """
    others = [counted(chosen.flows, "flow")] if chosen.flows > 1 else []
    if chosen.window_bytes is not None:
        others.append(f"{format_size(chosen.window_bytes)} windows")
    words = " and ".join(others)
    least = _least(needs)
    if least is not None:
        most_bps = _most_bps(least, row)
        # By what was seen it may be enough, by the usual share it may not.
        less = "less" if most_bps >= least.goal_bps else f"no more than about {format_rate(most_bps)}"
        return f"Keep {words}: without, {names.get(least.host, least.host)} may let one flow carry {less}."
    unknown = next((need.host for need in needs.values() if not need.is_enough), None)
    if unknown is not None:
        return f"Keep {words}: what {names.get(unknown, unknown)} lets one flow carry was not recorded."
    if one_flow_bps is not None and chosen.flows > 1:
        return (
            f"Keep {words}: one flow carries no more than about {format_rate(one_flow_bps)}, whatever is set."
        )
    return f"It is an alternative to {words}: not both are needed."


def _reason(one: HostSetting, need: _Need, hosts: HostFacts, instead: str) -> str:
    if one.name in USELESS_WITHOUT:
        return f"Not tried: without it {USELESS_WITHOUT[one.name]}."
    goal = format_rate(need.goal_bps)
    if need.capped_bytes is not None:
        needed = f"{format_size(need.needed_bytes)} would be needed for {goal}"
        lets = capped_buffer(need.capped_bytes, one.numbers[-1], hosts, need.host)
        return f"Computed, not tried: it {lets}. {needed}. {instead}"
    size = format_size(need.window_bytes)
    return f"Computed, not tried: it should let about {size} of one flow be in flight, for {goal}. {instead}"
