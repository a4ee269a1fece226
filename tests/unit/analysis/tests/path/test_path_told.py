"""What a report, findings and exports tell of measured paths, and of TCP over the same path."""

from pathlib import Path
from typing import Any

import pytest

from analysis_support import make_campaign, write_archive
from flowsweep.analysis.findings.finding import Finding
from flowsweep.analysis.findings.topics import findings
from flowsweep.analysis.tests.path import path_hypotheses, path_windows
from flowsweep.archive import read_archive
from flowsweep.export import export_tables
from flowsweep.figures.collection import drawn_figures
from flowsweep.figures.drawing import FigureData, figure_of
from flowsweep.report.render import render
from flowsweep.report.report_data import ReportData, report_data
from path_support import Way, path_outcome, path_trial
from summary_support import archive_rows
from synthetic_campaigns import EMPTY

pytestmark = pytest.mark.whole

RATE_BPS = 100_000_000
RTT_US = 40_000


def known_path() -> list[Any]:
    """Three repeats over two hops, the second of which is the narrow one: 100 Mbit/s, 40 ms."""
    way = Way([400e6, RATE_BPS], delay_ns=19.94e6, noise_ns=3_000)
    return [
        path_outcome(
            way.hop_rows(probes=8), way.train_rows(trains=8) + way.stream_rows(RATE_BPS, streams=2), repeat=n
        )
        for n in (1, 2, 3)
    ]


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> ReportData:
    """TCP between the same hosts, whose windows have a knee at bandwidth × delay, 500 KB."""
    transfers = make_campaign(
        flows=(1,), window_sums=tuple(1 << exponent for exponent in range(16, 22)), repeats=3,
        rate_bps=RATE_BPS, rtt_us=RTT_US, with_failures=False,
    )  # fmt: skip
    folder = tmp_path_factory.mktemp("paths") / "archive"
    return report_data(read_archive(write_archive(folder, [*known_path(), *transfers], plan_json=PLAN)))


PLAN = (
    '{"campaign": {"name": "paths", "repeats": 3, "order": "blocks"}, "sweeps": [], "links": [], "text": ""}'
)


def of_kind(campaign: ReportData, kind: str) -> Finding:
    [found] = [found for found in campaign.findings if found.kind == kind]
    return found


def test_the_narrowest_link_and_what_is_free_are_told(campaign: ReportData) -> None:
    narrow, free = of_kind(campaign, "path"), of_kind(campaign, "available")
    assert narrow.decision == free.decision == "described"
    assert narrow.claim.startswith("a → b: the narrowest link is hop 2 of 2, ")
    assert narrow.effect == pytest.approx(RATE_BPS, rel=0.03)
    assert free.interval_low is not None
    assert free.interval_low >= 0.8 * RATE_BPS


def test_the_plateau_of_tcp_stands_beside_what_the_path_predicts(campaign: ReportData) -> None:
    predicted = path_windows(campaign.trials)["a → b"]
    assert predicted == pytest.approx(RATE_BPS * RTT_US / 8e6, rel=0.05)
    [claim] = [
        found.claim for found in campaign.findings if found.kind == "plateau" and found.direction == "a → b"
    ]
    assert "by the capacity and round trip measured of the path" in claim


def test_each_figure_of_a_path_is_drawn_and_found_by_its_findings(campaign: ReportData) -> None:
    drawn = drawn_figures(
        FigureData(
            campaign.trials, campaign.cells, hops=campaign.hops, trains=campaign.trains,
            findings=campaign.findings,
        )
    )  # fmt: skip
    kinds = [one.key.kind for one in drawn if one.key.sweep == "path"]
    assert kinds == ["hop_capacity", "hop_times", "trains", "streams"]
    for kind in ("path", "available"):
        shown = figure_of(of_kind(campaign, kind).figure, drawn)
        assert shown is not None
        assert shown.rows
    (product,) = [one for one in drawn if one.key.kind == "product" and one.key.direction == "a → b"]
    assert "path" in [trace.name for trace in product.figure.data]


def test_the_capacity_is_within_the_axis_of_trains_that_arrived_slower(campaign: ReportData) -> None:
    beyond = 3 * max(row["rate_bps"] for row in campaign.trains)
    trials = [row | {"path_capacity_bps": beyond} for row in campaign.trials]
    drawn = drawn_figures(FigureData(trials, campaign.cells, trains=campaign.trains))
    (trains,) = [one for one in drawn if one.key.kind == "trains"]
    lines = [shape.y0 for shape in trains.figure.layout.shapes]
    assert lines
    assert max(lines) < trains.figure.layout.yaxis.range[1]


def test_the_page_lists_the_hops(campaign: ReportData) -> None:
    page = render(campaign)
    assert 'id="paths"' in page
    assert "198.18.0.4" in page


def test_the_table_of_hops_has_a_row_for_each_trial_and_hop(tmp_path: Path) -> None:
    archive = read_archive(write_archive(tmp_path / "archive", known_path()[:1]))
    rows = export_tables(archive.tables(), ["hops"])["hops"].to_pyarrow().to_pylist()
    assert [(row["trial_id"], row["hop"]) for row in rows] == [(path_trial().trial_id, hop) for hop in (1, 2)]
    assert rows[1]["capacity_bps"] == pytest.approx(RATE_BPS, rel=0.1)


def test_a_few_measurements_are_told_with_the_interval_of_their_trains(tmp_path: Path) -> None:
    archive = read_archive(write_archive(tmp_path / "archive", known_path()[:1]))
    rows = archive_rows(archive)
    found = findings(rows)[0]
    assert found.n == 1
    assert found.interval_low is not None
    assert "interval over trains" in found.method


def test_repeats_that_agree_are_no_surer_than_each_of_them() -> None:
    """They were [15.9, 15.9] Mbit/s on a link of 17.0, whose other traffic comes evenly."""
    alike = {"test": "path", "path_capacity_low_bps": 15.8e6, "path_capacity_high_bps": 17.3e6}
    rows = [
        EMPTY | alike
        | {"trial_id": str(n), "sweep": "p", "src": "a", "dst": "b", "status": "ok", "path_capacity_bps": bps}
        for n, bps in enumerate((15.87e6, 15.88e6, 15.87e6))
    ]  # fmt: skip
    (found,) = [one for one in path_hypotheses(rows) if one.kind == "path"]
    assert (found.estimate.low, found.estimate.high) == (15.8e6, 17.3e6)
    assert "no narrower than the median ends of the trials' own" in found.method
