"""Whether a lab can be made here: found out by making one namespace with a device of each kind."""

from collections.abc import Iterator
from contextlib import contextmanager

from flowsweep.errors import LabError, LaunchError
from flowsweep.hosts.engine import engine_path
from flowsweep.lab.command import batch, command, first_missing
from flowsweep.lab.leftovers import remove_namespaces
from flowsweep.lab.owner import Owner
from flowsweep.lab.rootless import may_administer_networks, user_namespace_refused
from flowsweep.lab.shaper import Shaper
from flowsweep.lab.signals import ended_in_order

SHAPER = Shaper(rate_bps=1_000_000, burst_bytes=10_000, limit_bytes=100_000)
ATTEMPT = f"""
echo 1 >/proc/sys/net/ipv4/ip_forward
ip link add link0 type veth peer name side0
tc qdisc add dev side0 root {SHAPER.arguments()}
test -c /dev/net/tun || {{ echo "/dev/net/tun is missing: load the kernel module tun" >&2; exit 1; }}
ip tuntap add dev link1 mode tun
"""
"""What a lab asks of the kernel: a setting, a cable, a shaper, the device of an emulated link."""


def lab_possible() -> str | None:
    """Why a lab cannot be made here, or None if it can.

    With the right to administer networks, a namespace with each kind of device is made and removed (about
    0.02 s). Without it, a user namespace is tried out; whether the kernel has all devices shows once the
    controller is inside and asks again.
    """
    lacking = first_missing(("ip", "tc"))
    if lacking is not None:
        return lacking
    if not may_administer_networks():
        return user_namespace_refused()
    try:
        engine_path()
        with ended_in_order(), _namespace() as namespace:
            command(["ip", "netns", "exec", namespace, "sh", "-e"], text=ATTEMPT)
    except (LabError, LaunchError) as error:
        return str(error)
    return None


@contextmanager
def _namespace() -> Iterator[str]:
    """A namespace while the block runs; what is left of it after SIGKILL, the next lab removes."""
    namespace = Owner.new_lab().namespace("link", "attempt")
    batch(["ip"], [f"netns add {namespace}"])
    try:
        yield namespace
    finally:
        remove_namespaces([namespace])
