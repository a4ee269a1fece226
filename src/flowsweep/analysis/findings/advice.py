"""What to set, and on which host, where a window limits."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from flowsweep.analysis.background.words import background_names
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
    capped_buffer,
    most_buffer_bytes,
    raised,
    recorded,
    tuned_share,
)
from flowsweep.analysis.summarising.trial_row import TrialRow, goodput_of, quantity_of
from flowsweep.analysis.theory import bandwidth_delay_bytes
from flowsweep.analysis.verdicts import QUEUE, RECEIVE_WINDOW, SEND_WINDOW
from flowsweep.hosts.namespaces import where_written
from flowsweep.tests import facts_of
from flowsweep.wording import format_size

_UNSCALED_BYTES = 65_535
WINDOW_MAX_BYTES = _UNSCALED_BYTES << 14
"""No TCP connection has more in flight: 16 bits, shifted by 14 at most (RFC 7323, section 2.3)."""
_STEP_BYTES = 64 * 1024
"""Windows are asked for in whole steps of this."""
_SMALL_STEP_BYTES = 16 * 1024
"""Those of less than one step in steps of this: far more than is needed would only fill a queue."""
_STRIPPED = (
    f"no setting of the hosts gives it that: {SCALING} is 1 at both, and yet {USELESS_WITHOUT[SCALING]}, "
    "since something on the way, such as a firewall, takes TCP's window scale option out of handshakes; "
    "have it let that through"
)
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
    """What they let be in flight, about, where that is less than needed: TCP has too little memory on that
    host, or Linux takes no number as large."""
    is_enough: bool
    """Whether one flow has what is needed once all of that is set, as far as hosts told."""
    sentence: str

    @property
    def bound(self) -> tuple[Side, bool]:
        """What bounds it on its host; windows that no connection can have are the same, asked for or not."""
        return self.side, self.asked and self.needed_bytes <= WINDOW_MAX_BYTES


def window_advice(
    row: TrialRow, *, path_bps: float | None, hosts: HostFacts | None = None
) -> WindowAdvice | None:
    """Say what would lift the window that limits a trial. No value that it names is below one in force.

    Args:
        row: Of a summary, with the verdict "send window" or "receive window".
        path_bps: Payload that the path carries (bit/s); None if that is not known. What traffic beside the
            trial carried is not the trial's to gain, as far as that is known.
        hosts: What is recorded of the campaign's hosts: their settings bound what is advised from below.

    Returns:
        None for another verdict, where the path's rate or round trip is not known, where the trial came to
        97 % of the path's rate, and where it asked for as much, or its host allows autotuning as much,
        already: then nothing is gained. Where a host does not scale or tune windows at all, that is to be
        set, too; what no window can be is said, and that the way keeps both hosts from scaling them.

    Method:
        All flows together need bandwidth × delay in flight (RFC 6349, section 3.3.1), with the minimum round
        trip that was seen. On Linux what is granted is twice what is asked for, and at least 1.14 of a
        receive window and 1.6 of a send window that were asked for is usable
        (docs/explanation/windows.md), so that asking for what is needed is enough, in whole 64 KiB;
        `rmem_max` and `wmem_max` bound what may be asked for (socket(7), tcp(7)). Autotuned buffers get twice
        of it, or what `tuned_share` says, since they count memory. The buffers of all flows together get no
        more than a quarter of what tcp_mem lets all connections have, as far as that was recorded. A command
        is named only where the value in force is recorded: it could lower another.
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
    host = _host(row, side)
    in_force = window_in_force(row, side)
    if in_force is not None and in_force >= window:
        return None
    asked, wanted = in_force is not None, window
    if asked and needed <= WINDOW_MAX_BYTES:
        window = _affordable(row, side, window, step, hosts)
    larger = in_force is None or in_force < window
    remedies = _remedies(row, side, needed, window, hosts, asked=asked, larger=larger)
    if not remedies:
        return None
    words = ", and ".join(one.words for one in remedies)
    capped_bytes = remedies[-1].capped_bytes
    if larger and window < wanted:
        small = _too_small(row, side, wanted, hosts)
        capped_bytes, words = window, f"{words}, which {capped(window, hosts, small, row['flows'])}"
    settings = tuple(one for each in remedies for one in each.settings)
    sentence = f"{_lead(row, side, host, needed)}: {words}."
    is_enough = capped_bytes is None and all(one.is_enough for one in remedies)
    return WindowAdvice(side, host, needed, window, asked, settings, capped_bytes, is_enough, sentence)


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


