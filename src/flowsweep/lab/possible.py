"""Whether a lab can be made here: found out by making one."""

from flowsweep.errors import LabError
from flowsweep.lab.build import build_lab
from flowsweep.lab.command import first_missing
from flowsweep.lab.rootless import may_administer_networks, user_namespace_refused
from flowsweep.plan.model import Link, LinkDirection

PROBE_RATE_BPS = 1_000_000


def lab_possible() -> str | None:
    """Why a lab cannot be made here, or None if it can.

    With the right to administer networks, a lab with one shaped link is built and taken down (about 0.2 s).
    Without it, a user namespace is tried out; whether the kernel has all devices shows once the controller is
    inside and asks again.
    """
    lacking = first_missing(("ip", "tc"))
    if lacking is not None:
        return lacking
    if not may_administer_networks():
        return user_namespace_refused()
    way = LinkDirection(rate_bps=PROBE_RATE_BPS)
    probe = Link(name="probe", between=("left", "right"), forward=way, backward=way)
    try:
        with build_lab((probe,), ()):
            return None
    except LabError as error:
        return str(error)
