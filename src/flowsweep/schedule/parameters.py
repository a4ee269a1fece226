"""What is asked of one point of a sweep, as all tests have it; what one has lies in `schedule/tests/`."""

from typing import ClassVar, Literal, Self

from flowsweep import defaults
from flowsweep.computed_defaults import pad_of
from flowsweep.frozen import Frozen
from flowsweep.tests import facts_of
from flowsweep.wording import both_windows, counted, format_rate

Family = Literal[4, 6]
_GRANTED_PER_REQUEST = 2
"""Linux grants a send buffer twice what is asked, and all of it may be data (docs/explanation/windows.md)."""


class Parameters(Frozen):
    """What every test has. `None` means: not set, the kernel or the host decides."""

    test: ClassVar[str]
    protocol: ClassVar[Literal["TCP", "UDP"]] = "UDP"
    """Of the ports at which its two ends meet."""
    reliable: ClassVar[bool] = False
    """What was written is read: a byte that is missing is an error, no result."""

    flows: int = 1
    """From each source to each sink."""
    duration_ns: int
    """How long the source sends or probes, at most."""
    family: Family | None = None

    @property
    def pad_ns(self) -> int:
        """How much longer than asked one pair of hosts sends."""
        return 0

    @property
    def connect_ns(self) -> int:
        """How long both ends may take until all flows stand."""
        return defaults.CONNECT_TIMEOUT_NS

    @property
    def first_datagrams_ns(self) -> int:
        """How much longer it may take until each flow has brought something: where they say little."""
        return 0

    @property
    def space_bytes(self) -> tuple[int | None, int | None]:
        """What it needs in the folders of the source and of the sink; None: it is not known."""
        return 0, 0

    @property
    def wait_ns(self) -> int:
        """How long an end may go on after the source has stopped."""
        return 0

    @property
    def drain_ns(self) -> int:
        """How much of that it always takes."""
        return 0

    @property
    def may_end_early(self) -> bool:
        """Whether it may be over before its duration is."""
        return facts_of(self.test).ends_early

    @property
    def shortest_ns(self) -> int:
        """How long it lasts at least."""
        return self.duration_ns

    @property
    def ends_from_ns(self) -> int:
        """The soonest that its source may end it, however much it knows by then."""
        return self.shortest_ns

    @property
    def window_bytes(self) -> int | None:
        """Window per flow, where both ends ask for the same."""
        return None

    @property
    def expected_bins(self) -> int:
        """Whole intervals that count: of a test that sends at full length only."""
        return 0

    @property
    def bound_bps(self) -> int | None:
        """What one flow sends at most."""
        return None

    @property
    def rate_sum_asked_bps(self) -> int | None:
        """Asked of all flows of the trial together."""
        return None

    @property
    def congestion_asked(self) -> str | None:
        """The congestion control that a source is asked to use."""
        return None

    @property
    def untried(self) -> str | None:
        """What it sends that its ends do not try out when they meet; None: they meet by the same."""
        return None

    @property
    def paths(self) -> int | None:
        """Of paths between two hosts, how many of the first ones a flow takes; None: all of them."""
        return 1

    @property
    def packet_bytes(self) -> int:
        """Of IP, the longest that it hands to the kernel as one packet; 0 where the kernel cuts to size."""
        return 0

    def bytes_at_most(self, pairs: int, links_bps: int | None, pad_ns: int) -> int | None:
        """What all pairs of hosts send together at most; None without a bound.

        Args:
            pairs: Of hosts.
            links_bps: What the links between them let through; None: it is not known.
            pad_ns: How much longer than asked the sources send.
        """
        return self.bytes_bound(pairs, links_bps, pad_ns)[0]

    def bytes_bound(self, pairs: int, links_bps: int | None, pad_ns: int) -> tuple[int | None, bool]:
        """As `bytes_at_most`, and whether it may be more, since sources send by time."""
        del pairs, links_bps, pad_ns
        return 0, False

    def at_rate_sum(self, rate_sum_bps: int, flows: int) -> Self:
        """The same with another rate of all flows; how many these are, is of all pairs of hosts."""
        del rate_sum_bps, flows
        raise TypeError(f"a trial of {self.test} has no rate of all flows")

    def plain(self) -> Self:
        """The same with nothing that a host may refuse but its addresses and ports."""
        return self

    def in_words(self, flows: int) -> str:
        """What runs, in a few words: "4 flows, 256 KiB window". Flows are those of all pairs of hosts."""
        del flows
        return facts_of(self.test).answer


