"""Trials of TCP and of UDP in one sweep, as only imports have them: whatever is said names the test."""

import io
import math

import pytest

from flowsweep.analysis.findings.topics import findings
from flowsweep.cli.findings import print_findings
from flowsweep.cli.summary import print_table
from flowsweep.cli.terminal import Screen
from flowsweep.figures.grid.panel import panels
from flowsweep.report.findings_list import findings_list
from flowsweep.report.headline import highest_goodputs
from flowsweep.report.opening import opening
from flowsweep.report.tests_apart import named_tests
from flowsweep.report.trial_table import trial_lines
from report_support import make_cells
from synthetic_campaigns import KIB, Grid, Row, campaign

OF_FILE = {
    "sweep": "imported", "imported_from": "iperf3-json", "background": [], "affinity": [],
    "window_capped": False,
    **dict.fromkeys(["window_sum_bytes", "window_bytes", "window_send_bytes", "window_recv_bytes"]),
}  # fmt: skip
OF_UDP = {"test": "udp", "mode": None, "congestion": None, "congestion_asked": None, "length_bytes": 1460}


def series(seed: int, doubled: float) -> list[Row]:
    """How much more each doubling of the flows carries, as a logarithm."""
    grid = Grid(
        window_sums=(KIB,), directions=(("a", "b"),), repeats=4, noise=0.003, block=0.0,
        effect=lambda row: doubled * math.log2(row["flows"]),
    )  # fmt: skip
    return [row | OF_FILE for row in campaign(grid, seed)]


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    """UDP gains by more flows, and TCP does not."""
    tcp = series(1, 0.0)
    udp = [
        row | OF_UDP | {"trial_id": f"u{row['trial_id'][1:]}", "order_index": row["order_index"] + len(tcp)}
        for row in series(2, 0.1)
    ]
    return tcp + udp


def test_each_finding_names_its_test(rows: list[Row]) -> None:
    found = findings(rows)
    tests = named_tests(found, rows)
    assert set(tests) == {"TCP", "UDP"}
    about_flows = {test: one.decision for one, test in zip(found, tests, strict=True) if one.kind == "effect"}
    assert about_flows == {"TCP": "no practical effect", "UDP": "effect"}
    listed = findings_list(found, lambda key: None, rows)
    lines = [*listed.shown, *listed.folded, *listed.undecided]
    assert len({(line.claim, line.where) for line in lines}) == len(lines)
    assert {line.where for line in lines} == {"TCP", "UDP"}
    out = io.StringIO()
    print_findings(found, Screen(file=out, width=200), most=99, goodput="", tests=tests)
    grounds = [line for line in out.getvalue().splitlines() if " · method " in line]
    assert all(line.strip().startswith(("TCP · ", "UDP · ")) for line in grounds)


def test_tables_figures_and_the_headline_name_the_test(rows: list[Row]) -> None:
    out = io.StringIO()
    print_table(rows, Screen(file=out, width=1000))
    assert " test " in out.getvalue().splitlines()[2]
    columns, lines = trial_lines(rows)
    place = [column.title for column in columns].index("Test")
    assert {line.cells[place].text for line in lines} == {"TCP", "UDP"}
    assert {panel.title.rpartition(" · ")[2] for panel in panels(make_cells(rows))} == {
        "test TCP", "test UDP",
    }  # fmt: skip
    assert {one.direction for one in highest_goodputs(rows)} == {"a → b, TCP", "a → b, UDP"}
    told = opening(rows, ())
    assert told is not None
    assert "further direction" not in dict(told.lines)["Highest goodput"]


def test_one_test_needs_no_name(rows: list[Row]) -> None:
    own = [row for row in rows if row["test"] == "tcp"]
    found = findings(own)
    assert set(named_tests(found, own)) == {""}
    assert "Test" not in [column.title for column in trial_lines(own)[0]]
    assert [one.direction for one in highest_goodputs(own)] == ["a → b"]
    apart = [*own, *(row | {"sweep": "datagrams"} for row in rows if row["test"] == "udp")]
    assert set(named_tests(findings(apart), apart)) == {""}, "the name of the sweep tells them apart"
