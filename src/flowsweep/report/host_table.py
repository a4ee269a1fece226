"""The hosts of a campaign beside each other, and where they differ."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flowsweep.wording import format_rate, format_size

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

    @property
    def folded(self) -> bool:
        """A setting is of interest at first sight where hosts differ in it."""
        return self.setting and not self.differs


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


def _devices(facts: Facts) -> str:
    return _of_each(_nics_in_use(facts), _device)


def _device(nic: Facts) -> str:
    """A device in words, such as "mlx5_core, 25.0 Gbit/s, MTU 9000, 16 queues, mq fq_codel"."""
    speed_mbps, mtu_bytes, queues = nic.get("speed_mbps"), nic.get("mtu_bytes"), nic.get("tx_queues")
    said = (
        nic.get("driver"),
        format_rate(speed_mbps * _MEGABIT) if speed_mbps else None,
        f"MTU {mtu_bytes}" if mtu_bytes else None,
        f"{queues} queue{'' if queues == 1 else 's'}" if queues else None,
        " ".join(nic.get("qdiscs") or ()),
    )
    return ", ".join(word for word in said if word)


def _offloads(facts: Facts) -> str:
    return _of_each(_nics_in_use(facts), _offloads_of)


def _offloads_of(nic: Facts) -> str:
    """Those that matter for bulk TCP and are on."""
    offloads = nic.get("offloads") or {}
    return ", ".join(word for name, word in _OFFLOADS.items() if offloads.get(name)) or "none"


def _of_each(nics: Sequence[Facts], write: Callable[[Facts], str]) -> str:
    """What is said of a host's devices; a single one needs no name, since hosts may call it differently."""
    if len(nics) == 1:
        return write(nics[0])
    return "; ".join(f"{nic['name']}: {write(nic)}" for nic in nics)


def _nics_in_use(facts: Facts) -> list[Facts]:
    """Devices that lead to the other hosts."""
    used = {route["device"] for route in (facts.get("routes") or {}).values()}
    return [nic for nic in facts.get("nics") or () if nic["name"] in used]


def _routes(facts: Facts) -> str:
    return "; ".join(
        f"{peer} by {route['device']}" + (f" via {route['gateway']}" if route.get("gateway") else "")
        for peer, route in (facts.get("routes") or {}).items()
    )


_MEGABIT = 1_000_000

_OFFLOADS = {
    "tx-tcp-segmentation": "TSO",
    "tx-generic-segmentation": "GSO",
    "rx-gro": "GRO",
    "rx-gro-hw": "hardware GRO",
    "rx-lro": "LRO",
    "rx-checksum": "receive checksum",
    "tx-nocache-copy": "copy without cache",
}
"""By the kernel's names, what people call them."""

_FACTS: tuple[tuple[str, Callable[[Facts], str]], ...] = (
    ("Kernel", _text("kernel")),
    ("Own name", _text("hostname")),
    ("Architecture", _text("architecture")),
    ("CPU", _text("cpu_model")),
    ("CPUs for the engine", _text("cpus")),
    ("CPU frequency governor", _text("cpu_governor")),
    ("NUMA nodes", _text("numa_nodes")),
    ("Memory", _memory),
    ("Clock source", _text("clock_source")),
    ("Devices", _devices),
    ("Offloads", _offloads),
    ("Routes", _routes),
    ("Congestion control, default", _text("congestion_default")),
    ("Congestion control, available", lambda facts: ", ".join(facts.get("congestion_available") or ())),
    ("TCP_INFO", _tcp_info),
    ("Engine", _text("engine_version")),
)

_NATURALLY_DIFFERENT = {"Own name", "Routes"}
