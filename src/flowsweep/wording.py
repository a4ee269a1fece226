"""For people: words for quantities with 3 significant digits, counts, directions, windows.

The same thing is said in the same words in tables, figures, pages and messages. Text that a plan can read
back is in `flowsweep.units`.
"""

import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from flowsweep.computed_defaults import lab_queue_bytes
from flowsweep.tests import facts_of
from flowsweep.units import DURATION_UNITS, RATE_UNITS, SIZE_UNITS

NO_BREAK_SPACE = "\u00a0"
_BLANK = f"\n\t{NO_BREAK_SPACE}"
_SMALLEST_P = 0.001
_NOT_PRINTABLE = "\ufffd"


def printable(text: str) -> str:
    """Put a mark in place of characters that a terminal acts on or that hide others; lines stay lines.

    For text that somebody else wrote: in files, in names of files, on hosts.
    """
    return "".join(each if each.isprintable() or each in _BLANK else _NOT_PRINTABLE for each in text)


def is_utf8(text: str) -> bool:
    """Whether a word of the command line, or a path, was UTF-8: of other bytes Python makes surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def format_rate(rate_bps: float) -> str:
    """Show a rate in bit/s with 3 significant digits: "193 Mbit/s", "5.20 Gbit/s"."""
    return _engineering(rate_bps, RATE_UNITS)


def format_size(size_bytes: float) -> str:
    """Show a size in bytes: "512 KiB" or "8 KB" where that is exact, else 3 significant digits: "1.10 MB"."""
    return (
        _exact(size_bytes, _BINARY_UNITS, below=_BINARY_COUNTS_BELOW)
        or _exact(size_bytes, _DECIMAL_UNITS, below=1_000)
        or _engineering(size_bytes, _DECIMAL_UNITS)
    )


def format_sizes(*sizes_bytes: float, binary: bool) -> tuple[str, ...]:
    """Show sizes in bytes that are compared, all in KiB and so on, or all in KB and so on."""
    units, below = (_BINARY_UNITS, _BINARY_COUNTS_BELOW) if binary else (_DECIMAL_UNITS, 1_000)
    return tuple(_exact(size, units, below) or _engineering(size, units) for size in sizes_bytes)


def format_sizes_alike(*sizes_bytes: float) -> tuple[str, ...]:
    """Show sizes in bytes in one binary unit, that of the first, whole or all with 3 significant digits."""
    first = _rounded(sizes_bytes[0])
    unit = next((unit for unit, factor in reversed(_BINARY_UNITS.items()) if first >= factor), "KiB")
    counts = [size / _BINARY_UNITS[unit] for size in sizes_bytes]
    if all(count == round(count) for count in counts):
        return tuple(f"{count:.0f} {unit}" for count in counts)
    return tuple(f"{format_number(count)} {unit}" for count in counts)


def format_duration(duration_ns: float) -> str:
    """Show a duration in nanoseconds: "2 h 5 min", "12 min 30 s", "30 s" where exact, else "1.20 ms"."""
    if duration_ns == 0:
        return "0 s"
    if duration_ns < 0:
        return "-" + format_duration(-duration_ns)
    if _rounded(duration_ns) < DURATION_UNITS["min"]:
        exact = _exact(duration_ns, _SHORT_DURATION_UNITS, below=1_000)
        return exact or _engineering(duration_ns, _SHORT_DURATION_UNITS)
    seconds = round(duration_ns / DURATION_UNITS["s"])
    minutes, seconds = divmod(seconds, 60)
    if minutes < 60:
        return f"{minutes} min {seconds} s" if seconds else f"{minutes} min"
    hours, minutes = divmod(round(minutes + seconds / 60), 60)
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"


def format_seconds(time_s: float) -> str:
    """Show a time in seconds as `format_duration` does."""
    return format_duration(time_s * DURATION_UNITS["s"])


def format_milliseconds(time_ms: float) -> str:
    """Show a time in milliseconds as `format_duration` does."""
    return format_duration(time_ms * DURATION_UNITS["ms"])


def format_share(share: float) -> str:
    """Show a share of 1 as a percentage with 3 significant digits: 0.987 is "98.7 %"."""
    return f"{format_number(share * 100)} %"


def format_number(value: float) -> str:
    """Show a number with 3 significant digits and without an exponent: "0.0512", "5.20", "193", "5200"."""
    rounded = _rounded(value)
    if rounded == 0:
        return "0"
    if not math.isfinite(rounded):
        return str(rounded)
    decimals = max(0, 2 - math.floor(math.log10(abs(rounded))))
    return f"{rounded:.{decimals}f}"


def format_change(percent: float, low: float, high: float, *, signed: bool = False) -> str:
    """Show a relative change with its interval, 3 significant digits at most: "0.4 % [−0.3, 1.1]".

    `signed`: with a plus sign, too: "+0.4 % [−0.3, +1.1]".
    """
    digits = _percent_digits(percent, low, high)
    shift, least, most = (_percent(value, digits, signed=signed) for value in (percent, low, high))
    return f"{shift} % [{least}, {most}]"


def format_percent(percent: float, *, signed: bool = False) -> str:
    """Show a relative change: "−0.4 %", "120 %"; `signed`: "+120 %"."""
    return f"{_percent(percent, _percent_digits(percent), signed=signed)} %"


def rounds_to_nothing(percent: float, low: float, high: float) -> bool:
    """Whether `format_change` shows a change as 0.0 %: then nothing is more or less by it."""
    return round(percent, _percent_digits(percent, low, high)) == 0


def _percent_digits(*percents: float) -> int:
    return 1 if max(map(abs, percents)) < 100 else 0


def _percent(value: float, digits: int, *, signed: bool = False) -> str:
    # Adding 0 takes the sign from what was rounded to 0.
    rounded = round(value, digits) + 0.0
    plus = "+" if signed and rounded > 0 else ""
    return f"{plus}{rounded:.{digits}f}".replace("-", "−")


def format_p(value: float) -> str:
    """Write a p-value: "p = 0.0213", "p < 0.001"."""
    return f"p < {_SMALLEST_P}" if value < _SMALLEST_P else f"p = {format_number(value)}"


def some_of(count: int, of: int, noun: str) -> str:
    """Say how many of some there are: "2 of 3 trials"; of all, "3 trials"."""
    return counted(of, noun) if count == of else f"{count} of {counted(of, noun)}"


def all_of(count: int, noun: str) -> str:
    """Say that it is all there are: "the only trial", "both trials", "all 3 trials"."""
    if count == 1:
        return f"the only {noun}"
    return f"both {noun}s" if count == 2 else f"all {count} {noun}s"


def format_margin(margin: float) -> str:
    """Show a margin, which a person chose, as a percentage: 0.03 is "3 %"."""
    return f"{margin * 100:g} %"


def either_way(share: float) -> str:
    """Show how far off something may be, either way: 0.0204 is "±2 %"."""
    return f"±{share * 100:.2g} %"


def units_kept(text: str) -> str:
    """Put a space that no line breaks at between each number and its unit."""
    return re.sub(r"(?<=\d) (?=[A-Za-zµ%×])", NO_BREAK_SPACE, text)


def with_interval(write: Callable[[float], str], value: float, low: float | None, high: float | None) -> str:
    """Show a value, and its interval if that is known: "9.41 Gbit/s [9.38 Gbit/s, 9.44 Gbit/s]"."""
    return write(value) if low is None or high is None else f"{write(value)} [{write(low)}, {write(high)}]"


def counted(count: int, what: str, several: str = "") -> str:
    """Say how many: "1 trial", "2 trials", "0 trials"; `several` where that is not `what` and an s."""
    return f"{count} {what}" if count == 1 else f"{count} {several or f'{what}s'}"


def direction(src: str, dst: str, *, simultaneous: bool = False) -> str:
    """Name the two hosts of a trial, source first: "a → b", or "a ⇄ b" where both ways run at once."""
    return f"{src} {'⇄' if simultaneous else '→'} {dst}"


def direction_of(row: Mapping[str, Any]) -> str:
    """Name the two hosts of a row of the summary, likewise."""
    return direction(row["src"], row["dst"], simultaneous=bool(row.get("simultaneous")))


def hosts_of_groups(sources: int | None, sinks: int | None) -> str:
    """Show how many hosts send and receive, where that are not one and one: "4 × 4"."""
    return "" if (sources or 1, sinks or 1) == (1, 1) else f"{sources} × {sinks}"


def format_mode(mode: str) -> str:
    """Show how bytes got into and out of the kernel or of files, and what that leaves out of the picture."""
    return _MODES.get(mode, mode)


def modes_differ(modes: Collection[str | None]) -> bool:
    """Whether a mode must be said to tell things apart; None: of a test that has none."""
    return len(set(modes) - {None}) > 1


def several_tests(rows: Iterable[Mapping[str, Any]]) -> bool:
    """Whether the test must be said to tell trials of one sweep apart: imported ones may be of several."""
    return len({row.get("test") for row in rows} - {None}) > 1


def name_of_test(test: str) -> str:
    """Write a test as its protocol is called: "TCP"."""
    return test.upper()


def both_windows(send_bytes: int | None, recv_bytes: int | None, *, none: str = "auto") -> str:
    """Show the windows of both ends, once if they are alike: "64 KiB", "64 KiB / auto"."""
    send, receive = (none if size is None else format_size(size) for size in (send_bytes, recv_bytes))
    return send if send == receive else f"{send} / {receive}"


def asked_windows(trial: Mapping[str, Any]) -> str:
    """Show the windows that a trial asked for; "auto" is said of TCP only, where the kernel tunes them.

    A window that the file of an imported trial does not say may have been any: "64 KiB (send)".
    """
    send, receive = sizes = trial.get("window_send_bytes"), trial.get("window_recv_bytes")
    if trial.get("imported_from") and None in sizes:
        return " ".join(
            f"{format_size(size)} ({end})" for end, size in (("send", send), ("receive", receive)) if size
        )
    return "" if not facts_of(trial["test"]).windows_tuned and sizes == (None, None) else both_windows(*sizes)


def asked_duration(trial: Mapping[str, Any]) -> str:
    """Show how long a trial was to last; of a path how long it might have, since it ends with its answers."""
    if trial["duration_s"] is None:
        return ""
    duration = format_seconds(trial["duration_s"])
    if trial.get("until_share"):
        return f"until known to {either_way(trial['until_share'])}, up to {duration}"
    return f"up to {duration}" if facts_of(trial["test"]).ends_early else duration


HELD_BY = {
    "slow_start": "slow start of a flow was not over",
    "too_short": "what counts was too short to tell",
    "window_grows": "a flow's window still grew and had not met what limits it",
    "spread": "it varied too much",
    "trend": "it rose or fell",
}
"""Why a mean was not known when a trial's time was over."""


