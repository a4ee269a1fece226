"""What iperf3 prints for people: it is not read, since its JSON says more, and is told from what is."""

import re
from collections.abc import Sequence

NOT_READ = (
    "text output of iperf3 is not read: its JSON is. "
    "Run it with -J (--json); --logfile FILE keeps what it says"
)
_SIGN = re.compile(
    r"\[\s*\d+\](?:\[[TR]X-[CS]\])?\s+local \S+ port \d+ connected to \S+ port \d+|iperf 3\.\d"
)
"""Iperf 2 is connected "with" a host; iperf3's name stands above what `-V` prints."""


def is_text(lines: Sequence[str]) -> bool:
    """Whether a line is one that iperf3 begins with, or that of a connection."""
    return any(_SIGN.match(line) for line in lines)
