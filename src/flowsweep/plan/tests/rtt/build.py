"""What becomes of the keys that only a sweep of round-trip times has."""

from flowsweep import defaults
from flowsweep.plan.probing import RttProbing
from flowsweep.plan.sweeps.table import SweepTable


def built_rtt(sweep: SweepTable) -> dict[str, object]:
    """Make what the frozen sweep has of them."""
    return {"rtt_probing": _rtt_probing(sweep)}


def _rtt_probing(sweep: SweepTable) -> RttProbing:
    return RttProbing(
        every_ns=defaults.PROBE_EVERY_NS if sweep.every is None else sweep.every,
        timeout_ns=defaults.PROBE_TIMEOUT_NS if sweep.timeout is None else sweep.timeout,
        poisson=sweep.spread == "poisson",
    )
