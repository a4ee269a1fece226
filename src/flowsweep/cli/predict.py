"""`flowsweep predict`: what each point of a plan should reach, by a model, before a packet is sent."""

import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import TypeAdapter, ValidationError

from flowsweep.axes import APART, AXES
from flowsweep.cli.app import app
from flowsweep.cli.check_packed import expected_packed, seed_to_count_with
from flowsweep.cli.completion import complete_plan
from flowsweep.cli.options import PlanOverrides, TableCsvOrJson, TableFormat
from flowsweep.cli.predicted_words import (
    BEYOND,
    CUBIC_TAKEN,
    about_or_at_most,
    beyond_compared,
    each_time,
    takes_default_congestion,
    until_end,
)
from flowsweep.cli.sweep_tables import Column, cell, fitting_table, in_order
from flowsweep.cli.terminal import Screen, say, say_json
from flowsweep.csv_text import csv_text
from flowsweep.defaults import SECOND_NS
from flowsweep.errors import PlanError
from flowsweep.plan import Plan, fields, load_plan, parse_overrides
from flowsweep.prediction.paths import KnownPath
from flowsweep.prediction.points import DEFAULT_CONGESTION, PredictedPoint, left_to_host, predicted_points
from flowsweep.prediction.setting import FlowSetting
from flowsweep.prediction.simulation.simulate import INSTALL, check_simulator, simulated
from flowsweep.schedule import Slot, schedule, slot_duration_ns
from flowsweep.schedule.parameters import Bulk
from flowsweep.schedule.trial_columns import asked_columns
from flowsweep.wording import (
    counted,
    format_duration,
    format_milliseconds,
    format_rate,
    format_seconds,
    format_size,
)

_EPILOG = (
    "The model is a fluid one: flows of TCP (cubic, reno, bbr) or QUIC (cubic, newreno) on a path with one "
    "queue, round trip by round trip; docs/explanation/prediction.md says how it works, and how far from "
    "measurements it is. It knows nothing of hosts: where a CPU, a disk or a limit of the kernel is slower "
    "than the path, less is reached. Between real hosts the flows of a trial share the path you describe."
)

_RATE_HELP = "Of real hosts: the rate of the path, as in 1Gbit/s. A lab's links are in the plan."
_RTT_HELP = "Of real hosts: the path's round trip when nothing waits, as in 80ms."
_SIMULATE_HELP = (
    "Simulate each point of TCP by ns-3, too, packet by packet: seconds to minutes for each. Needs ns-3: "
    f"`{INSTALL}`."
)
_QUEUE_HELP = "What may wait at the slowest link, as in 5MB; rate × round trip if absent."


@app.command("predict", epilog=_EPILOG)
def predict(
    plan: Annotated[Path, typer.Argument(metavar="PLAN", help="A plan file.", autocompletion=complete_plan)],
    overrides: PlanOverrides = None,
    rate: Annotated[str | None, typer.Option(metavar="RATE", help=_RATE_HELP)] = None,
    rtt: Annotated[str | None, typer.Option(metavar="TIME", help=_RTT_HELP)] = None,
    queue: Annotated[str | None, typer.Option(metavar="SIZE", help=_QUEUE_HELP)] = None,
    loss: Annotated[
        str | None, typer.Option(metavar="SHARE", help="Packets lost at random, as in 0.01%.")
    ] = None,
    *,
    simulate: Annotated[bool, typer.Option("--simulate", help=_SIMULATE_HELP)] = False,
    form: TableCsvOrJson = TableFormat.table,
) -> None:
    """Predict goodput and bytes of every point of a plan, and its time, without sending a packet."""
    loaded = load_plan(plan, parse_overrides(overrides or []))
    known = _known_path(loaded, {"rate": rate, "rtt": rtt, "queue": queue, "loss": loss})
    if simulate:
        check_simulator()
    with Screen(stderr=True).status("predicting"):
        points = predicted_points(loaded, known)
    goodputs = _simulated(points) if simulate else [None] * len(points)
    repeats = loaded.campaign.repeats
    rows = [
        _row(point, repeats) | {"simulated_goodput_bps": goodput}
        for point, goodput in zip(points, goodputs, strict=True)
    ]
    match form:
        case TableFormat.csv:
            say(csv_text(rows, list(rows[0])), end="")
        case TableFormat.json:
            say_json(rows)
        case TableFormat.table:
            _print(rows, loaded, points)


