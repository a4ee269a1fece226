"""What `check` says of a plan with times: when sweeps are due, what that takes, whether it fits."""

from collections.abc import Iterator, Sequence
from itertools import islice

from flowsweep.cli.check_packed import Row, seed_to_count_with
from flowsweep.defaults import SECOND_NS
from flowsweep.errors import PlanError
from flowsweep.plan import Plan
from flowsweep.plan.campaign import Timing
from flowsweep.plan.links.model import Link
from flowsweep.plan.model import Sweep
from flowsweep.plan.retain.model import Retain
from flowsweep.run.hold_ups import shown_time
from flowsweep.schedule import has_times, occasions
from flowsweep.schedule.load import DAY_NS, Load, carried_from, load_of
from flowsweep.units import write_age
from flowsweep.wording import format_duration, format_share, format_size

_SHOWN = 5
_REMEDIES_TRIED = 3
"""What runs later makes what comes after it later."""


def times_sections(plan: Plan, now_unix_ns: int, seed: int) -> list[tuple[str, list[Row]]]:
    """Say when sweeps are due if the campaign begins now, and what that takes."""
    kept = [] if plan.retain is None else [("kept", [("samples", _kept_words(plan.retain))])]
    return [
        ("times", [(sweep.name, _when(sweep, plan, now_unix_ns, seed)) for sweep in plan.sweeps]),
        ("load", list(_load_rows(plan, load_of(plan, now_unix_ns, seed)))),
        *kept,
    ]


def refuse_misfit(plan: Plan, now_unix_ns: int) -> None:
    """Refuse a plan whose sweeps with times do not fit, as `check` does.

    Raises:
        PlanError: A sweep is never due, or would be missed since others still run.
    """
    if has_times(plan) and (problems := tuple(times_refusals(plan, now_unix_ns))):
        raise cannot_run(plan, problems)


def cannot_run(plan: Plan, problems: Sequence[str]) -> PlanError:
    """What is wrong with a plan that is well written."""
    return PlanError(f"{plan.source}: it cannot run as it is", tuple(problems))


def times_refusals(plan: Plan, now_unix_ns: int) -> Iterator[str]:
    """Say which sweeps would be missed again and again since others still run, and what would fit."""
    seed = seed_to_count_with(plan)
    load = load_of(plan, now_unix_ns, seed)
    for one in plan.sweeps:
        if next(occasions(_alone(one, plan), now_unix_ns, seed), None) is None:
            yield (
                f"sweep {one.name}: is never due if the campaign begins now; change its times, or how long "
                "the campaign goes on"
            )
    if not load.missed:
        return
    remedy = _remedy(plan, load, now_unix_ns, seed)
    for sweep, missed in load.missed.items():
        other = load.in_the_way[sweep]
        yield (
            f"sweep {sweep}: by what trials are expected to take it would be missed {missed} of the "
            f"{load.due[sweep]} times that it is due within "
            f"{format_duration(load.span_ns)}, as when sweep {other} still runs, which takes "
            f"{format_duration(load.run_ns[other])}; {remedy}"
        )


def _remedy(plan: Plan, load: Load, now_unix_ns: int, seed: int) -> str:
    """What would fit, tried out as well, by the names that the plan has; A and B have the same times."""
    whole_ns = sum(load.run_ns.values())
    later: dict[str, int] = {}
    for _ in range(_REMEDIES_TRIED):
        later |= _later(plan, load, later)
        load = load_of(_with_slips(plan, later), now_unix_ns, seed)
        if not load.missed:
            words = (f'slip = "{ns // SECOND_NS}s" in sweep {name}' for name, ns in later.items())
            return f"{', '.join(words)} would fit"
    whole = format_duration(whole_ns)
    return f"all sweeps together take {whole}: run them less often, or make their trials shorter"


def _later(plan: Plan, load: Load, tried: dict[str, int]) -> dict[str, int]:
    """By sweep that was missed, how late it may have to begin: no earlier than was tried."""
    plain = {sweep.name: sweep.plain_name for sweep in plan.sweeps}
    later: dict[str, int] = {}
    for name, late_ns in load.late_ns.items():
        known_ns = max(tried.get(plain[name], 0), later.get(plain[name], 0))
        later[plain[name]] = max(known_ns, _whole_seconds(late_ns))
    return later


