"""Whether a host is a machine, or a network namespace of one, as a container usually is."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

_OF_MACHINES = "net.core.netdev_max_backlog"
"""Of a machine's first network namespace alone (Linux, net/core/sysctl_net_core.c); all engines record it."""
_SHARED = frozenset(
    ("net.core.rmem_max", "net.core.wmem_max", "net.ipv4.tcp_allowed_congestion_control", "net.ipv4.tcp_mem")
)
"""What a machine and all of its namespaces have together: only in the first one it can be written."""


def is_namespace(sysctls: Mapping[str, object] | None) -> bool:
    """Say whether settings that an engine recorded are those of a network namespace.

    Args:
        sysctls: By name; of a host that told none it is not known, and taken for a machine.
    """
    return bool(sysctls) and _OF_MACHINES not in (sysctls or {})


@cache
def here_is_namespace() -> bool:
    """Say the same of where this process is."""
    kernel = Path("/proc/sys/net")
    return kernel.is_dir() and not (kernel / _OF_MACHINES.removeprefix("net.").replace(".", "/")).exists()


def where_written(
    setting: str, host: str, sysctls: Mapping[str, object] | None, *, otherwise: str = "there"
) -> str:
    """Say where a setting of a host has to be written: on its machine, if it shares that one's.

    Args:
        setting: Its sysctl name.
        host: As plans call it.
        sysctls: What its engine recorded.
        otherwise: Words for the host itself.
    """
    if setting in _SHARED and is_namespace(sysctls):
        return f"on the machine that `{host}` is a network namespace of"
    return otherwise