def _simulated(points: Sequence[PredictedPoint]) -> list[int | None]:
    """Simulate the points that the model was asked of; says on standard error how far it is."""
    settings = [setting for point in points if (setting := point.of_kernel) is not None]
    began_s = time.monotonic()
    with Screen(stderr=True).status("loading ns-3") as status:

        def say_done(count: int) -> None:
            left_s = (time.monotonic() - began_s) / count * (len(settings) - count)
            left = format_duration(round(left_s) * SECOND_NS)
            status.update(f"simulated {count} of {counted(len(settings), 'point')}, about {left} left")

        goodputs = iter(simulated(settings, say_done))
    found = (None if point.of_kernel is None else next(goodputs) for point in points)
    return [None if goodput is None else round(goodput) for goodput in found]


def _known_path(plan: Plan, told: Mapping[str, str | None]) -> KnownPath | None:
    """Read the options that describe a path.

    Raises:
        PlanError: One is wrong, one of two that go together is missing, or the plan has a lab.
    """
    given = {name: text for name, text in told.items() if text is not None}
    if not given:
        return None
    if plan.links:
        problem = f"{plan.source} has a lab, whose links say what its paths are; leave the option out"
        raise PlanError(_options(given), (problem,))
    missing = [name for name in ("rate", "rtt") if name not in given]
    if missing:
        raise PlanError(_options(given), (f"expected {_options(missing)}, too: a path has both",))
    values = {name: _read(name, text) for name, text in given.items()}
    return KnownPath(values["rate"], values["rtt"], values.get("queue"), values.get("loss", 0.0))


def _options(names: Iterable[str]) -> str:
    return ", ".join(f"--{name}" for name in names)


def _read(name: str, text: str) -> float:
    try:
        return _READERS[name].validate_python(
            float(text) if _NUMBER.fullmatch(text) and name == "loss" else text
        )
    except ValidationError as error:
        causes = (problem.get("ctx", {}).get("error", problem["msg"]) for problem in error.errors())
        raise PlanError(f"--{name}", tuple(map(str, causes))) from None


_NUMBER = re.compile(r"([0-9]+(\.[0-9]*)?|\.[0-9]+)(e-?[0-9]+)?", re.ASCII)
_READERS: Mapping[str, TypeAdapter[float]] = {
    "rate": TypeAdapter(fields.LinkRate),
    "rtt": TypeAdapter(fields.LinkDelay),
    "queue": TypeAdapter(fields.Queue),
    "loss": TypeAdapter(fields.Chance),
}
"""Options are read as a plan's links are."""


def _row(point: PredictedPoint, repeats: int) -> dict[str, Any]:
    trial, found = point.trial, point.prediction
    asked = asked_columns(trial)
    duration_s = asked["duration_ns"] / SECOND_NS
    row: dict[str, Any] = {
        "sweep": trial.sweep,
        "src": trial.src,
        "dst": trial.dst,
        "test": trial.test,
        "simultaneous": trial.simultaneous,
        **{axis.column: asked.get(axis.column) for axis in (*AXES, *APART)},
        "duration_s": duration_s,
        "omit_s": asked["omit_ns"] / SECOND_NS,
        "congestion": asked["congestion"] or (DEFAULT_CONGESTION if left_to_host(trial) else None),
        "background": [background.name for background in trial.background],
        "repeats": repeats,
        "trial_s": slot_duration_ns(Slot(trials=(trial,))) / SECOND_NS,
    }
    predicted: dict[str, Any] = dict.fromkeys(_PREDICTED)
    if found is not None:
        predicted |= {
            "predicted_goodput_bps": round(found.goodput_bps),
            "predicted_goodput_lowest_bps": round(found.lowest_bps),
            "predicted_goodput_highest_bps": round(found.highest_bps),
            "predicted_limit": found.limit,
            "predicted_was_compared": found.was_compared,
            "predicted_rtt_ms": round(found.rtt_s * 1_000, 3),
            "predicted_bytes": round(found.whole_bps * duration_s / 8),
        }
    return row | predicted | {"not_predicted": point.why_not or None}


_PREDICTED = (
    "predicted_goodput_bps",
    "predicted_goodput_lowest_bps",
    "predicted_goodput_highest_bps",
    "predicted_limit",
    "predicted_was_compared",
    "predicted_rtt_ms",
    "predicted_bytes",
)


