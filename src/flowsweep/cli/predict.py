"""`flowsweep predict`: what each point of a plan should reach, by a model, before a packet is sent."""

import time
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import TypeAdapter, ValidationError

from flowsweep.axes import APART, AXES
from flowsweep.cli.app import app
from flowsweep.cli.completion import complete_plan
from flowsweep.cli.options import Overrides
from flowsweep.cli.sweep_tables import WIDTH_OF_NO_TERMINAL, Column, cell, fitting_table, in_order
from flowsweep.cli.terminal import Screen, say, say_json
from flowsweep.csv_text import csv_text
from flowsweep.defaults import SECOND_NS
from flowsweep.errors import PlanError
from flowsweep.plan import Plan, fields, load_plan, parse_overrides
from flowsweep.prediction.paths import KnownPath
from flowsweep.prediction.points import DEFAULT_CONGESTION, PredictedPoint, left_to_host, predicted_points
from flowsweep.prediction.simulation.simulate import check_simulator, simulated
from flowsweep.schedule import estimate, schedule
from flowsweep.schedule.asked import asked_columns
from flowsweep.wording import (
    counted,
    format_duration,
    format_milliseconds,
    format_rate,
    format_share,
    format_size,
    with_interval,
)


class Format(StrEnum):
    """How to write predictions."""

    table = "table"
    csv = "csv"
    json = "json"


_EPILOG = (
    "The model is a fluid one: flows of TCP (cubic, reno, bbr) on a path with one queue, round trip by round "
    "trip; docs/explanation/prediction.md says how it works, and how far from measurements it is. It knows "
    "nothing of hosts: where a CPU, a disk or a limit of the kernel is slower than the path, less is reached."
)

_RATE_HELP = "Of real hosts: the rate of the path, as in 1Gbit/s. A lab's links are in the plan."
_RTT_HELP = "Of real hosts: the path's round trip when nothing waits, as in 80ms."
_SIMULATE_HELP = (
    "Simulate each point by ns-3, too, packet by packet: seconds to minutes for each; needs flowsweep[ns3]."
)
_QUEUE_HELP = "What may wait at the slowest link, as in 5MB; rate × round trip if absent."


@app.command("predict", epilog=_EPILOG)
def predict(
    plan: Annotated[Path, typer.Argument(metavar="PLAN", help="A plan file.", autocompletion=complete_plan)],
    overrides: Overrides = None,
    rate: Annotated[str | None, typer.Option(metavar="RATE", help=_RATE_HELP)] = None,
    rtt: Annotated[str | None, typer.Option(metavar="TIME", help=_RTT_HELP)] = None,
    queue: Annotated[str | None, typer.Option(metavar="SIZE", help=_QUEUE_HELP)] = None,
    loss: Annotated[
        str | None, typer.Option(metavar="SHARE", help="Packets lost at random, as in 0.01%.")
    ] = None,
    *,
    simulate: Annotated[bool, typer.Option("--simulate", help=_SIMULATE_HELP)] = False,
    form: Annotated[Format, typer.Option("--format", help="For people, or for programs.")] = Format.table,
) -> None:
    """Predict goodput, time and bytes of every point of a plan, without sending a packet."""
    loaded = load_plan(plan, parse_overrides(overrides or []))
    known = _known_path(loaded, {"rate": rate, "rtt": rtt, "queue": queue, "loss": loss})
    if simulate:
        check_simulator()
    points = predicted_points(loaded, known)
    goodputs = _simulated(points) if simulate else [None] * len(points)
    repeats = loaded.campaign.repeats
    rows = [
        _row(point, repeats) | {"simulated_goodput_bps": goodput}
        for point, goodput in zip(points, goodputs, strict=True)
    ]
    match form:
        case Format.csv:
            say(csv_text(rows, list(rows[0])), end="")
        case Format.json:
            say_json(rows)
        case Format.table:
            _print(rows, loaded, points)


