"""Words for the traffic that ran beside trials and took its part of what they could have had."""

from collections.abc import Sequence
from statistics import median

from flowsweep.analysis.observations import Row
from flowsweep.schedule.companions import PROBE
from flowsweep.wording import format_share


def others_named(row: Row) -> str:
    """Name the traffic that ran beside a trial: "cubic and datagrams"; empty where none did.

    A probe is none: it carries next to no bytes.
    """
    return " and ".join(name for name in row.get("companions") or () if name != PROBE)


def beside_others(rows: Sequence[Row]) -> str:
    """Say beside what trials ran, and what part of the bytes it got.

    Args:
        rows: Of a summary, all of one sweep and direction.

    Returns:
        "beside cubic, to which 35.5 % of the goodput of all traffic goes": of the shares that are known (1 −
        `share`) the median over the trials. Empty where nothing ran beside them.
    """
    names = others_named(rows[0])
    shares = [1 - row["share"] for row in rows if row.get("share") is not None]
    if not names or not shares:
        return names and f"beside {names}"
    return f"beside {names}, to which {format_share(median(shares))} of the goodput of all traffic goes"
