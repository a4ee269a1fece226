"""A repeat over a path that was late is shown by nothing that the page draws of one repeat alone."""

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from analysis_support import write_archive
from flowsweep.archive import read_archive
from flowsweep.figures.drawing import FigureData
from flowsweep.figures.tests.rtt.round_trips import drawn_round_trips
from flowsweep.report.report_data import report_data
from flowsweep.run.outcome import TrialOutcome
from flowsweep.run.tables import LINKS_SCHEMA
from rtt_support import make_rtt_outcome, make_rtt_trial

pytestmark = pytest.mark.whole

_COUNTERS = LINKS_SCHEMA.names[5:]


def emulated(outcome: TrialOutcome, late_packets: int) -> TrialOutcome:
    """The same over a link that had so many of 1000 packets late."""
    counted = {"packets_out": 1000, "late_packets": late_packets}
    rows = [
        {"link": "wire", "src": "a", "dst": "b", "at_ns": at, "at_unix_ns": at}
        | {name: at * counted.get(name, 0) for name in _COUNTERS}
        for at in (0, 1)
    ]
    return replace(outcome, links=pa.Table.from_pylist(rows, schema=LINKS_SCHEMA))


def test_round_trips_are_drawn_of_the_first_repeat_that_was_not_late(tmp_path: Path) -> None:
    """The first of all was chosen, and nothing was drawn, since figures leave it out."""
    repeats = [
        emulated(make_rtt_outcome(make_rtt_trial(repeat=repeat), [(0, 10.0), (10, 11.0)]), late)
        for repeat, late in ((1, 500), (2, 0), (3, 0))
    ]
    data = report_data(read_archive(write_archive(tmp_path / "archive", repeats)))
    late, first, _ = data.trials
    assert (late["repeat"], late["path_emulation"], first["path_emulation"]) == (1, "late", "kept up")
    assert {echo["trial_id"] for echo in data.echoes} == {first["trial_id"]}
    shown = [row for row in data.trials if row is not late]
    drawn = drawn_round_trips(FigureData(shown, data.cells, echoes=data.echoes))
    assert [one.key.kind for one in drawn] == ["rtt_time", "rtt_ecdf"]
