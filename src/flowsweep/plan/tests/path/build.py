"""What becomes of the keys that only a sweep of paths has."""

from flowsweep import defaults
from flowsweep.plan.probing import PathProbing
from flowsweep.plan.sweeps.table import SweepTable


def built_path(sweep: SweepTable) -> dict[str, object]:
    """Make what the frozen sweep has of them."""
    return {"probing": _probing(sweep)}


def _probing(sweep: SweepTable) -> PathProbing:
    return PathProbing(
        ttl_max=sweep.ttl_max,
        sizes_bytes=sweep.sizes,
        probes=sweep.probes,
        every_ns=defaults.PROBE_EVERY_NS if sweep.every is None else sweep.every,
        timeout_ns=defaults.PROBE_TIMEOUT_NS if sweep.timeout is None else sweep.timeout,
        trains=sweep.trains,
        train_packets=sweep.train_packets,
        train_bytes=sweep.train_length,
        streams=sweep.streams,
        stream_packets=sweep.stream_packets,
        stream_rates=sweep.stream_rates,
    )
