"""A sweep of round-trip times."""

from collections.abc import Iterator

from flowsweep import defaults
from flowsweep.plan.model import Sweep
from flowsweep.plan.probing import Echo
from flowsweep.schedule.combinations import combined
from flowsweep.schedule.parameters import Parameters
from flowsweep.schedule.windows import NO_WINDOW, Window

_UNTRIED = {"tcp_connect": "a TCP handshake", "icmp": "an ICMP echo"}


class RttParameters(Parameters):
    """One point of a sweep of round-trip times."""

    test = "rtt"

    echo: Echo
    sizes_bytes: tuple[int, ...]
    """Payloads, sent in turn."""
    every_ns: int
    poisson: bool
    seed: int
    timeout_ns: int
    dscp: int | None

    @property
    def length_bytes(self) -> int | None:
        """Payload of a probe, where all have one of one size."""
        return self.sizes_bytes[0] if len(self.sizes_bytes) == 1 and self.echo != "tcp_connect" else None

    @property
    def untried(self) -> str | None:
        """Ends meet by datagrams. With `auto`, datagrams are taken where nothing else is answered."""
        return _UNTRIED.get(self.echo)

    @property
    def wait_ns(self) -> int:
        """For the last response."""
        return self.timeout_ns

    def bytes_bound(self, pairs: int, links_bps: int | None, pad_ns: int) -> tuple[int, bool]:
        """As many probes as there is time for, as if all were of the largest size."""
        del links_bps, pad_ns
        return max(self.sizes_bytes) * (self.duration_ns // self.every_ns + 1) * pairs, False


def rtt_points(sweep: Sweep, _: int, __: int, seed: int) -> Iterator[tuple[Window, RttParameters]]:
    """List what a sweep asks for."""
    rtt_probing = {} if sweep.rtt_probing is None else sweep.rtt_probing.model_dump()
    for size in sweep.length_bytes:
        for chosen in combined(sweep):
            # A handshake carries no payload: one trial, whatever the sizes of the others.
            sizes = (defaults.ECHO_BYTES if chosen["echo"] == "tcp_connect" else size,)
            yield (
                NO_WINDOW,
                RttParameters.model_validate({**chosen, **rtt_probing, "sizes_bytes": sizes, "seed": seed}),
            )
