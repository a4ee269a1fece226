"""What nobody expected in an attempt at a trial: recorded as its failure, with the place it came from."""

import traceback

from flowsweep.errors import FlowsweepError, in_words
from flowsweep.run.outcome import Failure
from flowsweep.wording import printable

ENDS_A_CAMPAIGN = (FlowsweepError, OSError)
"""What is no trial's own where it gets out of an attempt, such as a terminal that is gone."""
_SHOWN_CHARACTERS = 400


def unforeseen(error: Exception) -> Failure:
    """The failure of a trial that met an error of a type that nobody waits for.

    Args:
        error: As it was caught, in this package: where in it the error came up is named.
    """
    places = [
        f"{name} line {line}"
        for frame, line in traceback.walk_tb(error.__traceback__)
        if (name := str(frame.f_globals.get("__name__"))).startswith("flowsweep.")
    ]
    words = " ".join(printable(in_words(error)).split())[:_SHOWN_CHARACTERS]
    message = f"nobody expected this, please report it: {words}, at {places[-1]}"
    return Failure(phase="run", host="the controller", kind="unforeseen", message=message)
