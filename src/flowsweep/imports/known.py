"""What a person knows of tests beyond what their files say."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from flowsweep.defaults import (
    IMPORT_FLOWS_MAX,
    IMPORT_RATE_MAX_BPS,
    IMPORT_TIME_MAX_NS,
    IMPORT_WINDOW_MAX_BYTES,
    NAME_MAX_CHARACTERS,
)
from flowsweep.errors import PlanError
from flowsweep.imports.transfer import FlowReport, Transfer
from flowsweep.plan.readers import shown
from flowsweep.units import (
    QuantityError,
    parse_duration,
    parse_rate,
    parse_size,
    write_duration,
    write_rate,
    write_size,
)
from flowsweep.wording import counted, format_size, is_utf8


def _parse_role(text: str) -> str:
    if text not in ("source", "sink"):
        raise QuantityError(f'"{text}" is neither "source" nor "sink", the ends that may have counted')
    return text


def _parse_count(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 0 < int(text) <= IMPORT_FLOWS_MAX:
        raise QuantityError(f'"{text}" is no number of flows from 1 to {IMPORT_FLOWS_MAX}')
    return int(text)


def _parse_name(text: str) -> str:
    if not 0 < len(text) <= NAME_MAX_CHARACTERS:
        raise QuantityError(f"found {len(text)} characters, expected 1 to {NAME_MAX_CHARACTERS}")
    if not text.isprintable():
        raise QuantityError(f"found {shown(text)}, expected one line of characters that can be printed")
    return text


def _parse_bounded_size(text: str) -> int:
    if (size := parse_size(text)) > IMPORT_WINDOW_MAX_BYTES:
        raise QuantityError(f'"{text}" is too large: the most is {write_size(IMPORT_WINDOW_MAX_BYTES)}')
    if not size:
        raise QuantityError(f'"{text}" is too small: the least is 1B')
    return size


def _parse_bounded_duration(text: str) -> int:
    if (duration_ns := parse_duration(text)) > IMPORT_TIME_MAX_NS:
        raise QuantityError(f'"{text}" is too long: the most is {write_duration(IMPORT_TIME_MAX_NS)}')
    if not duration_ns:
        raise QuantityError(f'"{text}" is too short: nothing is sent in no time')
    return duration_ns


def _parse_bounded_rate(text: str) -> int:
    if (rate_bps := parse_rate(text)) > IMPORT_RATE_MAX_BPS:
        raise QuantityError(f'"{text}" is too high: the most is {write_rate(IMPORT_RATE_MAX_BPS)}')
    return rate_bps


_KEYS: dict[str, tuple[Callable[[str], Any], tuple[str, ...]]] = {
    "from": (_parse_name, ("src",)),
    "to": (_parse_name, ("dst",)),
    "flows": (_parse_count, ("flow_count",)),
    "window": (_parse_bounded_size, ("window_send_bytes", "window_recv_bytes")),
    "window_send": (_parse_bounded_size, ("window_send_bytes",)),
    "window_recv": (_parse_bounded_size, ("window_recv_bytes",)),
    "length": (_parse_bounded_size, ("length_bytes",)),
    "congestion": (_parse_name, ("congestion",)),
    "duration": (_parse_bounded_duration, ("duration_ns",)),
    "rate": (_parse_bounded_rate, ("rate_bps",)),
    "role": (_parse_role, ("role",)),
}
"""As a plan has them, and the fields of a transfer that they fill."""

_WINDOWS_SHOWN = 3
_ENDS = {"src", "dst"}
Known = dict[str, Any]
"""Fields of a transfer."""


def parse_known(settings: Sequence[str]) -> Known:
    """Read settings such as "window=64KiB".

    Raises:
        PlanError: One of them is none; all that are wrong are named.
    """
    known: Known = {}
    problems = []
    texts: dict[str, str] = {}
    for setting in settings:
        key, equals, text = setting.partition("=")
        if key not in _KEYS or not equals:
            problems.append(f'"{setting}": expected KEY=VALUE with a key of {", ".join(_KEYS)}')
            continue
        if not is_utf8(text):
            problems.append(f'{key}: found "{text}", expected UTF-8 text')
            continue
        if key in texts:
            problems.append(f"{key} is given twice: {shown(texts[key])} and {shown(text)}")
            continue
        texts[key] = text
        parse, fields = _KEYS[key]
        try:
            known |= dict.fromkeys(fields, parse(text))
        except QuantityError as error:
            problems.append(f"{key}: {error}")
    if problems:
        raise PlanError("--set", tuple(problems))
    return known


def with_known(transfer: Transfer, known: Known) -> Transfer:
    """Fill in what the file left open; what it says stands.

    One end that was taken for the other one turns both round, and with them the end that counted.
    """
    filled = {name: known[name] for name in left_open(transfer, known)}
    told = replace(transfer, **filled)
    if _direction_is_open(transfer) and len(filled.keys() & _ENDS) == 1 and told.src == told.dst:
        told = replace(told, src=transfer.dst, dst=transfer.src)
    if transfer.src is None or (told.src, told.dst) != (transfer.dst, transfer.src):
        return told
    if "role" in transfer.assumed and "role" not in filled:
        told = replace(told, role="source" if transfer.role == "sink" else "sink")
    return replace(told, flows=tuple(_turned(flow) for flow in told.flows))


def _direction_is_open(transfer: Transfer) -> bool:
    return set(transfer.assumed) >= _ENDS


def _turned(flow: FlowReport) -> FlowReport:
    """The other way: ports go with their hosts."""
    return replace(flow, source_port=flow.sink_port, sink_port=flow.source_port)


def left_open(transfer: Transfer, known: Known) -> set[str]:
    """Fields that are known, and that the file does not tell."""
    return {name for name in known if name in transfer.assumed or getattr(transfer, name) is None}


def assumed_directions(transfers: Sequence[Transfer], known: Known) -> str | None:
    """Say of which tests the direction is a guess, or that settings made one direction of two."""
    doubtful = [transfer for transfer in transfers if _direction_is_open(transfer)]
    if not doubtful:
        return None
    tests = counted(len(doubtful), "test")
    if not known.keys() & _ENDS:
        return (
            f"the direction of {tests} is assumed: of two ports that tell nothing, the lower one is taken "
            "for the one that was listened on. Where it was not, say --set from=HOST --set to=HOST"
        )
    directions = {(transfer.src, transfer.dst) for transfer in doubtful}
    if not any((dst, src) in directions for src, dst in directions):
        return None
    return (
        f"--set from, to: gave {tests} one direction, though by their ports they went both ways. What -d or "
        "-r measured cannot be set so: put the tests of each direction into a file of their own"
    )


def rough_windows(transfers: Sequence[Transfer], known: Known) -> str | None:
    """Say which windows the file tells roughly, where nobody tells them better."""
    rough = [
        getattr(transfer, name)
        for transfer in transfers
        for name in _KEYS["window"][1]
        if name in transfer.assumed and name not in known
    ]
    if not rough:
        return None
    sizes = sorted({size for size in rough if size is not None})
    shown = [format_size(size) for size in sizes[:_WINDOWS_SHOWN]]
    shown += [*(["…"] if len(sizes) > _WINDOWS_SHOWN else []), *(["an unknown one"] if None in rough else [])]
    return (
        f"the window of {counted(len(rough), 'test')} is printed with fewer than three digits (-f m, -f g), "
        f"and taken for {', '.join(shown)}: unlike ones may be the same point. Where you know it, say "
        "--set window=SIZE"
    )


def without_effect(known: Known, filled: set[str]) -> list[str]:
    """Keys whose fields no transfer took, as all files tell them."""
    windows = tuple(name for name in _KEYS["window"][1] if name in known)
    groups = [windows, *((name,) for name in known if name not in windows)]
    keys = {fields: key for key, (_, fields) in _KEYS.items()}
    return [keys[fields] for fields in groups if fields and not filled.intersection(fields)]
