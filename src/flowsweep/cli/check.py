"""`flowsweep check`: what a plan would run, how long it takes, and what is worth knowing before."""

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from flowsweep.axes import CONGESTION, MODE, PART, RATE, RATE_SUM, SETTINGS
from flowsweep.cli.app import app
from flowsweep.cli.check_files import expected_time, space_rows
from flowsweep.cli.check_packed import Row, packed_rows, seed_to_count_with
from flowsweep.cli.check_search import search_rows
from flowsweep.cli.check_times import cannot_run, times_refusals, times_sections
from flowsweep.cli.completion import complete_plan
from flowsweep.cli.exit_codes import CODES_OF_CHECK
from flowsweep.cli.options import Against, PlanOverrides, load_both
from flowsweep.cli.search_words import flows_words
from flowsweep.cli.terminal import Screen, say
from flowsweep.cli.this_machine import refusals
from flowsweep.errors import PlanError
from flowsweep.plan import Plan, parse_overrides, setting_changes
from flowsweep.plan.model import Background, Group, Sweep
from flowsweep.plan.probing import PathProbing, Probe, RttProbing
from flowsweep.plan.searching.model import SearchInRounds
from flowsweep.schedule import (
    Estimate,
    Point,
    Slot,
    estimate,
    expand,
    has_times,
    matched,
    remarks,
    schedule,
)
from flowsweep.schedule.grid import searches_gathered
from flowsweep.schedule.parameters import Bulk
from flowsweep.tests import BULK_TESTS, facts_of
from flowsweep.wording import (
    counted,
    direction,
    either_way,
    format_duration,
    format_rate,
    format_size,
    hosts_of_groups,
    link_words,
)

_PATHS_SHOWN = 12
OWN_OF_LIBRARY = "the library's own"
"""Of windows and congestion control that are none of a host's sockets."""


@app.command(epilog=CODES_OF_CHECK)
def check(
    plan: Annotated[Path, typer.Argument(help="The plan, a TOML file.", autocompletion=complete_plan)],
    overrides: PlanOverrides = None,
    *,
    against: Against = None,
    hosts: Annotated[
        bool,
        typer.Option(
            "--hosts",
            help="Reach every host instead: engine, clock, ports, windows, congestion controls, MTU. A row "
            "for each; exit code 1 if trials would fail.",
        ),
    ] = False,
    predict: Annotated[
        bool,
        typer.Option("--predict", help="Say, too, which goodput and bytes a model expects: see `predict`."),
    ] = False,
) -> None:
    """Say what a plan would run: trials, seconds, bytes, and what is wrong with it.

    Checks that this machine can take the role that the plan gives it: a lab, or hosts.
    """
    loaded = load_both(plan, against, parse_overrides(overrides or []))
    if hosts and predict:
        raise PlanError(
            "--predict", ("has no effect with --hosts, which asks the hosts: leave one of them out",)
        )
    if hosts:
        # Sessions and traffic take longer to load than all else of this command.
        from flowsweep.cli.check_hosts import check_hosts

        raise typer.Exit(check_hosts(loaded, (plan, against)))
    points = expand(loaded)
    seed = seed_to_count_with(loaded)
    slots = schedule(loaded, seed)
    sections = _sections(loaded, points, slots, against=against is not None, predict=predict)
    unfit: Iterable[str] = ()
    if has_times(loaded):
        now_unix_ns = time.time_ns()
        sections += times_sections(loaded, now_unix_ns, seed)
        unfit = times_refusals(loaded, now_unix_ns)
    console = Screen()
    show = partial(_print_table, console) if console.is_terminal else _print_plain
    for title, rows in sections:
        show(title, rows)
    for remark in remarks(loaded, points):
        console.print(Text.assemble(("note:", "yellow"), f" {remark}"), soft_wrap=not console.is_terminal)
    problems = (*unfit, *refusals(loaded, points))
    if problems:
        raise cannot_run(loaded, problems)


