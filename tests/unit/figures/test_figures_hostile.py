"""Names from a stranger's archive in figures: Plotly reads tags in text, and they are text."""

import plotly.graph_objects as go

from figures_support import figures, of_kind
from flowsweep.analysis.findings.plateau.searched import plateau_searches
from flowsweep.analysis.tests.udp.rate_search import searched
from flowsweep.figures.drawing import FigureData
from flowsweep.figures.grid.best import drawn_best_searches
from flowsweep.figures.grid.panel import MOST_SERIES
from flowsweep.figures.grid.search import drawn_searches
from flowsweep.figures.tests.udp.rate_search import drawn_rate_searches
from report_support import MIB, make_row, make_rows

LINK = '<a href="https://example.net">here</a>'


def is_text(figure: go.Figure) -> bool:
    """Whether the link is somewhere in a figure, and nowhere as one."""
    told = str(figure.to_dict())
    return "here&lt;/a&gt;" in told and "<a " not in told


def test_a_host_is_named_as_it_is_where_directions_are_too_many_for_a_legend() -> None:
    hosts = [(f"{LINK}{number}", "sara") for number in range(MOST_SERIES + 1)]
    found = of_kind(
        figures(make_rows(flows=(4,), window_sums=(MIB,), directions=hosts, repeats=3)), "repeats"
    )
    assert len(found) == len(hosts)
    assert all(is_text(one.figure) for one in found)


def steps(goal: str, **changes: object) -> list[dict]:
    common = {"searched_for": goal, "search_precision": 0.1, "search_confidence": 0.95, "flows_per_pair": 1}
    return [
        make_row(**common | {"order_index": number, "repeat": 1, "congestion_asked": name} | changes)
        for number, name in enumerate((LINK, "cubic"))
    ]


def test_a_setting_is_named_as_it_is() -> None:
    (one,) = drawn_best_searches(FigureData(trials=steps("best"), cells=()))
    assert is_text(one.figure)
    assert any(LINK in str(row["setting"]) for row in one.rows), "data have it as it is"


def test_why_a_step_failed_is_told_as_it_is() -> None:
    rows = steps("plateau", goodput_mean_bps=None, status="failed", error=LINK)
    assert plateau_searches(rows)
    assert all(is_text(one.figure) for one in drawn_searches(FigureData(trials=rows, cells=())))


def test_a_point_of_a_search_for_the_rate_is_named_as_it_is() -> None:
    rows = [
        row
        | {
            "test": "udp",
            "rate_carried": True,
            "rate_sum_bps": 1e6 * row["order_index"] + 1e6,
            "rate_search_loss_max": 0.01,
            "loss": 0.0,
        }
        for row in steps("rate")
    ]
    assert any(LINK in point.name for point in searched(rows))
    (one,) = drawn_rate_searches(FigureData(trials=rows, cells=()))
    assert is_text(one.figure)
