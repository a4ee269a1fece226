"""`duration` as a person writes it: a time, a list of times, or a table of when enough is known."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import AfterValidator, Discriminator, Field, Tag

from flowsweep import defaults, units
from flowsweep.plan import fields
from flowsweep.plan.fields import Table, key
from flowsweep.plan.readers import probability


def _possible(share: float) -> float:
    least, most = defaults.UNTIL_SHARES
    if not least <= share <= most:
        words = fields.range_words(defaults.UNTIL_SHARES)
        raise ValueError(f"found {100 * share:.3g}%, expected {words}")
    return share


class UntilTable(Table):
    """A duration that ends as soon as the mean goodput after slow start is known."""

    until: Annotated[float, probability(), AfterValidator(_possible)] = Field(
        description="A trial ends once the mean is known to this share of it, either way, with 95 %. "
        f"From {fields.range_words(defaults.UNTIL_SHARES)}.",
        examples=["2%", 0.05],
    )
    at_least: fields.Duration = key(
        "How long a trial lasts at least.",
        defaults.UNTIL_AT_LEAST_NS,
        written=units.write_duration(defaults.UNTIL_AT_LEAST_NS),
        examples=["5s"],
    )
    at_most: fields.Duration = Field(
        description="When it ends whether the mean is known or not.", examples=["30s"]
    )


def _written_as(value: object) -> str:
    return "table" if isinstance(value, dict | UntilTable) else "levels"


DURATION_TAGS = ("levels", "table")
"""How pydantic names the two ways in which a duration may be written."""
Durations = Annotated[
    Annotated[fields.Axis[fields.Duration], Tag("levels")] | Annotated[UntilTable, Tag("table")],
    Discriminator(_written_as),
]


def longest_of(durations: Sequence[int] | UntilTable) -> list[int]:
    """List the durations that a plan names, of one that may end early the longest."""
    return [durations.at_most] if isinstance(durations, UntilTable) else list(durations)