def _sections(
    plan: Plan, points: Sequence[Point], slots: Sequence[Slot], *, against: bool, predict: bool
) -> list[tuple[str, list[Row]]]:
    """What is said of the campaign, of two settings that are compared, and of each sweep."""
    campaign_rows: list[Row] = []
    sweep_rows: Mapping[str, list[Row]] = {}
    if predict:
        # The model needs NumPy, which takes as long to load as half of this command.
        from flowsweep.cli.check_predicted import predicted_rows

        campaign_rows, sweep_rows = predicted_rows(plan)
    sections = [("campaign", [*_campaign_rows(plan, points, slots), *campaign_rows])]
    if against:
        sections.append(("A against B", _setting_rows(plan)))
    for sweep in plan.sweeps:
        rows = [*_sweep_rows(sweep, plan, points, slots), *sweep_rows.get(sweep.name, [])]
        sections.append((f"sweep {sweep.name}", rows))
    return sections


def _campaign_rows(plan: Plan, points: Sequence[Point], slots: Sequence[Slot]) -> list[Row]:
    expected = estimate(slots, plan.links)
    at_most = "at most " if any(sweep.may_take_less for sweep in plan.sweeps) else ""
    return [
        ("name", plan.campaign.name),
        *([("overrides", ", ".join(plan.overrides))] if plan.overrides else []),
        (
            "trials each time" if has_times(plan) else "trials",
            f"{expected.trials} ({_product(points, plan.campaign.repeats)})",
        ),
        ("expected time", at_most + expected_time(plan, slots)),
        *packed_rows(plan, slots),
        ("expected bytes", _bytes(expected, at_most)),
        ("order", _order(plan)),
        ("hosts", ", ".join(host.name for host in plan.hosts)),
        *([("groups", ", ".join(map(_group, plan.groups)))] if plan.groups else []),
        *(
            [("lab", "; ".join(f"{link.name}: {link_words(link.model_dump())}" for link in plan.links))]
            if plan.links
            else []
        ),
    ]


def _setting_rows(plan: Plan) -> list[Row]:
    """What is matched, and in what it differs."""
    points = sum(first.test in BULK_TESTS for first, _ in matched(plan))
    turns = "A and B one after the other, whichever first is drawn"
    changes = [(key, f"{in_a} in A, {in_b} in B") for key, in_a, in_b in setting_changes(plan)]
    return [
        ("compared", f"{counted(points, 'point')}, each time {turns}"),
        *(changes or [("differ in", "nothing: A and B are the same setting")]),
    ]


def _product(points: Sequence[Point], repeats: int) -> str:
    """Say where the number of trials comes from: "9 points × 2 directions × 3 repeats"."""
    searched = [point for point in searches_gathered(points) if isinstance(point.search, SearchInRounds)]
    others = [point for point in points if not isinstance(point.search, SearchInRounds)]
    parts = []
    if others:
        terms = _terms(others, " × {} steps")
        grid = f"({' + '.join(terms)})" if len(terms) > 1 else terms[0]
        parts.append(f"{grid} × {counted(repeats, 'repeat')}")
    return " + ".join([*parts, *_terms(searched, " × at most {} steps", "search", "searches")])


def _terms(
    points: Sequence[Point], steps_words: str, one: str = "point", several: str = "points"
) -> list[str]:
    alike = Counter(
        (point.directions != "one", Slot(trials=point.trials(repeat=1)[:1]).steps) for point in points
    )
    return [
        f"{count} {one if count == 1 else several}"
        + (" × 2 directions" if both else "")
        + (steps_words.format(steps) if steps > 1 else "")
        for (both, steps), count in sorted(alike.items())
    ]


