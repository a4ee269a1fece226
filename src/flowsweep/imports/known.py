"""What a person knows of tests beyond what their files say."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from flowsweep.errors import PlanError
from flowsweep.imports.transfer import Transfer
from flowsweep.units import QuantityError, parse_duration, parse_size


def _parse_role(text: str) -> str:
    if text not in ("source", "sink"):
        raise QuantityError(f'"{text}" is neither "source" nor "sink", the ends that may have counted')
    return text


def _parse_count(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 0 < int(text) <= _MOST_FLOWS:
        raise QuantityError(f'"{text}" is no number of flows from 1 to {_MOST_FLOWS}')
    return int(text)


_MOST_FLOWS = 1_000_000
_KEYS: dict[str, tuple[Callable[[str], Any], tuple[str, ...]]] = {
    "from": (str, ("src",)),
    "to": (str, ("dst",)),
    "flows": (_parse_count, ("flow_count",)),
    "window": (parse_size, ("window_send_bytes", "window_recv_bytes")),
    "window_send": (parse_size, ("window_send_bytes",)),
    "window_recv": (parse_size, ("window_recv_bytes",)),
    "length": (parse_size, ("length_bytes",)),
    "congestion": (str, ("congestion",)),
    "duration": (parse_duration, ("duration_ns",)),
    "role": (_parse_role, ("role",)),
}
"""As a plan has them, and the fields of a transfer that they fill."""

Known = dict[str, Any]
"""Fields of a transfer."""


def parse_known(settings: Sequence[str]) -> Known:
    """Read settings such as "window=64KiB".

    Raises:
        PlanError: One of them is none; all that are wrong are named.
    """
    known: Known = {}
    problems = []
    for setting in settings:
        key, equals, text = setting.partition("=")
        if key not in _KEYS or not equals:
            problems.append(f'"{setting}": expected KEY=VALUE with a key of {", ".join(_KEYS)}')
            continue
        parse, fields = _KEYS[key]
        try:
            known |= dict.fromkeys(fields, parse(text))
        except QuantityError as error:
            problems.append(f"{key}: {error}")
    if problems:
        raise PlanError("--set", tuple(problems))
    return known


def with_known(transfer: Transfer, known: Known) -> Transfer:
    """Fill in what the file left open; what it says stands."""
    return replace(
        transfer, **{name: value for name, value in known.items() if getattr(transfer, name) is None}
    )