def _print(rows: Sequence[dict[str, Any]], plan: Plan, points: Sequence[PredictedPoint]) -> None:
    console = Screen.for_tables()
    for sweep in plan.sweeps:
        own = in_order([row for row in rows if row["sweep"] == sweep.name])
        known = [row for row in own if row["not_predicted"] is None]
        console.print(fitting_table(sweep.name, known, _RESULTS, console) if known else sweep.name)
        reasons = Counter(row["not_predicted"] for row in own if row["not_predicted"] is not None)
        for reason, count in reasons.items():
            console.print(f"  not predicted, {counted(count, 'point')}: {reason}", soft_wrap=True)
        console.print()
    for line in (_cost(rows, plan), *_taken_for_granted(rows, points)):
        console.print(line, soft_wrap=True)


def _cost(rows: Sequence[dict[str, Any]], plan: Plan) -> str:
    """What the campaign takes, or each time of it: all of its time, and the payload of what is predicted."""
    slots = schedule(plan, seed_to_count_with(plan))
    duration_ns = expected_packed(plan, slots).lasts_ns
    trials = sum(slot.trial_count for slot in slots)
    lasts = f"{counted(trials, 'trial')}, {about_or_at_most(plan.sweeps)} {format_duration(duration_ns)}"
    known = [row for row in rows if row["predicted_bytes"] is not None]
    if not known:
        return f"{lasts}{each_time(plan)}; how many bytes is not predicted."
    of_sweep: Counter[str] = Counter()
    for row in known:
        of_sweep[row["sweep"]] += row["predicted_bytes"] * plan.campaign.repeats
    size = format_size(of_sweep.total())
    whole = until_end(plan, of_sweep)
    more = f"; {whole}." if whole else "."
    if len(known) == len(rows):
        return f"{lasts} and {size} of payload{each_time(plan)}{more}"
    of_points = f"in the {len(known)} of {counted(len(rows), 'point')} that are predicted"
    if plan_times := each_time(plan):
        return f"{lasts} and, {of_points}, {size} of payload{plan_times}{more}"
    return f"{lasts}; {size} of payload {of_points}."


def _taken_for_granted(rows: Sequence[dict[str, Any]], points: Sequence[PredictedPoint]) -> Iterator[str]:
    """What the plan leaves open, and the model takes to be one way."""
    if takes_default_congestion(points):
        yield CUBIC_TAKEN
    tuned = [setting for point in points if (setting := point.of_kernel) is not None and _is_tuned(point)]
    if tuned:
        size = format_size(max(map(_in_flight_bytes, tuned)))
        yield (
            "Where it leaves windows to the kernel, they are taken to be as large as path and queue can "
            f"hold, or a window at the other end: up to {size} a flow. A host's limits "
            "(tcp_rmem, tcp_wmem) may be lower."
        )
    for compared, count in beyond_compared(points).items():
        yield f"At {counted(count, 'point')} congestion control decides, {BEYOND}: {compared.words}."
    if any(_spread(row) for row in rows):
        yield "Runs of the model differ by chance: the range is that of its runs, no confidence interval."


def _is_tuned(point: PredictedPoint) -> bool:
    """Whether the window of one of its ends, or of both, is left to the kernel."""
    parameters = point.trial.parameters
    if not isinstance(parameters, Bulk):
        return False
    return None in (parameters.window_send_bytes, parameters.window_recv_bytes)


def _in_flight_bytes(setting: FlowSetting) -> float:
    """What a flow has in flight at most, as the model has it."""
    path = setting.path
    held_bytes = (path.rate_bps * path.rtt_s / 8 + path.queue_bytes) / setting.flows
    if setting.window_segments is None:
        return held_bytes
    return min(held_bytes, setting.window_segments * setting.segment_bytes)


def _spread(row: Mapping[str, Any]) -> str:
    """The range of a point's runs, where it is wide enough to tell."""
    bps, low, high = (row[f"predicted_goodput{part}_bps"] for part in ("", "_lowest", "_highest"))
    if bps is None or high - low <= _SPREAD_SHOWN * bps:
        return ""
    return f"{format_rate(low)} to {format_rate(high)}"


_SPREAD_SHOWN = 0.02
"""Of a goodput: runs of the model that differ by less are not worth two more numbers."""
_RESULTS: tuple[Column, ...] = (
    ("predicted goodput", cell("predicted_goodput_bps", format_rate)),
    ("by ns-3", cell("simulated_goodput_bps", format_rate)),
    ("limited by", cell("predicted_limit", str)),
    ("range of runs", _spread),
    ("round trip", cell("predicted_rtt_ms", format_milliseconds)),
    ("payload of a trial", cell("predicted_bytes", format_size)),
    ("time of a trial", cell("trial_s", format_seconds)),
)