def _with_slips(plan: Plan, slips_ns: dict[str, int]) -> Plan:
    def changed(sweep: Sweep) -> Sweep:
        timing, slip_ns = sweep.timing, slips_ns.get(sweep.plain_name)
        if timing is None or slip_ns is None:
            return sweep
        if timing.every_ns is not None and slip_ns + timing.jitter_ns > timing.every_ns:
            return sweep
        return sweep.model_copy(update={"timing": timing.model_copy(update={"slip_ns": slip_ns})})

    return plan.model_copy(update={"sweeps": tuple(map(changed, plan.sweeps))})


def _kept_words(retain: Retain) -> str:
    return (
        f"for {write_age(retain.samples_ns)} after the end of their part of the archive, by `flowsweep "
        "service`; summaries for ever"
    )


def _whole_seconds(duration_ns: int) -> int:
    return -(-duration_ns // SECOND_NS) * SECOND_NS


def _when(sweep: Sweep, plan: Plan, now_unix_ns: int, seed: int) -> str:
    timing = sweep.timing
    if timing is None:
        return "once"
    times = islice(occasions(_alone(sweep, plan), now_unix_ns, seed), _SHOWN + 1)
    coming = [shown_time(one.due_unix_ns) for one in times]
    more = ", …" if len(coming) > _SHOWN else ""
    late = format_duration(timing.slip_ns)
    due = f"{', '.join(coming[:_SHOWN])}{more}" if coming else "never"
    return f"{_rule(timing)}, at most {late} late; if begun now: {due}"


def _alone(sweep: Sweep, plan: Plan) -> Plan:
    return plan.model_copy(update={"sweeps": (sweep,)})


def _rule(timing: Timing) -> str:
    jitter = f", up to {format_duration(timing.jitter_ns)} later" if timing.jitter_ns else ""
    if timing.every_ns is None:
        return f"each day at {', '.join(map(_time, timing.at_minutes))} ({timing.timezone}){jitter}"
    part = ""
    if timing.between_minutes is not None:
        first, last = map(_time, timing.between_minutes)
        part = f" from {first} to {last} ({timing.timezone})"
    return f"every {format_duration(timing.every_ns)}{part}{jitter}"


def _time(minutes: int) -> str:
    return f"{minutes // 60:02}:{minutes % 60:02}"


def _load_rows(plan: Plan, load: Load) -> Iterator[Row]:
    """What hosts and links have to bear; per day, where the campaign lasts as long as one."""
    span_ns = max(load.span_ns, 1)
    period = "a day" if span_ns == DAY_NS else f"in {format_duration(span_ns)}"
    for host in plan.hosts:
        busy = format_share(min(1, load.busy_ns[host.name] / span_ns))
        at_most = "at most " if host.name in load.beside | load.less else ""
        bound = _bound(load, host.name)
        sent = f"sends {bound} {format_size(load.sent_bytes[host.name])} {period}"
        if host.name in load.unbounded:
            sent = "bytes sent: unbounded"
        yield host.name, f"busy for {at_most}{busy} of the time, {sent}"
    for link in plan.links:
        yield from _link_rows(load, link, span_ns)


def _bound(load: Load, host: str) -> str:
    """The words before what a host sends."""
    if host not in load.about:
        return "at most"
    return "at most about" if host in load.less else "about"


def _link_rows(load: Load, link: Link, span_ns: int) -> Iterator[Row]:
    """A row for each way of a link; of a switch, for each port through which something comes."""
    for source in link.between:
        carried_bps, bits = carried_from(link, source), load.link_bits[link.name, source]
        if carried_bps and bits:
            others = [host for host in link.between if host != source]
            way = f"from {source}" if link.is_switch else f"{source} → {others[0]}"
            share = min(1, bits / (carried_bps * span_ns / SECOND_NS))
            bound = _bound(load, source) if share < 1 else "at most"
            yield f"link {link.name}", f"{way}: {bound} {format_share(share)} of what it carries"
