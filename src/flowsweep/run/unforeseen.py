"""What nobody expected in an attempt at a trial: recorded as its failure, with the place it came from."""

import traceback
from pathlib import Path

from flowsweep.errors import FlowsweepError, in_words
from flowsweep.run.outcome import Failure
from flowsweep.wording import printable

ENDS_A_CAMPAIGN = (FlowsweepError, OSError)
"""What is no trial's own where it gets out of an attempt, such as a terminal that is gone."""
_PACKAGE = Path(__file__).parents[1]
_SHOWN_CHARACTERS = 400


def unforeseen(error: Exception) -> Failure:
    """The failure of a trial that met an error of a type that nobody waits for.

    Args:
        error: As it was caught, in this package: where in it the error came up is named.
    """
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename.startswith(f"{_PACKAGE}/")
    ]
    place = f"{Path(frames[-1].filename).relative_to(_PACKAGE)} line {frames[-1].lineno}"
    words = " ".join(printable(in_words(error)).split())[:_SHOWN_CHARACTERS]
    message = f"nobody expected this, please report it: {words}, at {place}"
    return Failure(phase="run", host="the controller", kind="unforeseen", message=message)
