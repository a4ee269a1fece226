"""What to set, and on which host, where a window limits."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from flowsweep.analysis.findings.host_settings import (
    SCALING,
    SETTINGS,
    SYSCTL_MAX,
    TUNES_RECEIVE,
    USELESS_WITHOUT,
    HostFacts,
    HostSetting,
    Side,
    capped,
    most_tuned_bytes,
    raised,
    recorded,
    tuned_share,
)
from flowsweep.analysis.summarising.trial_row import TrialRow, goodput_of, quantity_of
from flowsweep.analysis.theory import bandwidth_delay_bytes
from flowsweep.analysis.verdicts import QUEUE, RECEIVE_WINDOW, SEND_WINDOW
from flowsweep.tests import facts_of
from flowsweep.wording import format_size

_UNSCALED_BYTES = 65_535
WINDOW_MAX_BYTES = _UNSCALED_BYTES << 14
"""No TCP connection has more in flight: 16 bits, shifted by 14 at most (RFC 7323, section 2.3)."""
_STEP_BYTES = 64 * 1024
"""Windows are asked for in whole steps of this."""
_SMALL_STEP_BYTES = 16 * 1024
"""Those of less than one step in steps of this: far more than is needed would only fill a queue."""
NOTHING_GAINED = 0.97
"""Goodput at this share of what the path carries leaves nothing to gain."""


@dataclass(frozen=True, slots=True)
class WindowAdvice:
    """How to lift a window that limits."""

    side: Side
    host: str
    """That has too small a window: the source for a send window, the sink for a receive window."""
    needed_bytes: int
    """What one flow must be able to have in flight."""
    window_bytes: int
    """What to ask for, per flow."""
    asked: bool
    """Whether the plan asks for windows; else the kernel's autotuning is held back."""
    settings: tuple[HostSetting, ...]
    """What must be set, all of it together: first what makes every larger window useless, at both ends, then
    what bounds the window. Without what hosts were seen to allow already, and what they did not tell."""
    capped_bytes: int | None
    """What they let be in flight, about, where TCP has too little memory on that host for what is needed."""
    sentence: str


def window_advice(
    row: TrialRow, *, path_bps: float | None, hosts: HostFacts | None = None
) -> WindowAdvice | None:
    """Say what would lift the window that limits a trial. No value that it names is below one in force.

    Args:
        row: Of a summary, with the verdict "send window" or "receive window".
        path_bps: Payload that the path carries (bit/s); None if that is not known.
        hosts: What is recorded of the campaign's hosts: their settings bound what is advised from below.

    Returns:
        None for another verdict, where the path's rate or round trip is not known, where the trial came to
        97 % of the path's rate, and where it asked for as much, or its host allows autotuning as much,
        already: then nothing is gained. Where a host does not scale or tune windows at all, that is to be
        set, too; what no window can be is said.

    Method:
        All flows together need bandwidth × delay in flight (RFC 6349, section 3.3.1), with the least round
        trip that was seen. On Linux what is granted is twice what is asked for, and at least 1.14 of a
        receive window and 1.6 of a send window that were asked for is usable
        (docs/explanation/windows.md), so that asking for what is needed is enough, in whole 64 KiB;
        `rmem_max` and `wmem_max` bound what may be asked for (socket(7), tcp(7)). Autotuned buffers get twice
        of it, or what `tuned_share` says, since they count memory, and no more than a quarter of what tcp_mem
        lets all connections have. A command is named only where the value in force is recorded: it could
        lower another.
    """
    sides: dict[str, Side] = {SEND_WINDOW: "send", RECEIVE_WINDOW: "receive"}
    # No setting of a host is in the way of windows that are none of its sockets.
    side = sides.get(row.get("verdict") or "") if facts_of(row["test"]).socket_windows else None
    if side is None or path_bps is None or not row["rtt_min_ms"]:
        return None
    if (row.get("sources") or 1) > 1 or (row.get("sinks") or 1) > 1:
        return None  # The hosts of a group may differ in what they have set.
    if (row.get("goodput_bps") or 0.0) >= NOTHING_GAINED * path_bps:
        return None
    needed = math.ceil(bandwidth_delay_bytes(path_bps, row["rtt_min_ms"] / 1_000) / row["flows"])
    step = _STEP_BYTES if needed > _STEP_BYTES else _SMALL_STEP_BYTES
    window = math.ceil(needed / step) * step
    host = row["src"] if side == "send" else row["dst"]
    in_force = window_in_force(row, side)
    asked = in_force is not None
    if in_force is not None and in_force >= window:
        return None
    remedies = _remedies(row, side, needed, window, hosts, asked=asked)
    if not remedies:
        return None
    words = ", and ".join(one.words for one in remedies)
    settings = tuple(one for each in remedies for one in each.settings)
    sentence = f"{_lead(row, side, host, needed)}: {words}."
    return WindowAdvice(side, host, needed, window, asked, settings, remedies[-1].capped_bytes, sentence)


def _lead(row: TrialRow, side: Side, host: str, needed_bytes: int) -> str:
    """What it takes; `needed_bytes`: of one flow."""
    needed = format_size(needed_bytes)
    flows = "" if row["flows"] == 1 else f" for each of {row['flows']} flows"
    at_moments = quantity_of(row, "window_usable_bytes") or 0.0
    if side == "receive" or at_moments < needed_bytes:
        return f"To fill the path, {host} needs a {side} window of at least {needed}{flows}"
    # The buffer limits the writer: more than it holds may be in flight, though not all of the time.
    return (
        f"To fill the path, {needed} have to be in flight all of the time{flows}, and the send window of "
        f"{host} lets them be at moments only (up to {format_size(at_moments)})"
    )