def _sweep_rows(sweep: Sweep, plan: Plan, points: Sequence[Point], slots: Sequence[Slot]) -> list[Row]:
    own_points = [point for point in points if point.sweep == sweep.name]
    own_slots = [slot for slot in slots if slot.trials[0].sweep == sweep.name]
    expected = estimate(own_slots, plan.links)
    at_most = "at most " if sweep.may_take_less else ""
    common = [
        ("paths", _paths(sweep)),
        ("directions", sweep.directions),
        ("points", str(len(own_points))),
        ("trials", str(expected.trials)),
        ("expected time", at_most + expected_time(plan, own_slots)),
        ("expected bytes", _bytes(expected, at_most)),
    ]
    if sweep.probing is not None:
        return [*common, *_probing_rows(sweep.probing)]
    if sweep.rtt_probing is not None:
        return [*common, *_rtt_probing_rows(sweep, sweep.rtt_probing)]
    return [
        *common,
        *_flow_rows(sweep, own_points),
        *([] if sweep.plateau_search else [("window per flow", _windows(sweep.test, own_points))]),
        ("length", ", ".join(map(format_size, sweep.length_bytes))),
        *_congestion_rows(sweep),
        ("duration", _durations(sweep)),
        *([] if facts_of(sweep.test).job else [("interval", format_duration(sweep.interval_ns))]),
        *space_rows(plan, own_slots),
        *search_rows(sweep, len(own_points), own_slots, plan.links),
        *_set_rows(sweep),
        *_beside_rows(sweep),
    ]


def _paths(sweep: Sweep) -> str:
    shown = ", ".join(direction(path.src, path.dst) for path in sweep.paths[:_PATHS_SHOWN])
    return shown if len(sweep.paths) <= _PATHS_SHOWN else f"{shown}, … {len(sweep.paths)} paths in all"


def _congestion_rows(sweep: Sweep) -> list[Row]:
    if sweep.test not in CONGESTION.tests:
        return []
    absent = "default of the host" if facts_of(sweep.test).socket_windows else OWN_OF_LIBRARY
    return [("congestion", ", ".join(name or absent for name in sweep.congestion))]


def _flow_rows(sweep: Sweep, points: Sequence[Point]) -> list[Row]:
    """Flows; where groups of hosts take part, between how many hosts, and how many that makes."""
    trials = [trial for point in points for trial in point.trials(repeat=1)]
    hosts = dict.fromkeys(hosts_of_groups(len(trial.sources), len(trial.sinks)) for trial in trials)
    flows = ("flows", flows_words(sweep))
    if not any(hosts):
        return [flows]
    return [
        ("hosts", ", ".join(name or "1 × 1" for name in hosts)),
        ("flows per pair", flows[1]),
        ("flows", ", ".join(map(str, sorted({trial.total_flows for trial in trials})))),
    ]


def _rtt_probing_rows(sweep: Sweep, probing: RttProbing) -> list[Row]:
    between = format_duration(probing.every_ns)
    return [
        ("echo", ", ".join(echo.replace("_", "-") for echo in sweep.echo)),
        ("length", ", ".join(map(format_size, sweep.length_bytes))),
        ("duration", _durations(sweep)),
        ("probes", f"at random, {between} apart on average" if probing.poisson else f"every {between}"),
        ("timeout", format_duration(probing.timeout_ns)),
    ]


def _probing_rows(probing: PathProbing) -> list[Row]:
    sizes = ", ".join(map(format_size, probing.sizes_bytes))
    at_each = f"at each of {counted(probing.stream_rates, 'rate')}"
    return [
        ("hops", f"{probing.ttl_max} at most, {probing.probes} probes each of {sizes}"),
        ("trains", f"{probing.trains} of {counted(probing.train_packets, 'packet')}"),
        ("streams", f"{probing.streams} of {counted(probing.stream_packets, 'packet')} {at_each}"),
    ]


def _beside_rows(sweep: Sweep) -> list[Row]:
    """What runs beside each trial."""
    probe = [] if sweep.probe is None else [("probe", _probe(sweep.probe))]
    return [*probe, *(("beside", _background(background)) for background in sweep.background)]


def _probe(probe: Probe) -> str:
    every, before, after = map(format_duration, (probe.every_ns, probe.before_ns, probe.after_ns))
    return f"round-trip time ({probe.echo}) every {every}, from {before} before to {after} after each trial"


