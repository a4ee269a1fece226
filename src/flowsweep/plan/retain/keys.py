"""Keys of `[retain]`."""

from typing import Annotated

from pydantic import Field

from flowsweep import defaults
from flowsweep.plan.fields import Table
from flowsweep.plan.readers import age


class RetainTable(Table):
    """How long a service keeps what was measured; summaries, one row per trial, stay for ever."""

    samples: Annotated[int, age(defaults.RETAIN_MIN_NS, defaults.CAMPAIGN_MAX_NS)] = Field(
        description="Samples, and all other tables of measurements, are deleted when the part of the archive "
        "that has them is over for so long.",
        examples=["30d"],
    )
