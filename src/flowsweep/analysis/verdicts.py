"""What may limit a trial: every verdict, what is said of it, and the shares by which tests decide alike.

The rules: `tests/TEST/verdict.py`; docs/explanation/statistics.md, "Verdict".
"""

from collections.abc import Mapping
from typing import Final, Literal, NamedTuple

from flowsweep.wording import format_margin

Verdict = Literal[
    "send window", "receive window", "congestion window: loss", "congestion window: queue",
    "congestion window: reverse queue", "sender CPU",
    "receiver CPU", "application rate", "host drops", "path loss", "source disk", "source file system",
    "network", "sink disk", "sink file system", "not clear",
]  # fmt: skip

SEND_WINDOW: Final = "send window"
RECEIVE_WINDOW: Final = "receive window"
WINDOWS: Final = (SEND_WINDOW, RECEIVE_WINDOW)
LOSS: Final = "congestion window: loss"
QUEUE: Final = "congestion window: queue"
REVERSE_QUEUE: Final = "congestion window: reverse queue"
SENDER_CPU: Final = "sender CPU"
RECEIVER_CPU: Final = "receiver CPU"
HOST_DROPS: Final = "host drops"
PATH_LOSS: Final = "path loss"
APPLICATION_RATE: Final = "application rate"
SOURCE_DISK: Final = "source disk"
SOURCE_FILE_SYSTEM: Final = "source file system"
NETWORK: Final = "network"
SINK_DISK: Final = "sink disk"
SINK_FILE_SYSTEM: Final = "sink file system"
NOT_CLEAR: Final = "not clear"
STAGES: Final = (SOURCE_DISK, SOURCE_FILE_SYSTEM, NETWORK, SINK_DISK, SINK_FILE_SYSTEM)
"""Of files from disk to disk: what the other stages waited for, whatever it carries alone."""

MOST = 2 / 3
"""A share from which on a cause is taken to be the one: twice as much as all others together."""
SOME = 1 / 3
"""A share below which a cause is taken not to matter: the rest is MOST."""
RATE_REACHED = 0.95
"""Goodput at this share of what the plan lets the application send is that rate; it varies less."""
BUSY = 0.9
"""A thread that runs for this share of the time hardly ever waits for TCP."""
CORES_BUSY = 0.95
"""So much of all cores in use leaves a thread to wait for its turn."""
PATH_FULL = 0.98
"""Goodput at this share of what the plan's link carries is the link's."""
QUEUE_SHARE = 0.2
QUEUE_MS = 2.0
"""A round trip that is longer than the minimum by both of these has a queue standing in it. Below, it may
be the sender's own: Linux hands over up to a millisecond of its rate in one piece (`tcp_tso_autosize`), and
more where the round trip is below 5 ms."""
MOVED = 0.5
"""A device that moved less than this share of the files' bytes is not what they waited for."""
STAGES_AT_ONCE = 0.9
"""Below this share of what the slowest stage carries alone, stages do not work at the same time."""
PATH_NOT_FULL = 0.9
"""Below this share no queue stands at the plan's link most of the time: the rest could be sent."""


class VerdictWords(NamedTuple):
    """What is said of a verdict."""

    meaning: str
    """A sentence."""
    subject: str = ""
    """What limits, before "limits 3 trials"; empty where it is not clear."""
    hint: str = ""
    """What to do about it, with places for `source` and `sink`; empty where that is said otherwise."""
    of_datagrams: str = ""
    """The subject of tests of datagrams, where it is another one."""
    meaning_of_datagrams: str = ""
    """What it means in tests of datagrams, where that is something else."""
    of_path: bool = False
    """Whether other traffic on the same path may be the reason."""

    @property
    def datagram_subject(self) -> str:
        """What limits a test of datagrams."""
        return self.of_datagrams or self.subject

    @property
    def datagram_meaning(self) -> str:
        """What it means in a test of datagrams."""
        return self.meaning_of_datagrams or self.meaning