def _host(row: TrialRow, side: Side) -> str:
    return row["src"] if side == "send" else row["dst"]


def _asks_both(row: TrialRow) -> bool:
    """Whether a plan asks both ends for the same window: `window`, or `window_sum`."""
    return row.get("window_bytes") is not None


def _asked_sides(row: TrialRow, side: Side) -> tuple[Side, ...]:
    """The ends that are asked for a window along with one of them, which is the first."""
    other: Side = "receive" if side == "send" else "send"
    return (side, other) if _asks_both(row) else (side,)


def _asked_hosts(row: TrialRow, side: Side) -> tuple[str, ...]:
    return tuple(_host(row, end) for end in _asked_sides(row, side))


def _affordable(row: TrialRow, side: Side, window_bytes: int, step: int, hosts: HostFacts | None) -> int:
    """As much of a window that is asked for as TCP has memory for: Linux makes it a buffer of twice that."""
    most = (most_buffer_bytes(hosts, host, row["flows"]) for host in _asked_hosts(row, side))
    room = min((bytes_ for bytes_ in most if bytes_ is not None), default=None)
    return window_bytes if room is None else min(window_bytes, room // 2 // step * step)


def _too_small(row: TrialRow, side: Side, window_bytes: int, hosts: HostFacts | None) -> tuple[str, ...]:
    """The hosts that are asked for a window and of which TCP has too little memory for it."""
    most = {host: most_buffer_bytes(hosts, host, row["flows"]) for host in _asked_hosts(row, side)}
    return tuple(host for host, bytes_ in most.items() if bytes_ is not None and bytes_ // 2 < window_bytes)


class _Remedy(NamedTuple):
    """What to set, and the words for it."""

    settings: tuple[HostSetting, ...]
    words: str
    capped_bytes: int | None = None
    is_enough: bool = True
    """False where these words name nothing that can be set here, and more would be needed."""


def _remedies(
    row: TrialRow,
    side: Side,
    needed_bytes: int,
    window_bytes: int,
    hosts: HostFacts | None,
    *,
    asked: bool,
    larger: bool,
) -> list[_Remedy]:
    """All that has to be done for a window; `asked`: one was asked for; `larger`: there is room for more."""
    if needed_bytes > WINDOW_MAX_BYTES:
        more = math.ceil(needed_bytes * row["flows"] / WINDOW_MAX_BYTES)
        words = f"more than any TCP connection can have (RFC 7323), so it takes {more} flows"
        return [_Remedy((), words, is_enough=False)]
    if needed_bytes > _UNSCALED_BYTES and _stripped(row, hosts):
        return [_Remedy((), _STRIPPED, is_enough=False)]
    host = _host(row, side)
    found = list(
        _in_the_way(needed_bytes, (row["src"], row["dst"]), hosts, tuned=side == "receive" and not asked)
    )
    there = {one.host for each in found for one in each.settings} <= {host}
    where = "there" if there else f"at {host}"
    if not asked:
        return [*found, *_tuning(row, side, needed_bytes, window_bytes, hosts, where=where)]
    return [*found, *_asking(row, side, window_bytes, hosts, where=where)] if larger else found


def _stripped(row: TrialRow, hosts: HostFacts | None) -> bool:
    """Whether connections do not scale windows although the kernels of both ends do."""
    both = all(recorded(hosts, end, SCALING) == (1,) for end in (row["src"], row["dst"]))
    return both and row.get("windows_scaled") is False


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


def _tuning(
    row: TrialRow,
    side: Side,
    needed_bytes: int,
    window_bytes: int,
    hosts: HostFacts | None,
    *,
    where: str,
) -> Iterator[_Remedy]:
    """The bound of autotuning; nothing where it allows as much already. `where`: the host, in words."""
    host, (_, _, name, first) = _host(row, side), SETTINGS[side]
    share = tuned_share(side, hosts, host)
    tuned = min(math.ceil(window_bytes / share), SYSCTL_MAX)
    in_force = recorded(hosts, host, name)
    if in_force is None or len(in_force) != 1 + len(first):
        yield _Remedy((), _unrecorded(row, name, tuned, hosts, host, where=where), is_enough=False)
        return
    most = most_buffer_bytes(hosts, host, row["flows"])
    # A whole step may be more than the largest number allows where what is needed is not.
    is_capped = int(tuned * share) < needed_bytes
    if most is not None and most < tuned:
        tuned, is_capped = most, True
    numbers = raised((*first, tuned), in_force)
    if numbers is not None:
        setting = HostSetting(host, name, numbers)
        words = f"`{setting.command}` {where}{_memory(most)}"
        capped_bytes = int(tuned * share) if is_capped else None
        if capped_bytes is not None:
            words = f"{words}, which {capped_buffer(capped_bytes, tuned, hosts, host, row['flows'])}"
        yield _Remedy((setting,), words, capped_bytes)


def _asking(
    row: TrialRow, side: Side, window_bytes: int, hosts: HostFacts | None, *, where: str
) -> Iterator[_Remedy]:
    """What a plan has to say where it asks for windows, and the bound of what it may ask for.

    Where it asks both ends for the same, that of the other end as well: else that one refuses the next trial.
    """
    size = f"{window_bytes // 1024}KiB"
    own = f'`{SETTINGS[side][0]} = "{size}"` in the plan'
    both = f'`window = "{size}"` in the plan, or as much for each flow in `window_sum`'
    yield _Remedy((), both if _asks_both(row) else own)
    for end in _asked_sides(row, side):
        host, name = _host(row, end), SETTINGS[end][1]
        at_host = where if end == side else f"at {host}"
        facts = (hosts or {}).get(host, {}).get("sysctls")
        there = where_written(name, host, facts, otherwise=at_host)
        in_force = recorded(hosts, host, name)
        if in_force is None or len(in_force) != 1:
            words = _unrecorded(row, name, window_bytes, hosts, host, where=there)
            yield _Remedy((), words, is_enough=False)
        elif in_force[0] < window_bytes:
            setting = HostSetting(host, name, (window_bytes,))
            memory = _memory(most_buffer_bytes(hosts, host, row["flows"]))
            yield _Remedy((setting,), f"`{setting.command}` {there}{memory}")
        elif end == side:
            yield _Remedy((), f"{name} {at_host} allows it already")


def _unrecorded(
    row: TrialRow, name: str, wanted: int, hosts: HostFacts | None, host: str, *, where: str
) -> str:
    """What a setting has to be that nobody told; a server of another tool need not run on Linux."""
    if row.get("far_side") and not (hosts or {}).get(host):
        return (
            f"what bounds it {where}, of which nothing was recorded, has to be raised "
            f"(on Linux {name} to {wanted} or more)"
        )
    return f"{name} {where}, which was not recorded, has to be {wanted} or more"


def _memory(most_bytes: int | None) -> str:
    return " (its memory for TCP was not recorded)" if most_bytes is None else ""


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
    full = (row for row in rows if row.get("verdict") == QUEUE)
    return max(map(goodput_of, full), default=None)


def left_payload_bps(row: TrialRow, path_bps: float) -> float | None:
    """Say what a path that carries so much (bit/s) leaves to a trial.

    Returns:
        All of it where nothing ran beside the trial; else None: background traffic may go the other way, or
        along another path, and a trial's `share` is of all goodput.
    """
    return None if background_names(row) else path_bps
