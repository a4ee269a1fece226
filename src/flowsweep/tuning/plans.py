"""Plans of a search: the text of each round, and of a recommendation, for `flowsweep run` to repeat."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from flowsweep.defaults import SECOND_NS
from flowsweep.tuning.rounds import ROUND_TRIP_NS, Round, Timing
from flowsweep.tuning.settings import TODAY, Setting, Way
from flowsweep.units import write_duration, write_rate

if TYPE_CHECKING:
    from flowsweep.tuning.decide import Decision

Ends = Mapping[Way, tuple[str, str]]
"""Source and sink of each direction, as a plan names them."""

ROUND_TRIP = "round-trip"
_COUNTS_NS, _OMIT_NS = 8 * SECOND_NS, 2 * SECOND_NS
_REPEATS = 5


def sweep_name(way: Way, setting: Setting) -> str:
    """What the sweep of a setting is called, by which its trials are known again."""
    return f"{way}-{setting.name}"


def round_trip_plan(hosts: str, ends: Ends) -> str:
    """Write the plan of the first round: the idle path.

    Args:
        hosts: The `[hosts]` tables.
        ends: The hosts' names.
    """
    sweep = _sweep(ROUND_TRIP, "rtt", ends[Way.out], {"duration": f'"{write_duration(ROUND_TRIP_NS)}"'})
    return f'[campaign]\nname = "tune: round trip"\n\n{hosts}\n\n{sweep}\n'


def round_plan(asked: Round, hosts: str, ends: Ends) -> str:
    """Write the plan of a round: a sweep for each setting and direction, all in the same random blocks.

    Args:
        asked: The round.
        hosts: The `[hosts]` tables.
        ends: The hosts' names.
    """
    campaign = f'[campaign]\nname = "tune: {asked.stage}"\nrepeats = {asked.blocks}'
    return "\n\n".join([campaign, hosts, *_sweeps(asked, ends)]) + "\n"


def recommended_plan(
    decisions: "Mapping[Way, Decision]", hosts: str, ends: Ends, finals: Mapping[Way, Round | None]
) -> str | None:
    """Write a plan that measures what is recommended beside what runs today; None if nothing is.

    Args:
        decisions: Of each direction.
        hosts: The `[hosts]` tables.
        ends: The hosts' names.
        finals: How each direction was measured: the plan leaves out what one flow takes to grow, in any case.
    """
    chosen = {way: (TODAY, one.chosen.setting) for way, one in decisions.items() if one.chosen is not None}
    if not chosen:
        return None
    grows_ns = max((one.timing.slow_start_ns for one in finals.values() if one is not None), default=0)
    omit_ns = max(_OMIT_NS, -(-grows_ns // SECOND_NS) * SECOND_NS)
    lasts = Timing(omit_ns + _COUNTS_NS, omit_ns, SECOND_NS, SECOND_NS // 10)
    asked = Round("verification", chosen, _REPEATS, lasts)
    return round_plan(asked, hosts, ends).replace('"tune: verification"', '"tuned"')


def _sweeps(asked: Round, ends: Ends) -> Iterator[str]:
    lasts = {
        name: f'"{write_duration(value)}"'
        for name, value in (
            ("duration", asked.timing.duration_ns),
            ("omit", asked.timing.omit_ns),
            ("interval", asked.timing.interval_ns),
            ("sample_interval", asked.timing.sample_interval_ns),
        )
    }
    for way, settings in asked.settings.items():
        for setting in settings:
            cap = {} if asked.cap_bps is None else {"rate": f'"{write_rate(asked.cap_bps // setting.flows)}"'}
            yield _sweep(sweep_name(way, setting), "tcp", ends[way], {**setting.keys, **lasts, **cap})


def _sweep(name: str, test: str, path: tuple[str, str], keys: Mapping[str, str]) -> str:
    source, sink = path
    lines = [
        f'[[sweep]]\nname = "{name}"\ntest = "{test}"\npaths = [{{ from = "{source}", to = "{sink}" }}]',
        *(f"{key} = {value}" for key, value in keys.items()),
    ]
    return "\n".join(lines)