class Bulk(Parameters):
    """What tests have that send for a time, and look at what was received in bins of it."""

    window_send_bytes: int | None
    window_recv_bytes: int | None
    length_bytes: int
    omit_ns: int
    interval_ns: int
    sample_interval_ns: int
    rate_bps: int | None
    dscp: int | None
    affinity: tuple[int, ...]
    clip_allowed: bool
    drain_timeout_ns: int

    @property
    def pad_ns(self) -> int:
        """So that the last bin of all flows is whole."""
        return pad_of(self.duration_ns)

    @property
    def wait_ns(self) -> int:
        """The drain."""
        return self.drain_timeout_ns

    @property
    def window_bytes(self) -> int | None:
        """Window per flow, where both ends ask for the same."""
        return self.window_send_bytes if self.window_send_bytes == self.window_recv_bytes else None

    @property
    def expected_bins(self) -> int:
        """Whole intervals that count: the duration less what is omitted."""
        return (self.duration_ns - self.omit_ns) // self.interval_ns

    @property
    def samples_most(self) -> int:
        """How many samples one end of a pair of hosts may take, each of one flow and one interval."""
        return self.flows * ((self.duration_ns + self.pad_ns) // self.sample_interval_ns)

    @property
    def written_bps(self) -> int | None:
        """What the application writes to one flow at most."""
        return self.rate_bps

    def bytes_bound(self, pairs: int, links_bps: int | None, pad_ns: int) -> tuple[int | None, bool]:
        """What rates and links bound, with what goes out after the sources have stopped.

        It may be more: sources send before they have heard that all flows run, from when on the duration
        counts, and a kernel may choose how much its buffers hold.
        """
        flows, sends_ns = pairs * self.flows, self.duration_ns + pad_ns
        bounds: list[int] = []
        if self.written_bps is not None:
            bounds.append(_carried(self.written_bps * flows, sends_ns) + self._first_bytes(flows))
        paced_bps = None if self.bound_bps == self.written_bps else self.bound_bps
        for bps in (links_bps, paced_bps and paced_bps * flows):
            if bps is not None:
                left, at_most = self._left_bytes(flows), _carried(bps, self.drain_timeout_ns)
                more = 0 if left is None else min(left, at_most)
                bounds.append(_carried(bps, sends_ns) + more)
        return min(bounds, default=None), bool(bounds)

    def _first_bytes(self, flows: int) -> int:
        """What flows send at once before they keep their rate."""
        del flows
        return 0

    def _left_bytes(self, flows: int) -> int | None:
        """What flows may have left to send when their sources stop; None: their kernel chooses."""
        window_bytes = self.window_send_bytes
        return None if window_bytes is None else flows * window_bytes * _GRANTED_PER_REQUEST

    def plain(self) -> Self:
        """One flow, with the host's windows."""
        return self.model_copy(update={"flows": 1, "window_send_bytes": None, "window_recv_bytes": None})

    def in_words(self, flows: int) -> str:
        """Flows, and what is asked of them: windows, congestion control and, unless of datagrams, a rate."""
        words = [counted(flows, "flow")]
        ends = (self.window_send_bytes, self.window_recv_bytes)
        if ends != (None, None):
            words.append(f"{both_windows(*ends)} window")
        if self.congestion_asked is not None:
            words.append(self.congestion_asked)
        if self.reliable and self.bound_bps is not None:
            words.append(f"at most {format_rate(self.bound_bps)} each")
        return ", ".join(words)


class Streams(Bulk):
    """What tests have whose flows are streams: congestion control paces them, and nothing of them is lost."""

    reliable = True

    congestion: str | None

    @property
    def bound_bps(self) -> int | None:
        """The application's pace."""
        return self.rate_bps

    @property
    def congestion_asked(self) -> str | None:
        """The congestion control that a source is asked to use."""
        return self.congestion


def _carried(rate_bps: int, duration_ns: int) -> int:
    return rate_bps * duration_ns // (8 * defaults.SECOND_NS)