def lasted_words(trial: Mapping[str, Any]) -> str:
    """Show how long a trial lasted that may end early, and whether it knew: nothing of any other."""
    if not trial.get("ended_by"):
        return ""
    return f"{format_seconds(trial['lasted_s'])}, {'known' if trial['ended_by'] == 'known' else 'not known'}"


def ending_words(trial: Mapping[str, Any]) -> str:
    """Say how a trial ended that may end early: nothing of any other."""
    if not trial.get("ended_by"):
        return ""
    lasted, omitted = format_seconds(trial["lasted_s"]), format_seconds(trial["omit_s"])
    share = trial["half_width_share"]
    width = "" if share is None else f" to {either_way(share)}"
    counts = f"what counts begins {omitted} after the start"
    if trial["ended_by"] == "known":
        return f"It ended after {lasted}, when its mean was known{width}; {counts}."
    why = HELD_BY[trial["held_by"]]
    asked = either_way(trial["until_share"])
    return f"Its mean was not known to {asked} after {lasted}: {why}; {counts}."


def window_marks(trial: Mapping[str, object]) -> str:
    """Say what became of a trial's windows: "capped" at window_max, "clipped" or "raised" by the kernel."""
    return ", ".join(word for word in ("capped", "clipped", "raised") if trial.get(f"window_{word}"))


