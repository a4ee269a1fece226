"""The hosts of a campaign beside each other, and where they differ."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from flowsweep.wording import format_size

Facts = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class FactLine:
    """One fact of all hosts."""

    name: str
    values: tuple[str, ...]
    """In the order of the hosts; empty where unknown."""
    differs: bool
    setting: bool
    """A sysctl, by its own name."""


def host_lines(host_facts: Mapping[str, Facts]) -> tuple[FactLine, ...]:
    """Put the facts of all hosts into lines, sysctls last."""
    hosts = list(host_facts.values())
    lines = [_line(name, [write(facts) for facts in hosts]) for name, write in _FACTS]
    settings = sorted({name for facts in hosts for name in facts.get("sysctls") or {}})
    for name in settings:
        values = [" ".join((facts.get("sysctls") or {}).get(name, "").split()) for facts in hosts]
        lines.append(_line(name, values, setting=True))
    return tuple(line for line in lines if any(line.values))


def _line(name: str, values: list[str], *, setting: bool = False) -> FactLine:
    differs = len(set(values)) > 1 and name not in _NATURALLY_DIFFERENT
    return FactLine(name, tuple(values), differs, setting)


def _text(key: str) -> Callable[[Facts], str]:
    return lambda facts: "" if facts.get(key) is None else str(facts[key])


def _memory(facts: Facts) -> str:
    """Memory is never a round number: what firmware keeps is missing."""
    size = facts.get("memory_bytes")
    return f"{size / (1 << 30):.1f} GiB" if size else ""


def _tcp_info(facts: Facts) -> str:
    size = facts.get("tcp_info_bytes")
    return format_size(size) if size else ""


_FACTS: tuple[tuple[str, Callable[[Facts], str]], ...] = (
    ("Kernel", _text("kernel")),
    ("Own name", _text("hostname")),
    ("Architecture", _text("architecture")),
    ("CPU", _text("cpu_model")),
    ("CPUs for the engine", _text("cpus")),
    ("Memory", _memory),
    ("Congestion control, default", _text("congestion_default")),
    ("Congestion control, available", lambda facts: ", ".join(facts.get("congestion_available") or ())),
    ("TCP_INFO", _tcp_info),
    ("Engine", _text("engine_version")),
)

_NATURALLY_DIFFERENT = {"Own name"}
