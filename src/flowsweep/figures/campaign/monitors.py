"""Under goodput over the campaign: what routers counted on the way, and how busy monitored hosts were."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from html import escape

import numpy as np
import plotly.graph_objects as go

from flowsweep.analysis.monitors.explanations import crossed
from flowsweep.analysis.monitors.facts import MonitorFacts
from flowsweep.analysis.monitors.series import Course, Key, Silence, courses, silences
from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.figures.drawing import Drawn, FigureData, file_stem
from flowsweep.figures.frame import named_axis, rate_axis, rate_scale
from flowsweep.figures.framed import framed
from flowsweep.figures.theme import FAILED_MARK, series_colours
from flowsweep.figures.trials import TrialGroup, trial_groups
from flowsweep.plan.monitors.model import Monitor
from flowsweep.wording import counted

_UPPER, _LOWER = (0.46, 1.0), (0.0, 0.38)
_MOST_POINTS = 500
"""Of a line: neighbours are put together where there are more."""
_MOST_LINES = 8
_CAPTION = (
    "What interfaces of routers counted from one poll to the next, trials' own traffic included, and the "
    "load of monitored hosts, over the time of the figure above. A line ends where nobody knows what was "
    "counted: a poll without an answer, a restart, a counter that began anew."
)


def drawn_monitors(data: FigureData) -> list[Drawn]:
    """Draw a figure for each direction with two trials that ended well, where there were monitors."""
    facts = data.monitors
    if facts is None or not facts.table.num_rows:
        return []
    known, silent = courses(facts.table), silences(facts.table)
    groups = [group for group in trial_groups(data.trials, data.cells) if len(group.good) > 1]
    return [drawn for group in groups for drawn in _drawn(group, facts, known, silent)]


def _drawn(
    group: TrialGroup, facts: MonitorFacts, known: Mapping[Key, Course], silent: Mapping[str, list[Silence]]
) -> Iterator[Drawn]:
    first = group.good[0]
    all_lines = list(_rates(facts, known, first["src"], first["dst"]))
    all_loads = list(_loads(facts, known))
    lines, loads = all_lines[:_MOST_LINES], all_loads[:_MOST_LINES]
    quiet = [(name, one) for name in facts.monitors for one in silent.get(name, ())]
    if not (lines or loads or quiet):
        return
    caption = _CAPTION
    for shown, there, what in ((lines, all_lines, "counters"), (loads, all_loads, "hosts")):
        if len(shown) < len(there):
            caption += f" {len(shown)} of {len(there)} {what} are drawn."
    if quiet:
        caption += f" {FAILED_MARK}: {counted(len(quiet), 'time')} that a monitor gave nothing."
    yield Drawn(
        group.key("monitors"),
        group.title,
        caption,
        file_stem(group.sweep, group.title, "monitors"),
        _figure(group, lines, loads, quiet),
        tuple(_table(lines, "rate_bps") + _table(loads, "busy_share") + [_told(*one) for one in quiet]),
    )


Line = tuple[str, Course]
"""What it is called, and rates per second in place of rises."""


def _rates(facts: MonitorFacts, known: Mapping[Key, Course], src: str, dst: str) -> Iterator[Line]:
    """Counters that trials of this direction are in; both where nobody said what is behind."""
    for name, monitor in facts.monitors.items():
        for interface, counter in _counters(monitor, src, dst):
            course = known.get((name, interface, counter))
            if course is not None and len(course.rises):
                way = "out" if counter == "out_bytes" else "in"
                yield f"{name} {interface} {way}", _per_second(course, 8)


def _counters(monitor: Monitor, src: str, dst: str) -> Iterator[tuple[str, str]]:
    if monitor.agent is None:
        return
    for interface in monitor.agent.interfaces:
        beyond = monitor.agent.beyond.get(interface)
        if beyond is None:
            yield from ((interface, counter) for counter in ("in_bytes", "out_bytes"))
        elif (counter := crossed(src, dst, beyond)) is not None:
            yield interface, counter


def _loads(facts: MonitorFacts, known: Mapping[Key, Course]) -> Iterator[Line]:
    for name in facts.monitors:
        busy, total = (known.get((name, "cpu", counter)) for counter in ("cpu_busy", "cpu_total"))
        if busy is None or total is None or not np.array_equal(busy.begins_us, total.begins_us):
            continue
        if len(busy.rises):
            shares = busy.rises / np.maximum(total.rises, 1)
            yield f"{name} CPU", Course(busy.begins_us, busy.ends_us, shares)


def _per_second(course: Course, times: float) -> Course:
    lengths_s = (course.ends_us - course.begins_us) / 1e6
    return Course(course.begins_us, course.ends_us, times * course.rises / lengths_s)


def _span(rows: Sequence[TrialRow]) -> list[str] | None:
    """From the first trial's beginning to the last one's end, as an axis of time has it; None of no times."""
    timed = [(datetime.fromisoformat(at), row) for row in rows if (at := row["started_at"]) is not None]
    if not timed:
        return None
    began = [at for at, _ in timed]
    ended = [at + timedelta(seconds=row["elapsed_s"] or 0.0) for at, row in timed]
    return [at.strftime("%Y-%m-%d %H:%M:%S") for at in (min(began), max(ended))]


def _figure(
    group: TrialGroup, lines: Sequence[Line], loads: Sequence[Line], quiet: Sequence[tuple[str, Silence]]
) -> go.Figure:
    highest = max((float(course.rises.max()) for _, course in lines), default=1.0)
    scale = rate_scale(max(highest, 1.0))
    colours = series_colours(max(len(lines) + len(loads), 1))
    traces = [_trace(line, colours[number], scale.unit, scale.of) for number, line in enumerate(lines)]
    shown = [
        _trace(line, colours[len(lines) + number], "%", lambda share: 100 * share)
        for number, line in enumerate(loads)
    ]
    traces += [trace.update(yaxis="y2") for trace in shown]
    traces += _marks(quiet)
    time = named_axis("UTC", type="date", zeroline=False, range=_span(group.rows))
    layout: dict[str, object] = {
        "showlegend": True,
        "xaxis": {**time, "anchor": "y2"} if loads else time,
        "yaxis": {**rate_axis(scale, "counted"), **({"domain": _UPPER} if loads else {})},
    }
    if loads:
        layout["yaxis2"] = named_axis("CPU, %", domain=_LOWER, range=[0, 100], nticks=5)
    return framed(traces, **layout)


def _trace(line: Line, colour: str, unit: str, of: Callable[[float], float | None]) -> go.Scatter:
    called, course = line
    times: list[datetime | None] = []
    heights: list[float | None] = []
    for begin_us, end_us, value in _thinned(course):
        if times and times[-1] != _time(begin_us):
            times.append(None)
            heights.append(None)
        height = of(value)
        times += [_time(begin_us), _time(end_us)]
        heights += [height, height]
    return go.Scatter(
        x=times,
        y=heights,
        mode="lines",
        name=escape(called, quote=False),
        line={"color": colour, "width": 1},
        connectgaps=False,
        hovertemplate=f"%{{y:.3g}} {unit}<br>%{{x}}<extra>{escape(called, quote=False)}</extra>",
    )


def _thinned(course: Course) -> Iterator[tuple[int, int, float]]:
    """Stretches; where there are many, neighbours without a gap between them are put together."""
    width = -(-len(course.rises) // _MOST_POINTS)
    begins, ends, values = course.begins_us, course.ends_us, course.rises
    at = 0
    while at < len(values):
        end = at + 1
        while end < min(at + width, len(values)) and begins[end] == ends[end - 1]:
            end += 1
        lengths = ends[at:end] - begins[at:end]
        yield int(begins[at]), int(ends[end - 1]), float(np.average(values[at:end], weights=lengths))
        at = end


def _marks(quiet: Sequence[tuple[str, Silence]]) -> list[go.Scatter]:
    if not quiet:
        return []
    return [
        go.Scatter(
            x=[_time(one.begin_us) for _, one in quiet],
            y=[0] * len(quiet),
            mode="text",
            name="silent",
            text=[FAILED_MARK] * len(quiet),
            textfont={"size": 14},
            showlegend=False,
            cliponaxis=False,
            hovertext=[
                escape(f"{name}, {counted(one.polls, 'poll')}: {one.reason}", quote=False)
                for name, one in quiet
            ],
            hovertemplate="%{hovertext}<extra></extra>",
        )
    ]


def _table(lines: Sequence[Line], column: str) -> list[Mapping[str, object]]:
    return [
        {
            "begin": _time(begin_us).isoformat(),
            "end": _time(end_us).isoformat(),
            "monitor": called,
            "rate_bps": value if column == "rate_bps" else None,
            "busy_share": value if column == "busy_share" else None,
            "silent": None,
        }
        for called, course in lines
        for begin_us, end_us, value in _thinned(course)
    ]


def _told(name: str, one: Silence) -> Mapping[str, object]:
    begin, end = (_time(at_us).isoformat() for at_us in (one.begin_us, one.end_us))
    return {
        "begin": begin, "end": end, "monitor": name, "rate_bps": None, "busy_share": None,
        "silent": one.reason,
    }  # fmt: skip


def _time(unix_us: int) -> datetime:
    return datetime.fromtimestamp(unix_us / 1e6, UTC)
