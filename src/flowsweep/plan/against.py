"""Two plans as one campaign: each sweep twice, once as A has it and once as B has it."""

from collections.abc import Iterator

from flowsweep.errors import PlanError
from flowsweep.plan.difference import ABSENT, key_change, plan_changes, sweep_changes
from flowsweep.plan.model import Plan, Setting, Sweep
from flowsweep.plan.readers import listed
from flowsweep.plan.searching.model import SearchInRounds
from flowsweep.tests import BULK_TESTS

_NOT_SHARED = ("sweep", "campaign.name", "campaign.seed")
"""Tables and keys in which two plans may differ; name and seed of the campaign are A's."""
_ALIKE = ("test", "paths", "directions", "pairs", "window_max_bytes", "timing")
"""Keys that say which points a sweep has, and when, whatever their settings."""


def joined(a: Plan, b: Plan) -> Plan:
    """Make one plan of two, which has each sweep as `NAME-A` and as `NAME-B`.

    Sweeps are matched by name. Where a key of the two differs, it has one value in each plan; so both have
    the same points, in the same order.

    Raises:
        PlanError: With all that keeps the two from being measured side by side.
    """
    problems = (*_shared_problems(a, b), *_name_problems(a, b), *_sweep_problems(a, b))
    if problems:
        raise PlanError(f"{a.source} (A) against {b.source} (B)", problems)
    of_b = {sweep.name: sweep for sweep in b.sweeps}
    both = ((sweep, of_b[sweep.name]) for sweep in a.sweeps)
    return a.model_copy(
        update={
            "source": f"{a.source} against {b.source}",
            "text": f"{a.text}\n# Against {b.source}:\n\n{b.text}",
            "sweeps": tuple(sweep for first, second in both for sweep in (_as(first, "A"), _as(second, "B"))),
        }
    )


def setting_pairs(plan: Plan) -> tuple[tuple[Sweep, Sweep], ...]:
    """List the sweeps of a joined plan as A and as B have them; empty for any other plan."""
    of_b = {sweep.plain_name: sweep for sweep in plan.sweeps if sweep.setting == "B"}
    return tuple(
        (sweep, of_b[sweep.plain_name])
        for sweep in plan.sweeps
        if sweep.setting == "A" and sweep.plain_name in of_b
    )


def setting_changes(plan: Plan) -> tuple[tuple[str, str, str], ...]:
    """Tell each key in which the settings of a joined plan differ, with its value in A and in B."""
    return tuple(
        (f"sweep.{first.plain_name}.{key}", in_a, in_b)
        for first, second in setting_pairs(plan)
        for key, in_a, in_b in sweep_changes(first, second)
    )


def _as(sweep: Sweep, setting: Setting) -> Sweep:
    return sweep.model_copy(update={"name": f"{sweep.name}-{setting}", "setting": setting})


def _shared_problems(a: Plan, b: Plan) -> Iterator[str]:
    apart = [
        f"{key} ({in_a} in A, {in_b} in B)"
        for key, in_a, in_b in plan_changes(a, b)
        if not key.startswith(_NOT_SHARED)
    ]
    if apart:
        yield (
            f"{', '.join(apart)}: expected the same in both, since A and B take turns on the same "
            "hosts and links and differ in keys of [[sweep]] alone; for anything else run two campaigns and "
            "compare them"
        )
    for table in ("alarms", "retain"):
        if getattr(a, table) != getattr(b, table):
            yield f"{table}: differs, expected the same in both: it is of the one archive that both fill"
    if max(a.campaign.concurrent, b.campaign.concurrent) > 1:
        yield (
            "campaign.concurrent: found, expected one trial at a time: A and B take turns, and what runs "
            "beside them would be part of what differs; leave it out"
        )
    if a.campaign.order == b.campaign.order != "blocks":
        why = "whether A or B runs first is drawn, or the order would be part of what differs"
        yield f'campaign.order: found "{a.campaign.order}", expected "blocks": {why}'


def _name_problems(a: Plan, b: Plan) -> Iterator[str]:
    names = [{sweep.name for sweep in plan.sweeps} for plan in (a, b)]
    for where, only in (("A", names[0] - names[1]), ("B", names[1] - names[0])):
        for name in sorted(only):
            yield f"sweep.{name}: is in {where} alone, expected a sweep of that name in both, to match points"


def _sweep_problems(a: Plan, b: Plan) -> Iterator[str]:
    of_b = {sweep.name: sweep for sweep in b.sweeps}
    both = [(sweep, of_b[sweep.name]) for sweep in a.sweeps if sweep.name in of_b]
    if both and not any(first.test in BULK_TESTS for first, _ in both):
        tests = listed(BULK_TESTS)
        yield f"sweep: none of both has the test {tests}, expected one: what is compared is goodput"
    for first, second in both:
        yield from (f"sweep.{first.name}.{problem}" for problem in _unmatched(first, second))


def _unmatched(first: Sweep, second: Sweep) -> Iterator[str]:
    """Say why the points of a sweep have no partners, key by key."""
    if first.rate_search is not None or second.rate_search is not None:
        yield "rate_search: found, expected given rates: the steps of a search follow from its own results"
    if isinstance(first.search, SearchInRounds) or isinstance(second.search, SearchInRounds):
        yield "find: found, expected given settings: the steps of a search follow from its own results"
    for name in Sweep.model_fields:
        in_a, in_b = getattr(first, name), getattr(second, name)
        if in_a == in_b:
            continue
        key, value_a, value_b = key_change(name, in_a, in_b)
        found = f"{key}: {value_a} in A, {value_b} in B"
        if name in _ALIKE:
            yield f"{found}, expected the same in both"
        elif name != "background" and _several(in_a, in_b):
            yield f"{found}, expected one value in each: what is swept must be the same in both"
    if first.flows != second.flows and first.window_max_bytes is not None:
        yield f"window_max: found where flows differ, expected {ABSENT}: what it makes equal differs, too"


def _several(*values: object) -> bool:
    return any(isinstance(value, tuple) and len(value) > 1 for value in values)
