"""What the file of another tool does not say is no level of an axis that somebody varied."""

from flowsweep.analysis.findings.topics import findings
from flowsweep.analysis.statistics.observations import observations
from flowsweep.report.headline import highest_goodputs
from synthetic_campaigns import KIB, Grid, Row, campaign


def of_a_server(told: str) -> list[Row]:
    """The log of a server, which knows the congestion control of what it sent, and not of what it got."""
    rows = campaign(Grid(flows=(1, 4), window_sums=(KIB,)), 1)
    for row in rows:
        asked = told if row["src"] == "a" else None
        row.update(imported_from="iperf3-json log", congestion=asked, congestion_asked=asked)
    return rows


def test_one_congestion_control_and_none_that_is_told_are_not_two() -> None:
    """Whether it matters was called undecided, and no trial had one of the other direction."""
    rows = of_a_server("cubic")
    [observed] = observations(rows)
    assert "congestion_asked" not in observed.factors
    found = findings(rows)
    assert "congestion_asked" not in {one.axis for one in found}
    assert "direction" in {one.kind for one in found}, "trials of both directions are pairs"
    assert "congestion control" not in highest_goodputs(rows)[0].place


def test_two_that_are_told_are_two_levels() -> None:
    rows = of_a_server("cubic")
    for row in rows[::3]:
        row["congestion_asked"] = row["congestion_asked"] and "bbr"
    [observed] = observations(rows)
    assert "congestion_asked" in observed.factors


def test_of_own_trials_the_default_is_a_level() -> None:
    rows = [row | {"imported_from": None} for row in of_a_server("bbr")]
    [observed] = observations(rows)
    assert "congestion_asked" in observed.factors
