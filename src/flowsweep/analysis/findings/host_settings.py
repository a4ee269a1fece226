"""Settings of hosts' kernels: which bound windows, what was recorded of them, how far they may be raised."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from flowsweep.wording import format_size

Side = Literal["send", "receive"]
SYSCTL_MAX = 2**31 - 1
"""Of each number of the settings of buffers."""
TUNES_RECEIVE = "net.ipv4.tcp_moderate_rcvbuf"
SCALING = "net.ipv4.tcp_window_scaling"
USELESS_WITHOUT = {
    SCALING: "no window exceeds 65 535 B",
    TUNES_RECEIVE: "a window stays at its first size",
}
"""Settings without which no larger buffer helps, and what is so as long as one is 0."""
_USUAL_SHARE = 0.5
"""Autotuning counts memory: of a receive buffer about half is window, and a send buffer also holds what was
not sent yet (docs/explanation/windows.md)."""
_RATIO_SINCE = (6, 6)
"""The first Linux whose tcp_adv_win_scale has no effect."""
_SCALE_MOST = 31
"""What tcp_adv_win_scale may be, and its negative."""
_SCALE = "net.ipv4.tcp_adv_win_scale"
_MEMORY, _PAGE_BYTES = "net.ipv4.tcp_mem", 4096
"""A setting in pages, and the least that Linux has."""
_LARGER_PAGES = frozenset(("aarch64", "loongarch64", "ppc64", "ppc64le"))
"""Architectures of which kernels may have pages of 16 or 64 KiB. Which they have engines do not record."""
_SHARE_OF_MEMORY = 0.25
"""Of what TCP may have on a host, for the flows of one trial: Linux drops packets once all of it is used."""
SETTINGS: dict[Side, tuple[str, str, str, tuple[int, ...]]] = {
    "send": ("window_send", "net.core.wmem_max", "net.ipv4.tcp_wmem", (4096, 16384)),
    "receive": ("window_recv", "net.core.rmem_max", "net.ipv4.tcp_rmem", (4096, 131_072)),
}
"""The plan's key, the bound of what may be asked for, the bounds of autotuning (least, first and most), and
the kernel's own least and first."""


class HostSetting(NamedTuple):
    """A setting of a host's kernel."""

    host: str
    name: str
    numbers: tuple[int, ...]
    """What it must be, none of them below what it is."""

    @property
    def command(self) -> str:
        """The line that sets it, as root on that host."""
        written = " ".join(map(str, self.numbers))
        value = written if len(self.numbers) == 1 else f'"{written}"'
        return f"sysctl -w {self.name}={value}"


HostFacts = Mapping[str, Mapping[str, Any]]
"""By host name what its engine said of it (`HostFacts` in schema/messages.json), as far as it is known."""


def kernel_release(hosts: HostFacts | None, host: str) -> tuple[int, int] | None:
    """Return the first two numbers of a host's Linux: (6, 8); None if they are not known."""
    release = re.match(r"(\d{1,4})\.(\d{1,4})", str((hosts or {}).get(host, {}).get("kernel") or ""))
    return None if release is None else (int(release[1]), int(release[2]))


def tuned_share(side: Side, hosts: HostFacts | None, host: str) -> float:
    """Say how much of the memory that autotuning bounds can be in flight, as a rule.

    Returns:
        A half; before Linux 6.6 what the receiver's tcp_adv_win_scale makes of it (`tcp_win_from_space`).
    """
    facts = (hosts or {}).get(host, {})
    release = kernel_release(hosts, host)
    scale = re.fullmatch(r"-?\d{1,2}", str((facts.get("sysctls") or {}).get(_SCALE, "")))
    if side == "send" or release is None or scale is None:
        return _USUAL_SHARE
    if release >= _RATIO_SINCE or abs(int(scale[0])) > _SCALE_MOST:
        return _USUAL_SHARE
    power = 2.0 ** -abs(int(scale[0]))
    return 1 - power if int(scale[0]) > 0 else power


def most_buffer_bytes(hosts: HostFacts | None, host: str, flows: int) -> int | None:
    """Say how much memory each of some connections may have at most, for others to have some, too.

    Returns:
        As with the smallest pages that its kernel may have. Nothing where the host did not tell its memory
        for TCP, as a network namespace does not.
    """
    memory = recorded(hosts, host, _MEMORY)
    return None if memory is None else int(memory[-1] * _PAGE_BYTES * _SHARE_OF_MEMORY) // flows


def capped(in_flight_bytes: int, hosts: HostFacts | None, ends: Sequence[str], flows: int = 1) -> str:
    """Say of a bound why it is lower than needed: "should let about 23 MB be in flight: more would be …".

    Args:
        in_flight_bytes: Of each flow.
        hosts: What their engines told.
        ends: Those of which memory bounds it.
        flows: How many there are.
    """
    told = {(hosts or {}).get(host, {}).get("architecture") for host in ends}
    names = " or ".join(sorted(_LARGER_PAGES & told))
    pages = f" (in pages of 4 KiB; a kernel for {names} may have larger ones)" if names else ""
    return (
        f"{_lets(in_flight_bytes, flows)}: more would be over a quarter of what {_MEMORY} lets all "
        f"connections have{pages}"
    )


def capped_buffer(
    in_flight_bytes: int, buffer_bytes: int, hosts: HostFacts | None, host: str, flows: int = 1
) -> str:
    """Say of a bound of autotuning why it is lower than needed: memory, or that Linux takes no larger one.

    Args:
        in_flight_bytes: Of each flow.
        buffer_bytes: What the bound is to be.
        hosts: What their engines told.
        host: The one that it is of.
        flows: How many there are.
    """
    if buffer_bytes < SYSCTL_MAX:
        return capped(in_flight_bytes, hosts, (host,), flows)
    return f"{_lets(in_flight_bytes, flows)}: no kernel takes a larger number for it"


def _lets(in_flight_bytes: int, flows: int) -> str:
    each = "" if flows == 1 else f" of each of {flows} flows"
    return f"should let about {format_size(in_flight_bytes)}{each} be in flight"


def recorded(hosts: HostFacts | None, host: str, name: str) -> tuple[int, ...] | None:
    """Return the numbers that a setting had on a host; None if that is not known."""
    words = str(((hosts or {}).get(host, {}).get("sysctls") or {}).get(name, "")).split()
    told = words and all(word.isdecimal() and len(word) < 20 for word in words)
    return tuple(map(int, words)) if told else None


def raised(wanted: Sequence[int], recorded: Sequence[int]) -> tuple[int, ...] | None:
    """Raise the last number of a setting, and lower none; None if it is that high already."""
    return None if recorded[-1] >= wanted[-1] else (*recorded[:-1], wanted[-1])
