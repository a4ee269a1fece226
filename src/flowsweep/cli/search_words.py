"""What a search for the plateau believes, in words."""

from collections.abc import Mapping

from flowsweep.run.events import SearchBelieves
from flowsweep.wording import direction, format_rate, format_share, format_size

_ENDS: Mapping[str, str] = {
    "precise": "known as precisely as was asked",
    "level": "the smallest window is enough: begin with a smaller one to find where goodput falls",
    "rising": "goodput rises up to the largest window: end with a larger one",
    "budget": "no trial is left within `at_most`",
    "failures": "too many trials failed",
}


def belief_words(event: SearchBelieves) -> str:
    """Say what is believed and what comes next: "left → right: enough is 1.21 MiB, +4 % −3 %; next …"."""
    found = event.belief
    size = format_size(round(found.enough_bytes))
    if found.low_bytes is None or found.high_bytes is None:
        known = f"enough is about {size}, not yet bounded"
    else:
        more, less = (
            format_share(end)
            for end in (found.high_bytes / found.enough_bytes - 1, 1 - found.low_bytes / found.enough_bytes)
        )
        known = f"enough is {size}, +{more} −{less}"
    plateau = f"plateau {format_rate(found.plateau_bps)}"
    then = ", ".join(map(format_size, event.windows_bytes))
    what = f"over: {_ENDS[event.end]}" if event.end else f"next: {then}"
    return f"search {direction(event.trial.src, event.trial.dst)}: {known}, {plateau}; {what}"
