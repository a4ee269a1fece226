"""Whether a lab can be made here: found out by making one."""

from flowsweep.errors import LabError, LaunchError
from flowsweep.lab.build import build_lab
from flowsweep.lab.command import first_missing
from flowsweep.lab.rootless import may_administer_networks, user_namespace_refused
from flowsweep.plan.model import Link, LinkDirection

SHAPED = LinkDirection(rate_bps=1_000_000)
EMULATED = LinkDirection(rate_bps=1_000_000, delay_ns=1_000_000)
PROBE = (
    Link(name="shaped", between=("left", "right"), forward=SHAPED, backward=SHAPED),
    Link(name="emulated", between=("right", "far"), forward=EMULATED, backward=EMULATED),
)


def lab_possible() -> str | None:
    """Why a lab cannot be made here, or None if it can.

    With the right to administer networks, a lab with a shaped and an emulated link is built and taken down
    (about 0.2 s). Without it, a user namespace is tried out; whether the kernel has all devices shows once
    the controller is inside and asks again.
    """
    lacking = first_missing(("ip", "tc"))
    if lacking is not None:
        return lacking
    if not may_administer_networks():
        return user_namespace_refused()
    try:
        with build_lab(PROBE, ()):
            return None
    except (LabError, LaunchError) as error:
        return str(error)
