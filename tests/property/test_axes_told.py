"""Whatever a plan's lists vary: tables, names of points and exports tell any two points of it apart."""

import io
from collections.abc import Iterator, Sequence
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from analysis_support import make_failed
from flowsweep.analysis import FURTHER_COLUMNS, STABLE_COLUMNS, summary
from flowsweep.analysis.axes import AXIS_NAMES
from flowsweep.analysis.comparing.point_names import place, telling
from flowsweep.analysis.findings.outliers import _trial
from flowsweep.analysis.grid_rows import POINT_COLUMNS
from flowsweep.analysis.statistics.design import AXES as AXES_OF_EFFECTS
from flowsweep.analysis.statistics.design import design
from flowsweep.analysis.statistics.observations import observations
from flowsweep.analysis.statistics.repeat_noise import repeat_noise
from flowsweep.archive import tables_of
from flowsweep.archive.trials import trials_table
from flowsweep.axes import APART, AXES
from flowsweep.cli.summary import print_table
from flowsweep.defaults import SECOND_NS
from flowsweep.export.tables import export_tables
from flowsweep.figures.trials import point_of
from flowsweep.plan import parse_plan
from flowsweep.plan.fields import _AxisSchema
from flowsweep.plan.sweeps.table import SweepTable
from flowsweep.report.trial_table import ASKED, trial_lines
from flowsweep.run.outcome import TrialOutcome
from flowsweep.schedule import schedule

Row = dict[str, Any]

HOSTS = """
[groups]
left = ["l1", "l2", "l3"]
right = ["r1", "r2", "r3"]
""" + "".join(
    f'[hosts.{host}]\naddress = "{host}.example"\nfolder = "/data"\n'
    f'further_addresses = ["198.51.100.{number}", "203.0.113.{number}"]\n'
    for number, host in enumerate(("l1", "l2", "l3", "r1", "r2", "r3"), start=1)
)

TESTS = ("tcp", "udp", "rtt", "mptcp", "quic", "file")
"""Every test with axes."""
ALIKE: dict[str, tuple[str, ...]] = {
    "pairs": ("1", "2", "3"),
    "flows": ("1", "2", "3"),
    "window": ('"65536B"', '"100001B"', '"100002B"'),
    "window_sum": ('"1MiB"', '"10000008B"', '"10000016B"'),
    "window_send": ('"65536B"', '"100001B"', '"100002B"'),
    "window_recv": ('"65536B"', '"100001B"', '"100002B"'),
    "length": ('"64B"', '"10001B"', '"10002B"'),
    "congestion": ('"cubic"', '"reno"', '"bbr"'),
    "duration": ('"5s"', '"61.001s"', '"61.002s"'),
    "rate": ('"1Mbit/s"', '"100001kbit/s"', '"100002kbit/s"'),
    "rate_sum": ('"1Mbit/s"', '"100001kbit/s"', '"100002kbit/s"'),
    "spacing": ('"1ms"', '"10001ns"', '"10002ns"'),
    "gso": ("true", "false"),
    "gro": ("true", "false"),
    "pacing_rate": ('"1Mbit/s"', '"100001kbit/s"', '"100002kbit/s"'),
    "mss": ('"88B"', '"1448B"', '"1449B"'),
    "dscp": ("0", "46"),
    "no_delay": ("true", "false"),
    "fwmark": ("1", "255", "4294967295"),
    "encryption": ('"none"', '"tls"'),
    "affinity": ('"0"', '"0,1"', '"1"'),
    "family": ("4", "6"),
    "mode": ('"copy"', '"zerocopy"', '"discard"'),
    "subflows": ("1", "2", "3"),
    "streams_per_flow": ("1", "2", "3"),
    "stream_window": ('"65536B"', '"100001B"', '"100002B"'),
    "file_size": ('"1MiB"', '"100001B"', '"100002B"'),
    "files": ("1", "2", "3"),
    "part": ('"whole"', '"read"', '"network"', '"write"'),
    "cache": ('"dropped"', '"warm"'),
    "sendfile": ("true", "false"),
    "sync": ('"file"', '"write"', '"none"'),
    "datagram": ('"1200B"', '"1451B"', '"1452B"'),
    "echo": ('"icmp"', '"udp"', '"tcp-connect"'),
}
"""Values of every axis; where figures of three digits make some look alike, two of those."""
OTHERWISE = {("quic", "congestion"): ('"cubic"', '"newreno"', '"bbr"')}
"""Values of an axis in one test."""
NEEDED = {("mptcp", "dscp"): {"family": ("4",)}}
"""What an axis of a test needs beside it."""
CLASHES = ({"window", "window_sum"}, {"window_sum", "window_send"}, {"window_sum", "window_recv"},
           {"rate", "rate_sum"}, {"rate", "spacing"}, {"rate_sum", "spacing"})  # fmt: skip
"""What no plan has together."""


def axes_of(test: str) -> set[str]:
    return {axis.key for axis in (*AXES, *APART) if test in axis.tests}


def is_axis(annotation: object) -> bool:
    if any(isinstance(each, _AxisSchema) for each in getattr(annotation, "__metadata__", ())):
        return True
    return any(is_axis(each) for each in get_args(annotation))


@st.composite
def varied(draw: st.DrawFn) -> tuple[str, dict[str, tuple[str, ...]]]:
    """A test and some values of up to three of its axes."""
    test = draw(st.sampled_from(TESTS))
    names = draw(st.lists(st.sampled_from(sorted(axes_of(test))), min_size=1, max_size=3, unique=True))
    while any(len(clash & set(names)) > 1 for clash in CLASHES):
        names.pop()
    values = {
        name: tuple(
            draw(st.lists(st.sampled_from(values_of(test, name)), min_size=2, max_size=2, unique=True))
        )
        for name in names
    }
    return test, values