def link_words(link: Mapping[str, Any]) -> str:
    """Describe an emulated link, as `Link.model_dump()` has it: "left and right, …, delay 10 ms one way"."""
    ends = ", ".join(link["between"][:-1]) + f" and {link['between'][-1]}"
    if hops := link.get("hops"):
        numbered = (f"hop {number}: {_way_words(hop)}" for number, hop in enumerate(hops, start=1))
        return f"{ends}, {'; '.join(numbered)}"
    if len(link["between"]) > 2:
        return f"a switch of {ends}, each port {_direction_words(link['forward'])}"
    return f"{ends}, {_way_words(link)}"


def _way_words(link: Mapping[str, Any]) -> str:
    forward, backward = link["forward"], link["backward"]
    if forward == backward:
        return _direction_words(forward)
    return f"there {_direction_words(forward)}; back {_direction_words(backward)}"


def _direction_words(way: Mapping[str, Any]) -> str:
    if members := way.get("members"):
        numbered = (f"path {number}: {_member_words(member)}" for number, member in enumerate(members, 1))
        return f"each flow on one of {len(members)} paths ({'; '.join(numbered)})"
    words = [f"{format_rate(way['rate_bps'])} of IP packets" if way["rate_bps"] else "unlimited rate"]
    if way["delay_ns"]:
        jitter = f" ± {format_duration(way['jitter_ns'])}" if way["jitter_ns"] else ""
        words.append(f"delay {format_duration(way['delay_ns'])}{jitter} one way")
    if way["reorder"]:
        words.append("reorders")
    if way["loss"]:
        words.append(f"loss {way['loss'] * 100:g} %")
    if duplicate := way.get("duplicate"):
        words.append(f"duplicates {duplicate * 100:g} %")
    if policer := way.get("policer"):
        burst = format_size(policer["burst_bytes"])
        words.append(f"policed to {format_rate(policer['rate_bps'])} with bursts of {burst}")
    if cross := way.get("cross"):
        words.append(_cross_words(cross))
    return ", ".join([*words, *_queue_words(way)])