def window_in_force(row: TrialRow, side: Side) -> int | None:
    """Return the window that a trial asked for, or what the kernel made of it; None if it asked for none."""
    send = side == "send"
    asked_bytes = row["window_send_bytes"] if send else row["window_recv_bytes"]
    granted_bytes = row.get("window_granted_send_bytes") if send else row.get("window_granted_recv_bytes")
    if asked_bytes is None or granted_bytes is None or not row.get("window_clipped"):
        return asked_bytes
    return min(asked_bytes, granted_bytes // 2)


def _key_of_plan(row: TrialRow, side: Side) -> str:
    """What a plan has to say, given a size, where a trial's windows were asked for."""
    if row.get("window_bytes") is None:
        return f'`{SETTINGS[side][0]} = "{{}}"` in the plan'
    return '`window = "{}"` in the plan, or as much for each flow in `window_sum`'


class _Remedy(NamedTuple):
    """What to set, and the words for it."""

    settings: tuple[HostSetting, ...]
    words: str
    capped_bytes: int | None = None


def _remedies(
    row: TrialRow, side: Side, needed_bytes: int, window_bytes: int, hosts: HostFacts | None, *, asked: bool
) -> list[_Remedy]:
    """All that has to be done for a window; `asked`: the trial asked for one."""
    if needed_bytes > WINDOW_MAX_BYTES:
        more = math.ceil(needed_bytes * row["flows"] / WINDOW_MAX_BYTES)
        return [_Remedy((), f"more than any TCP connection can have (RFC 7323), so it takes {more} flows")]
    host = row["src"] if side == "send" else row["dst"]
    ends = (row["src"], row["dst"])
    found = list(_in_the_way(needed_bytes, ends, hosts, tuned=side == "receive" and not asked))
    there = {one.host for each in found for one in each.settings} <= {host}
    where = "there" if there else f"at {host}"
    key = _key_of_plan(row, side) if asked else None
    return [*found, *_raising(side, host, window_bytes, hosts, key=key, where=where)]


def _in_the_way(
    needed_bytes: int, ends: tuple[str, str], hosts: HostFacts | None, *, tuned: bool
) -> Iterator[_Remedy]:
    """What makes every larger buffer useless; `tuned`: the receiver's kernel chooses the window."""
    unscaled = [end for end in ends if recorded(hosts, end, SCALING) == (0,)]
    if needed_bytes > _UNSCALED_BYTES and unscaled:
        scaling = tuple(HostSetting(end, SCALING, (1,)) for end in unscaled)
        where = " and at ".join(unscaled)
        words = f"`{scaling[0].command}` at {where}, without which {USELESS_WITHOUT[SCALING]}"
        yield _Remedy(scaling, words)
    if tuned and recorded(hosts, ends[1], TUNES_RECEIVE) == (0,):
        tuning = HostSetting(ends[1], TUNES_RECEIVE, (1,))
        where = "there" if set(unscaled) <= {ends[1]} else f"at {ends[1]}"
        words = f"`{tuning.command}` {where}, without which {USELESS_WITHOUT[TUNES_RECEIVE]}"
        yield _Remedy((tuning,), words)


def _raising(
    side: Side, host: str, window_bytes: int, hosts: HostFacts | None, *, key: str | None, where: str
) -> Iterator[_Remedy]:
    """The setting that bounds the window; nothing where it allows autotuning as much already.

    `key`: of the plan, where it asks for windows; `where`: the host, in words.
    """
    _, bound, autotuning, first = SETTINGS[side]
    share = tuned_share(side, hosts, host)
    tuned = min(math.ceil(window_bytes / share), SYSCTL_MAX)
    name, wanted = (autotuning, (*first, tuned)) if key is None else (bound, (window_bytes,))
    in_force = recorded(hosts, host, name)
    if in_force is None or len(in_force) != len(wanted):
        words = f"{name} {where}, which was not recorded, has to be {wanted[-1]} or more"
        yield _Remedy((), _asking(key, window_bytes) + words)
        return
    most = most_tuned_bytes(hosts, host) if key is None else None
    capped_bytes = None
    if most is not None and most < tuned:
        wanted, capped_bytes = (*first, most), int(most * share)
    numbers = raised(wanted, in_force)
    if numbers is not None:
        setting = HostSetting(host, name, numbers)
        less = "" if capped_bytes is None else f", which {capped(capped_bytes)}"
        words = f"{_asking(key, window_bytes)}`{setting.command}` {where}{less}"
        yield _Remedy((setting,), words, capped_bytes)
    elif key is not None:
        yield _Remedy((), f"{_asking(key, window_bytes)}{name} {where} allows it already")


def _asking(key: str | None, window_bytes: int) -> str:
    return "" if key is None else f"{key.format(f'{window_bytes // 1024}KiB')}, and "


def path_payload_bps(rows: Sequence[TrialRow]) -> float | None:
    """Say what payload a path carries (bit/s), as far as its trials tell.

    Args:
        rows: Of a summary, all of one direction.

    Returns:
        What the plan's links carry; for other paths the highest goodput of a trial that the path itself
        limited, which is what RFC 6349 takes for its rate; None if there is neither.
    """
    planned = [payload_bps for row in rows if (payload_bps := row.get("link_payload_bps")) is not None]
    if planned:
        return float(max(planned))
    return max((goodput_of(row) for row in rows if row.get("verdict") == QUEUE), default=None)
