"""What a verdict means, in a sentence. The rules: docs/explanation/statistics.md, "Verdict"."""

from collections.abc import Mapping

VERDICT_MEANINGS: Mapping[str, str] = {
    "send window": "The source's socket buffer was full of what the sink had not acknowledged yet.",
    "receive window": "The source had sent all that the sink's window allowed, and waited.",
    "congestion window: loss": "Losses kept the congestion window small.",
    "congestion window: queue": (
        "The path carried no more: it was full, a queue stood in it or dropped packets, or congestion "
        "control kept to the rate that it found."
    ),
    "sender CPU": "The source's CPU had no time left to send more.",
    "receiver CPU": "The sink's CPU had no time left to receive more.",
    "application rate": "Goodput came to the rate that was asked for, within 5 %.",
    "host drops": "Hosts, and not the path, dropped what was missing.",
    "path loss": "The path lost what was missing.",
    "not clear": "No cause accounts for enough of the trial to be named.",
}
"""Of every verdict of `flowsweep.analysis`, the word it is."""