def _queue_words(way: Mapping[str, Any]) -> Iterator[str]:
    if way["queue_bytes"]:
        yield f"queue {format_size(way['queue_bytes'])}"
    if way["queue_packets"]:
        yield f"queue {counted(way['queue_packets'], 'packet')}"
    elif way["rate_bps"] and not way["queue_bytes"]:
        yield f"queue {format_size(lab_queue_bytes(way['rate_bps']))} (the default)"


def _member_words(member: Mapping[str, Any]) -> str:
    dscp = member.get("dscp")
    return _direction_words(member) if dscp is None else f"for DSCP {dscp}, {_direction_words(member)}"


def _cross_words(cross: Mapping[str, Any]) -> str:
    size = format_size(cross["packet_bytes"])
    words = f"cross traffic of {format_rate(cross['rate_bps'])} in packets of {size}"
    if cross["on_ns"] is None:
        return words
    drawn = ", drawn" if cross["poisson"] else ""
    on, off = (format_duration(cross[name]) for name in ("on_ns", "off_ns"))
    return f"{words} ({on} on, {off} off{drawn})"


_MODES = {
    "zerocopy": "zerocopy: the source's memory plays no part",
    "discard": "discard: the memory of both ends plays no part",
    "read": "read: the source's storage alone",
    "network": "network: the network alone",
    "write": "write: the sink's storage alone",
}

_BINARY_UNITS = {unit: SIZE_UNITS[unit] for unit in ("KiB", "MiB", "GiB", "TiB")}
_DECIMAL_UNITS = {unit: SIZE_UNITS[unit] for unit in ("B", "KB", "MB", "GB", "TB")}
_SHORT_DURATION_UNITS = {unit: DURATION_UNITS[unit] for unit in ("ns", "us", "ms", "s")}
_BINARY_COUNTS_BELOW = 10_000
"""1536 KiB says more than 1.57 MB; 123456 KiB does not."""


def _exact(value: float, units: dict[str, int], below: int) -> str | None:
    """Show a whole number of the largest unit that divides the value, if that is a short one."""
    for unit, factor in reversed(units.items()):
        count, rest = divmod(value, factor)
        if rest == 0 and 1 <= count < below:
            return f"{count:.0f} {unit}"
    return None


def _engineering(value: float, units: dict[str, int]) -> str:
    """Show 3 significant digits in the largest unit that leaves at least 1 before the point."""
    smallest = next(iter(units))
    unit = next(
        (unit for unit, factor in reversed(units.items()) if abs(_rounded(value)) >= factor), smallest
    )
    return f"{format_number(value / units[unit])} {unit}"


def _rounded(value: float) -> float:
    return float(f"{value:.3g}")


def retired_words(retired_at: Mapping[str, datetime]) -> str | None:
    """Say of how many trials there is a summary alone, by trial_id and when samples went; None: of none."""
    if not retired_at:
        return None
    last = max(retired_at.values())
    these = "this trial" if len(retired_at) == 1 else "these trials"
    return (
        f"samples of {counted(len(retired_at), 'trial')} were retired, the last on {last:%Y-%m-%d}, as the "
        f"plan says: for {these} the summary made before is all that is left"
    )
