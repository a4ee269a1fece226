"""The kernel settings of a lab's namespaces; docs/lab.md lists them with reasons."""

from collections.abc import Mapping

from flowsweep.defaults import LAB_TCP_BUFFER_MAX_BYTES
from flowsweep.lab.command import command

TCP_BUFFER_MINIMUM_BYTES = 4096
TCP_RECEIVE_INITIAL_BYTES = 131_072
TCP_SEND_INITIAL_BYTES = 16_384
"""The kernel's own minimum and initial values (tcp(7)); only the maximum is the lab's."""

NO_DUPLICATE_DETECTION = {"net/ipv6/conf/all/accept_dad": "0", "net/ipv6/conf/default/accept_dad": "0"}


def of_host(*, ipv6: bool) -> dict[str, str]:
    """Settings of a host, by path below /proc/sys."""
    own = {
        "net/ipv4/tcp_no_metrics_save": "1",
        "net/ipv4/tcp_rmem": _buffer(TCP_RECEIVE_INITIAL_BYTES),
        "net/ipv4/tcp_wmem": _buffer(TCP_SEND_INITIAL_BYTES),
    }
    return own | (NO_DUPLICATE_DETECTION if ipv6 else {})


def of_router(*, ipv6: bool) -> dict[str, str]:
    """Settings of a link's router, by path below /proc/sys."""
    forwarding = {"net/ipv4/ip_forward": "1"}
    if not ipv6:
        return forwarding
    keep = {"net/ipv6/conf/all/forwarding": "1", "net/ipv6/conf/default/keep_addr_on_down": "1"}
    return forwarding | keep | NO_DUPLICATE_DETECTION


def apply(namespace: str, values: Mapping[str, str]) -> None:
    """Write settings inside a namespace.

    By the shell and /proc, since `sysctl` is not everywhere.

    Raises:
        LabError: The kernel refused one; the message names its path.
    """
    script = "".join(f"echo '{value}' >/proc/sys/{path}\n" for path, value in values.items())
    command(["ip", "netns", "exec", namespace, "sh", "-e"], text=script)


def _buffer(initial_bytes: int) -> str:
    return f"{TCP_BUFFER_MINIMUM_BYTES} {initial_bytes} {LAB_TCP_BUFFER_MAX_BYTES}"
