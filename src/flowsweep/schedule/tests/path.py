"""A sweep of measurements of paths."""

from collections.abc import Iterator

from flowsweep.plan.model import Sweep
from flowsweep.plan.probing import PathProbing
from flowsweep.schedule.combinations import combined
from flowsweep.schedule.parameters import Parameters
from flowsweep.schedule.windows import NO_WINDOW, Window


class PathParameters(PathProbing, Parameters):
    """One point of a sweep that measures paths: what it probes with is as in the plan."""

    test = "path"

    seed: int

    def bytes_at_most(self, pairs: int, links_bps: int | None, pad_ns: int) -> int:
        """All probes, and all packets of trains and streams."""
        del pairs, links_bps, pad_ns
        probed = self.ttl_max * self.probes * sum(self.sizes_bytes)
        packets = self.trains * self.train_packets + self.streams * self.stream_rates * self.stream_packets
        return probed + packets * self.train_bytes


def path_points(sweep: Sweep, _: int, __: int, seed: int) -> Iterator[tuple[Window, PathParameters]]:
    """List what a sweep asks for."""
    probing = {} if sweep.probing is None else sweep.probing.model_dump()
    for chosen in combined(sweep):
        yield NO_WINDOW, PathParameters.model_validate({**chosen, **probing, "seed": seed})
