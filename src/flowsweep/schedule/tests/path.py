"""A sweep of measurements of paths."""

from collections.abc import Iterator, Sequence

from flowsweep.defaults import PROBE_SIZES_TELL, STREAM_PACKETS_TELL, TRAIN_PACKETS_MAX
from flowsweep.plan.model import Sweep
from flowsweep.plan.probing import PathProbing
from flowsweep.schedule.combinations import combined
from flowsweep.schedule.parameters import Parameters
from flowsweep.schedule.windows import NO_WINDOW, Window

HOP_TRIES = 3
STREAM_TRIES = 4
"""As engine/wire/src/defaults.rs has them."""


class PathParameters(PathProbing, Parameters):
    """One point of a sweep that measures paths: what it probes with is as in the plan."""

    test = "path"

    seed: int

    def bytes_bound(self, pairs: int, links_bps: int | None, pad_ns: int) -> tuple[int, bool]:
        """All probes, and all packets of trains and streams, with what is sent again or grows."""
        del pairs, links_bps, pad_ns
        probed = self.ttl_max * self.probes * sum(self.sizes_bytes) * HOP_TRIES
        return probed + (self.trains_packets_most + self.streams_packets_most) * self.train_bytes, False

    @property
    def trains_packets_most(self) -> int:
        """Trains that tell too little grow, and those that do so are sent beside those that were asked for.

        Each of these is twice as long as the one before, so they are fewer than two of the longest.
        """
        if self.trains == 0:
            return 0
        return self.trains * max(self.train_packets, TRAIN_PACKETS_MAX) + 2 * TRAIN_PACKETS_MAX

    @property
    def streams_packets_most(self) -> int:
        """A stream of which packets were held up is sent again."""
        return self.streams * self.stream_rates * self.stream_packets * STREAM_TRIES


def path_remarks(_: Sweep, points: Sequence[PathParameters]) -> Iterator[str]:
    """Say what is worth knowing of a sweep before it runs."""
    if any(one.ttl_max and len(set(one.sizes_bytes)) < PROBE_SIZES_TELL for one in points):
        yield f"fewer than {PROBE_SIZES_TELL} sizes of probes: no hop's capacity will be known"
    if any(one.streams and one.stream_packets < STREAM_PACKETS_TELL for one in points):
        few = f"fewer than {STREAM_PACKETS_TELL} packets"
        yield f"streams of {few}: what is available will not be known, unless they are lost"


def path_points(sweep: Sweep, _: int, __: int, seed: int) -> Iterator[tuple[Window, PathParameters]]:
    """List what a sweep asks for."""
    probing = {} if sweep.probing is None else sweep.probing.model_dump()
    for chosen in combined(sweep):
        yield NO_WINDOW, PathParameters.model_validate({**chosen, **probing, "seed": seed})