def _simulated(points: Sequence[PredictedPoint]) -> list[int | None]:
    """Simulate the points that the model was asked of; says on standard error how far it is."""
    settings = [point.setting for point in points if point.setting is not None]
    began_s = time.monotonic()
    with Screen(stderr=True).status("loading ns-3") as status:

        def say_done(count: int) -> None:
            left_s = (time.monotonic() - began_s) / count * (len(settings) - count)
            left = format_duration(round(left_s) * SECOND_NS)
            status.update(f"simulated {count} of {counted(len(settings), 'point')}, about {left} left")

        goodputs = iter(simulated(settings, say_done))
    found = (None if point.setting is None else next(goodputs) for point in points)
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
        return _READERS[name].validate_python(text)
    except ValidationError as error:
        causes = (problem.get("ctx", {}).get("error", problem["msg"]) for problem in error.errors())
        raise PlanError(f"--{name}", tuple(map(str, causes))) from None


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
    }
    predicted: dict[str, Any] = dict.fromkeys(_PREDICTED)
    if found is not None:
        predicted |= {
            "predicted_goodput_bps": round(found.goodput_bps),
            "predicted_goodput_lowest_bps": round(found.lowest_bps),
            "predicted_goodput_highest_bps": round(found.highest_bps),
            "predicted_limit": found.limit,
            "predicted_rtt_ms": round(found.rtt_s * 1_000, 3),
            "predicted_loss": round(found.loss, 9),
            "predicted_bytes": round(found.whole_bps * duration_s / 8),
        }
    return row | predicted | {"not_predicted": point.why_not or None}


_PREDICTED = (
    "predicted_goodput_bps",
    "predicted_goodput_lowest_bps",
    "predicted_goodput_highest_bps",
    "predicted_limit",
    "predicted_rtt_ms",
    "predicted_loss",
    "predicted_bytes",
)


def _print(rows: Sequence[dict[str, Any]], plan: Plan, points: Sequence[PredictedPoint]) -> None:
    console = Screen()
    if not console.is_terminal:
        console.width = WIDTH_OF_NO_TERMINAL
    for sweep in plan.sweeps:
        own = in_order([row for row in rows if row["sweep"] == sweep.name])
        console.print(fitting_table(sweep.name, own, _RESULTS, console))
        console.print()
    seed = 0 if plan.campaign.seed is None else plan.campaign.seed
    expected = estimate(schedule(plan, seed), plan.links)
    known = [row["predicted_bytes"] for row in rows if row["predicted_bytes"] is not None]
    size = format_size(sum(known) * plan.campaign.repeats)
    of_points = "" if len(known) == len(rows) else f" of the {len(known)} predicted points"
    trials, duration = counted(expected.trials, "trial"), format_duration(expected.duration_ns)
    console.print(f"{trials}, about {duration} and {size}{of_points}.", soft_wrap=True)
    if any(left_to_host(point.trial) for point in points):
        console.print(
            f"Where a plan names no congestion control, the model takes {DEFAULT_CONGESTION}.", soft_wrap=True
        )


def _goodput(row: Mapping[str, Any]) -> str:
    bps, low, high = (row[f"predicted_goodput{part}_bps"] for part in ("", "_lowest", "_highest"))
    if bps is None:
        return ""
    spread = high - low > _SPREAD_SHOWN * bps
    return with_interval(format_rate, bps, low, high) if spread else format_rate(bps)


_SPREAD_SHOWN = 0.02
"""Of a goodput: runs of the model that differ by less are not worth two more numbers."""
_LIMITS = {"path": "path", "window": "window", "rate": "rate asked", "congestion": "congestion control"}
_RESULTS: tuple[Column, ...] = (
    ("predicted goodput", _goodput),
    ("by ns-3", cell("simulated_goodput_bps", format_rate)),
    ("limited by", cell("predicted_limit", _LIMITS.__getitem__)),
    ("round trip", cell("predicted_rtt_ms", format_milliseconds)),
    ("lost", cell("predicted_loss", format_share)),
    ("bytes of a trial", cell("predicted_bytes", format_size)),
    ("not predicted", cell("not_predicted", str)),
)
