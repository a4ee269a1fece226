"""Keys of a sweep that searches, in place of a grid."""

from collections.abc import Sequence
from typing import Annotated, Final, Literal

from pydantic import Discriminator, Field, Tag

from flowsweep import defaults
from flowsweep.plan import fields
from flowsweep.plan.fields import Table, key
from flowsweep.plan.readers import duration, one_of, size, whole


class WindowRange(Table):
    """Windows between which a search looks."""

    low: fields.WindowSum = Field(
        alias="from", description="The smallest window that is tried.", examples=["64KiB"]
    )
    high: fields.WindowSum = Field(
        alias="to",
        description=f"The largest window that is tried, at least {defaults.SEARCH_RANGE_MIN} times `from`.",
        examples=["64MiB"],
    )


class FlowsRange(Table):
    """Numbers of flows between which a search looks."""

    low: fields.Flows = Field(alias="from", description="The fewest flows that are tried.", examples=[1])
    high: fields.Flows = Field(
        alias="to",
        description="The most flows that are tried, at least "
        f"{defaults.SEARCH_FLOWS_RANGE_MIN} times `from`.",
        examples=[32],
    )


class RateRange(Table):
    """Rates between which a search looks, of payload of all flows."""

    low: fields.Rate = Field(
        alias="from", description="The lowest rate that is tried.", examples=["10Mbit/s"]
    )
    high: fields.Rate = Field(
        alias="to",
        description="The highest rate that is tried; for the knee of latency at least twice `from`.",
        examples=["1Gbit/s"],
    )


def _written_as(value: object) -> str:
    return "range" if isinstance(value, dict | WindowRange | FlowsRange | RateRange) else "levels"


KNEE: Final = "knee of latency"
SOUGHT = ("plateau", "best", KNEE)
"""What a sweep may look for."""
RANGE_TAGS = ("levels", "range")
"""How pydantic names the two ways in which an axis that is searched may be written."""
Windows = Annotated[
    Annotated[fields.Axis[fields.Window], Tag("levels")] | Annotated[WindowRange, Tag("range")],
    Discriminator(_written_as),
]
WindowSums = Annotated[
    Annotated[fields.Axis[fields.WindowSum], Tag("levels")] | Annotated[WindowRange, Tag("range")],
    Discriminator(_written_as),
]


FlowNumbers = Annotated[
    Annotated[fields.Axis[fields.Flows], Tag("levels")] | Annotated[FlowsRange, Tag("range")],
    Discriminator(_written_as),
]
RateSums = Annotated[
    Annotated[fields.Axis[fields.Rate], Tag("levels")] | Annotated[RateRange, Tag("range")],
    Discriminator(_written_as),
]


def levels_of(axis: Sequence[int] | WindowRange | FlowsRange | None) -> list[int]:
    """List the windows or numbers of flows that a plan names, of a range its two ends."""
    if isinstance(axis, WindowRange | FlowsRange):
        return [axis.low, axis.high]
    return list(axis or ())


_Trials = Annotated[int, whole(defaults.SEARCH_TRIALS_MIN, defaults.SEARCH_TRIALS_MAX)]
_Longest = Annotated[int, duration(defaults.SECOND_NS, defaults.CAMPAIGN_MAX_NS)]
_Most = Annotated[int, size(1, defaults.SEARCH_BYTES_MAX)]


class AtMostTable(Table):
    """What one search may take at most; it ends, undecided if need be, at the first limit that is reached."""

    trials: _Trials = key(
        "Trials of one search. A search for the best needs at least "
        f"{defaults.BEST_TRIES_MIN} of each setting, and a round of up to {defaults.BEST_ROUND_MAX} more.",
        defaults.SEARCH_TRIALS,
    )
    duration: _Longest | None = key(
        "Time of its trials, one after the other, with what each takes in addition to its `duration`: until "
        "all flows have ended, probes before and after it, and reports.",
        None,
        examples=["10min"],
    )
    bytes: _Most | None = key(
        "Application bytes of its own flows, without background traffic. No round begins that would send "
        "more than is left of them with the highest goodput so far. The first round is not bounded by them, "
        "since nothing is known before it; what failed trials sent does not count.",
        None,
        examples=["50GB"],
    )


class FindKeys(Table):
    """What is searched for, how precisely, and what that may take."""

    find: Annotated[Literal["plateau", "best", "knee of latency"], one_of(*SOUGHT)] | None = key(
        "Search in place of a grid. plateau: the smallest window, or the fewest flows, with which goodput "
        "is on its plateau, within a range of `window`, `window_sum` or `flows`, or of flows first and then "
        "of windows; a search for each direction and each combination of the other axes. best: which "
        "combination of the levels of all axes has the highest goodput; a search for each direction. Trials "
        "of both come in rounds, which take the place of `repeats`. knee of latency: the highest rate of "
        "datagrams, within a range of `rate_sum`, before they are delayed by more than `delay_max`.",
        None,
        examples=["plateau", "best", "knee of latency"],
    )
    precision: fields.Precision = key(
        "When a search stops. plateau: each end of the interval is within this share of the estimate, or "
        "only one number of flows is left in it. best: no other setting can have more goodput by more than "
        "this share. knee of latency: the highest rate carried and the lowest not carried differ by no more "
        f"than this share of the lowest rate tried. {fields.range_words(defaults.SEARCH_PRECISIONS)}.",
        defaults.SEARCH_PRECISION,
        written="10%",
        examples=["5%"],
    )
    confidence: fields.Confidence = key(
        "Confidence level of the interval of a search in rounds: the share of such intervals that contain "
        f"the true value. {fields.range_words(defaults.SEARCH_CONFIDENCES)}.",
        defaults.CONFIDENCE,
        written="95%",
        examples=["90%"],
    )
    at_most: AtMostTable = key(
        "What each search may take.",
        AtMostTable(),
        written={},
        examples=[{"duration": "10min", "bytes": "50GB", "trials": 60}],
    )
