"""How long the other ends of a trial are waited for, once one has reported that it is not whole there."""

from collections.abc import Sequence

from flowsweep.defaults import LAST_WORDS_S
from flowsweep.run.pair import Pair

FLOWS_BROKEN = "flows_broken"
"""The kind of failure of an end some of whose streams of datagrams broke, and end no other."""


def patience_s(pairs: Sequence[Pair], *, together: bool) -> float | None:
    """How long others have to end by themselves: for ever, while nothing says that they need not.

    A stream of datagrams that broke off ends no other. A receiver may not even know of it: it is not waited
    for where all that its sender had to send broke off.

    Args:
        pairs: of the trial.
        together: nothing goes on for long once anything else is not whole.
    """
    # What a receiver then says of it, later, is an echo.
    telling = (pair.ends[:1] if _sends_no_more(pair) else pair.ends for pair in pairs)
    failures = [end.incomplete for ends in telling for end in ends]
    kinds = {failure.kind for failure in failures if failure is not None}
    if together and kinds - {FLOWS_BROKEN}:
        return LAST_WORDS_S
    waiting = (pair for pair in pairs if not all(end.over for end in pair.ends))
    return LAST_WORDS_S if kinds and all(map(_sends_no_more, waiting)) else None


def _sends_no_more(pair: Pair) -> bool:
    failure, result = pair.sender.incomplete, pair.sender.result
    if failure is None or result is None or failure.kind != FLOWS_BROKEN:
        return False
    return all(flow.end == "broken" for flow in result.report.flows)