def values_of(test: str, axis: str) -> tuple[str, ...]:
    return OTHERWISE.get((test, axis), ALIKE[axis])


def failed_trials(test: str, values: dict[str, tuple[str, ...]]) -> list[TrialOutcome]:
    """Every trial that a plan asks for, failed: what it asked for is known all the same."""
    needed = {key: level for axis in values for key, level in NEEDED.get((test, axis), {}).items()}
    lines = [f"{name} = [{', '.join(levels)}]" for name, levels in (needed | values).items()]
    plan = parse_plan(
        f'{HOSTS}\n[[sweep]]\nname = "s"\ntest = "{test}"\npaths = [{{ from = "left", to = "right" }}]\n'
        + "\n".join(lines),
        "plan",
    )
    return [make_failed(trial) for slot in schedule(plan, 1) for trial in slot.trials]


def rows_of(outcomes: Sequence[TrialOutcome]) -> list[Row]:
    """Their summary, without the minutes that many databases take."""
    empty = dict.fromkeys((*STABLE_COLUMNS, *FURTHER_COLUMNS))
    asked = trials_table([outcome.record for outcome in outcomes], attempts={}).to_pylist()
    seconds = [
        {
            f"{name}_s": row[f"{name}_ns"] and row[f"{name}_ns"] / SECOND_NS
            for name in ("duration", "omit", "interval")
        }
        for row in asked
    ]
    return [empty | row | times for row, times in zip(asked, seconds, strict=True)]


def shown_by_summary(rows: Sequence[Row]) -> Iterator[str]:
    text = io.StringIO()
    print_table(rows, Console(file=text, width=2000, highlight=False, markup=False))
    ids = {row["trial_id"] for row in rows}
    for line in text.getvalue().splitlines():
        trial_id, _, cells = line.strip().partition(" ")
        if trial_id in ids and not cells.startswith("failed:"):
            yield " ".join(cells.split())


def shown_by_report(rows: Sequence[Row]) -> Iterator[tuple[str, ...]]:
    columns, lines = trial_lines(rows)
    for line in lines:
        yield tuple(
            cell.text for column, cell in zip(columns, line.cells, strict=True) if column.group == ASKED
        )


def named_by_findings(rows: Sequence[Row]) -> Iterator[str]:
    """What a trial that stands out is called, but for its id and its repeat."""
    good = [row | {"status": "ok", "goodput_bps": 1e6 + number} for number, row in enumerate(rows)]
    again = [row | {"repeat": 2, "trial_id": f"{row['trial_id']}-2"} for row in good]
    for observed in observations([*good, *again]):
        noise = repeat_noise(design(observed))
        for row in noise.rows if noise else ():
            if row["repeat"] == 1:
                called = _trial(observed, row).partition(" (")[2]
                yield f"{observed.mode} {called.partition(', repeat')[0]}"


def check(test: str, values: dict[str, tuple[str, ...]]) -> None:
    rows = rows_of(failed_trials(test, values))
    points = len({point_of(row) for row in rows})
    assert points == len(rows)
    assert len(set(shown_by_summary(rows))) == points
    assert len(set(shown_by_report(rows))) == points
    # Findings are of one mode, of what has a goodput, and of several points; sums may come to one, per flow.
    if test != "rtt" and not {"mode", "part"} & values.keys() and points > 1:
        assert len(set(named_by_findings(rows))) == points


def test_every_list_of_a_sweep_is_looked_at() -> None:
    axes = {name for name, field in SweepTable.model_fields.items() if is_axis_field(field)}
    times = {"at"}
    assert axes - times == set(ALIKE)


def is_axis_field(field: Any) -> bool:
    return any(isinstance(each, _AxisSchema) for each in field.metadata) or is_axis(field.annotation)


def test_every_axis_of_points_has_words_and_every_one_of_goodput_is_asked_about() -> None:
    apart = {"sweep", "src", "dst", "test", "simultaneous", "mode", "window_sum_asked_bytes"}
    assert set(POINT_COLUMNS) - apart == set(AXIS_NAMES)
    assert set(AXES_OF_EFFECTS) == set(AXIS_NAMES)


@pytest.mark.parametrize("axis", ALIKE)
def test_points_of_each_axis_are_told_apart(axis: str) -> None:
    test = next(test for test in TESTS if axis in axes_of(test))
    check(test, {axis: values_of(test, axis)})


def test_an_export_has_all_that_points_differ_in() -> None:
    outcomes = [
        outcome
        for test, values in (
            ("udp", {name: ALIKE[name] for name in ("spacing", "gso", "gro")}),
            ("rtt", {"echo": ALIKE["echo"]}),
        )
        for outcome in failed_trials(test, values)
    ]
    tables = tables_of(outcomes)
    for rows in (export_tables(tables)["trials"], summary(tables)):
        assert set(POINT_COLUMNS) - {"window_sum_asked_bytes"} <= set(rows.columns)
        assert len({point_of(row) for row in rows.to_pyarrow().to_pylist()}) == len(outcomes)


@settings(max_examples=50, deadline=None)
@given(varied())
def test_points_of_several_axes_are_told_apart(found: tuple[str, dict[str, tuple[str, ...]]]) -> None:
    check(*found)


def test_points_of_a_comparison_are_told_apart_where_the_windows_of_the_ends_differ() -> None:
    rows = rows_of(failed_trials("tcp", {"window": ALIKE["window"][:1], "window_send": ALIKE["window_send"]}))
    names = telling([{name: row[name] for name in POINT_COLUMNS if name in row} for row in rows])
    assert len({place(row, names) for row in rows}) == len(rows) == len(ALIKE["window_send"])