VERDICTS: Mapping[str, VerdictWords] = {
    SEND_WINDOW: VerdictWords(
        "The source's send buffer was full of what the sink had not acknowledged yet.",
        "the send window",
        of_datagrams="the sender's own device, behind a full socket buffer,",
        meaning_of_datagrams="The source's socket buffer was full of datagrams that its device had not sent.",
    ),
    RECEIVE_WINDOW: VerdictWords(
        "The source had sent all that the sink's window allowed, and waited.",
        "the receive window",
    ),
    LOSS: VerdictWords(
        "Losses kept the congestion window small.",
        "the congestion window, held down by loss,",
        "Find where packets are lost. Fewer losses, more flows or another congestion control may carry more: "
        "`flowsweep tune` tries the last two.",
        of_path=True,
    ),
    QUEUE: VerdictWords(
        "The path carried no more, as it was full, a queue stood in it or dropped packets, or congestion "
        "control kept to the rate that it found.",
        "the path itself",
        "At this point no window and no number of flows raises goodput: the path limits it, and more goodput "
        "needs another path.",
        of_path=True,
    ),
    REVERSE_QUEUE: VerdictWords(
        "The link had room left; acknowledgements waited in the queue of the other direction, which was in "
        "use at the same time, and the congestion window was in flight for as long.",
        "the queue of the other direction, in which acknowledgements wait,",
        "Keep the queue of the other direction short (fair queueing or CoDel at its bottleneck, or a lower "
        "rate there), or use one direction at a time.",
        of_path=True,
    ),
    SENDER_CPU: VerdictWords(
        "The source's CPU had no time left to send more.",
        "the sender's CPU",
        "More goodput needs a faster or less busy CPU at the source ({source}).",
    ),
    RECEIVER_CPU: VerdictWords(
        "The sink's CPU had no time left to receive more.",
        "the receiver's CPU",
        "More goodput needs a faster or less busy CPU at the sink ({sink}).",
    ),
    APPLICATION_RATE: VerdictWords(
        f"Goodput came to the rate that was asked for, within {format_margin(1 - RATE_REACHED)}.",
        "the rate that was asked for",
        "Ask for a higher rate: nobody knows yet whether the path carries more.",
    ),
    HOST_DROPS: VerdictWords(
        "Hosts dropped most of what was missing.",
        "what the hosts drop",
        "Find which host drops packets: more goodput needs fewer drops.",
        of_datagrams="what the hosts or their devices drop",
    ),
    PATH_LOSS: VerdictWords(
        "The path lost what was missing.",
        "what the path loses",
        "Find out where datagrams are lost: a queue loses fewer at a lower rate, noise does not.",
        of_path=True,
    ),
    SOURCE_DISK: VerdictWords(
        "Sending waited for the source's disk to read.",
        "the source's disk",
        "More goodput needs a faster disk at {source}, or files that are in memory.",
    ),
    SOURCE_FILE_SYSTEM: VerdictWords(
        "Sending waited for files, though the source's disk had little to read: it waited for the source's "
        "memory, its file system or a file server.",
        "the source's file system",
        "More goodput needs longer reads, more flows or another file system at {source}.",
    ),
    NETWORK: VerdictWords(
        "Files at both ends waited for the network.",
        "the network",
        'Neither disks nor file systems have to be faster: measure the network with test = "tcp".',
        of_path=True,
    ),
    SINK_DISK: VerdictWords(
        "Receiving waited for the sink's disk to write.",
        "the sink's disk",
        "More goodput needs a faster disk at {sink}, or files that need not be on it yet.",
    ),
    SINK_FILE_SYSTEM: VerdictWords(
        "Receiving waited for files, though the sink's disk had little to do: it waited for the sink's "
        "memory, its file system or a file server.",
        "the sink's file system",
        "More goodput needs longer writes, fewer syncs, more flows or another file system at {sink}.",
    ),
    NOT_CLEAR: VerdictWords("No cause accounts for enough of the trial to be named."),
}