def _background(background: Background) -> str:
    src, dst = background.src, background.dst
    path = "" if src is None or dst is None else f", {direction(src, dst)}"
    rate = "" if background.rate_bps is None else f" of {format_rate(background.rate_bps)}"
    lasts = "" if background.duration_ns is None else f" for {format_duration(background.duration_ns)}"
    protocol = " ".join(part for part in (background.test, background.congestion) if part)
    pattern = ""
    if background.on_ns is not None and background.off_ns is not None:
        on, off = map(format_duration, (background.on_ns, background.off_ns))
        pattern = f", in bursts of {on} with pauses of {off}"
    return (
        f"{background.name}: {counted(background.flows, 'flow')}{rate} ({protocol}){path}, "
        f"from {format_duration(background.start_ns)} on{lasts}{pattern}"
    )


def _group(group: Group) -> str:
    return f"{group.name} ({counted(len(group.hosts), 'host')})"


def _set_rows(sweep: Sweep) -> list[Row]:
    """What most plans leave to the hosts, where this one does not."""
    rows = []
    for axis in (RATE, RATE_SUM, *SETTINGS[1:], MODE, PART):
        levels = getattr(sweep, axis.parameter or axis.column) or ()
        asked = sweep.test in axis.tests and any(level is not None and axis.is_set(level) for level in levels)
        if asked:
            write = axis.tick or axis.write
            written = ("not set" if level is None else write(level) for level in levels)
            rows.append((axis.title, ", ".join(written)))
    return rows


def _bytes(expected: Estimate, at_most: str) -> str:
    if expected.bytes_at_most is not None:
        bound = f"{at_most}about" if expected.is_about else "at most"
        return f"{bound} {format_size(expected.bytes_at_most)}"
    if expected.unbounded_trials == expected.trials:
        return "unknown: no link and no rate bounds them"
    return f"unknown: no link and no rate bounds {counted(expected.unbounded_trials, 'trial')}"


def _order(plan: Plan) -> str:
    if plan.campaign.order == "listed":
        return "listed, as written"
    seed = plan.campaign.seed
    drawn = "seed drawn when the campaign starts" if seed is None else f"seed {seed}"
    blocks = "rounds" if all(isinstance(sweep.search, SearchInRounds) for sweep in plan.sweeps) else "blocks"
    return f"randomised {blocks}, {drawn}"


def _windows(test: str, points: Sequence[Point]) -> str:
    """Show the range at each end, once where both are alike."""
    facts = facts_of(test)
    absent = "default of the host" if facts.socket_windows else OWN_OF_LIBRARY
    absent = "autotuning" if facts.windows_tuned else absent
    bulk = [point.parameters for point in points if isinstance(point.parameters, Bulk)]
    send = _range([parameters.window_send_bytes for parameters in bulk], absent)
    recv = _range([parameters.window_recv_bytes for parameters in bulk], absent)
    return send if send == recv else f"send {send}, receive {recv}"


def _range(sizes: Sequence[int | None], absent: str) -> str:
    known = [size for size in sizes if size is not None]
    if not known:
        return absent
    least, most = format_size(min(known)), format_size(max(known))
    return least if least == most else f"{least} to {most}"


def _durations(sweep: Sweep) -> str:
    durations = ", ".join(map(format_duration, sweep.duration_ns))
    if sweep.until is not None:
        known = f"until the mean is known to {either_way(sweep.until.share)}"
        durations = f"{known}, {format_duration(sweep.until.at_least_ns)} to {durations}"
    return f"{durations}, of which {format_duration(sweep.omit_ns)} omitted" if sweep.omit_ns else durations


def _print_table(console: Screen, title: str, rows: Sequence[Row]) -> None:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for key, value in rows:
        table.add_row(f"  {key}", value)
    console.print(title, style="bold")
    console.print(table)
    console.print()


def _print_plain(title: str, rows: Sequence[Row]) -> None:
    say(title)
    width = max(len(key) for key, _ in rows)
    for key, value in rows:
        say(f"  {key:<{width}}  {value}")
