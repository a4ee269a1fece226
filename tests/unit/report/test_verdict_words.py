"""What limits a flow has one name and one colour, wherever the report and the commands say it."""

import base64
import gzip
import json
import re

import pytest

from flowsweep.cli.limited_by import windows_full
from flowsweep.figures.drawing import FigureData
from flowsweep.figures.tests.tcp.limits import drawn_limits
from flowsweep.report.render import render
from flowsweep.report.trial_details import TrialDetails
from flowsweep.report.trial_page import trial_pages
from flowsweep.report.trial_table import trial_lines
from report_support import make_cells, make_report_data, make_row

SHARES = {
    "limit_cwnd_share": 0.4,
    "limit_rwnd_share": 0.3,
    "limit_send_buffer_share": 0.2,
    "limit_none_share": 0.1,
    "sender_idle_share": 0.0,
}
WINDOWS = {"cwnd": "congestion window", "rwnd": "receive window", "send_buffer": "send buffer"}


@pytest.fixture
def bars() -> dict[str, str]:
    """Colour of each bar of the figure, by its name."""
    rows = [make_row(**SHARES)]
    (drawn,) = drawn_limits(FigureData(rows, make_cells(rows)))
    return {trace.name: trace.marker.color.lower() for trace in drawn.figure.data if trace.type == "bar"}


def test_the_figure_and_the_page_of_a_trial_paint_a_limit_alike(bars: dict[str, str]) -> None:
    page = render(make_report_data([make_row(**SHARES)]))
    style = dict(re.findall(r'\[data-limit="(\w+)"\] \{ --limit: (#\w{6}); \}', page))
    ((_, packed),) = trial_pages([make_row(**SHARES)], TrialDetails(), {})
    limits = json.loads(gzip.decompress(base64.b64decode(packed)))["limits"]
    painted = {word: style[key].lower() for key, word, _ in limits}
    assert {word: painted[word] for word in WINDOWS.values()} == {
        word: bars[word] for word in WINDOWS.values()
    }
    assert len(set(painted.values())) == len(painted) == 4


def test_a_limit_has_one_name_in_figure_table_and_terminal(bars: dict[str, str]) -> None:
    row = make_row(**SHARES)
    columns, (line,) = trial_lines([row])
    [filled] = [
        cell.text for column, cell in zip(columns, line.cells, strict=True) if column.title == "Flight filled"
    ]
    for word, share in zip(WINDOWS.values(), (40, 30, 20), strict=True):
        assert word in bars
        assert f"{word} {share} %" in filled
        assert f"{word} {share}.0 %" in windows_full(row)
