"""What an unprivileged application may ask two hosts for, from what their engines recorded.

Whether a congestion control that is loaded is allowed to everybody, too, a trial with it shows, unless the
engine runs as root: then what its host recorded does (`restricted`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from flowsweep.analysis.findings.host_settings import SETTINGS, HostFacts, Side, recorded, tuned_share
from flowsweep.hosts.namespaces import where_written
from flowsweep.tuning.places import Place

_SAME_AS_CUBIC = "reno"
"""Where cubic has no more to offer it does as Reno does (RFC 9438, section 4.3): worth a trial only alone."""
_TRIED = ("bbr", "cubic", "htcp", _SAME_AS_CUBIC)
"""The most promising first. Others are for networks of their own, as DCTCP is (RFC 8257), or for experiments:
what gains with one of them may starve others, and no host should have it as its default."""
_MOST_TRIED = 2
_FOR_ALL = "net.ipv4.tcp_allowed_congestion_control"
_FREE = frozenset((_SAME_AS_CUBIC, "bbr"))
"""Everybody may ask for them wherever they are loaded (TCP_CONG_NON_RESTRICTED in net/ipv4 of Linux)."""


class Limit(NamedTuple):
    """Of what an application may ask for."""

    host: str
    name: str
    """As sysctl has it."""
    most_bytes: int


class Restricted(NamedTuple):
    """Of a host that lets only root ask for a congestion control."""

    host: str
    command: str
    """That lets everybody."""
    where: str
    """It has to run: "on b"."""
    is_loaded: bool = True
    """Whether that host has it loaded, as far as it told: before that the kernel refuses the command."""


@dataclass(frozen=True, slots=True)
class Allowed:
    """In one direction."""

    congestion_default: str | None
    """The sender's; absent if it was not recorded."""
    congestions: tuple[str, ...]
    """Others that the sender has loaded, most promising first, two at most (the receiver's are no matter)."""
    window_most_bytes: int | None
    """What both grant in full; absent if one of them did not tell."""
    autotuned_bytes: float | None
    """What autotuning lets be in flight, at most; likewise."""


def allowed(hosts: HostFacts, src: str, dst: str) -> Allowed:
    """What may be asked for from one host to another.

    Args:
        hosts: By name what their engines said of them.
        src: The one that sends.
        dst: The one that receives.
    """
    sender = hosts.get(src, {})
    return Allowed(
        sender.get("congestion_default"),
        _congestions(sender.get("congestion_default"), sender.get("congestion_available", ())),
        _least(_last(hosts, src, SETTINGS["send"][1]), _last(hosts, dst, SETTINGS["receive"][1])),
        _least(_in_flight(hosts, "send", src), _in_flight(hosts, "receive", dst)),
    )


def for_everybody(hosts: HostFacts, host: str) -> tuple[str, ...] | None:
    """List the congestion controls that any user of a host may ask for; None if it did not tell."""
    told = (hosts.get(host, {}).get("sysctls") or {}).get(_FOR_ALL)
    return None if told is None else tuple(str(told).split())


def allow(congestion: str, before: Sequence[str] | None) -> str:
    """Write the command that lets everybody ask for a congestion control; `before`: what they may ask for."""
    names = " ".join((*("…" if before is None else before), congestion))
    return f'sysctl -w {_FOR_ALL}="{names}"'


def restricted(
    hosts: HostFacts,
    ends: tuple[str, str],
    congestion: str | None,
    places: Mapping[str, Place] | None = None,
) -> tuple[Restricted, ...]:
    """List the hosts, of two, of which only root may ask for a congestion control, as far as they told.

    Those that have it not loaded are among them where only root may ask for it once it is.
    """
    found = []
    for host in ends:
        may = for_everybody(hosts, host)
        if congestion is None or may is None or congestion in may:
            continue
        available = hosts[host].get("congestion_available", ())
        is_loaded = not available or congestion in available
        if is_loaded or congestion not in _FREE:
            shares = host in (places or {}) and (places or {})[host].shares_network
            itself = f"on the machine that `{host}` is a container of" if shares else f"on {host}"
            where = where_written(_FOR_ALL, host, hosts[host]["sysctls"], otherwise=itself)
            found.append(Restricted(host, allow(congestion, may), where, is_loaded))
    return tuple(found)


def asked_limits(hosts: HostFacts, ends: tuple[str, str]) -> tuple[Limit, ...]:
    """List what bounds either buffer that is asked for at both ends, as far as they told."""
    found = (
        (host, bound, _last(hosts, host, bound)) for host in ends for _, bound, _, _ in SETTINGS.values()
    )
    return tuple(Limit(host, name, most) for host, name, most in found if most is not None)


def not_loaded(hosts: HostFacts, src: str) -> str | None:
    """Name the most promising congestion control where a sender told of others only."""
    available = hosts.get(src, {}).get("congestion_available", ())
    return _TRIED[0] if available and _TRIED[0] not in available else None


def _congestions(default: str | None, available: Sequence[str]) -> tuple[str, ...]:
    others = [name for name in _TRIED if name in available and name != default]
    promising = [name for name in others if name != _SAME_AS_CUBIC] or others
    return tuple(promising[:_MOST_TRIED])


def _last(hosts: HostFacts, host: str, name: str) -> int | None:
    found = recorded(hosts, host, name)
    return None if found is None else found[-1]


def _in_flight(hosts: HostFacts, side: Side, host: str) -> int | None:
    """What autotuning lets be in flight at one end."""
    most = _last(hosts, host, SETTINGS[side][2])
    return None if most is None else int(most * tuned_share(side, hosts, host))


def _least(send: int | None, receive: int | None) -> int | None:
    return None if send is None or receive is None else min(send, receive)
