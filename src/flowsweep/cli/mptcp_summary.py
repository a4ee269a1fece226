"""What `flowsweep mptcp` says at its end."""

from collections.abc import Iterator
from typing import cast

from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.analysis.tests.mptcp.carried import SubflowCount, carried
from flowsweep.cli.limited_by import LIMITED_BY, limited_by, no_verdict
from flowsweep.cli.one_trial import Measured
from flowsweep.cli.summary_lines import cpu, goodput, latency, least_round_trip, print_lines
from flowsweep.wording import format_share, format_size


def print_summary(measured: Measured) -> None:
    """Lines of a name and a value; what is not known is left out."""
    row = measured.row
    print_lines(
        [
            *goodput(row),
            *latency(row),
            ("subflows", row["subflows_used"]),
            *_paths(measured),
            ("reinjected", format_size(row["reinjected_bytes"]) if row["reinjected_bytes"] else None),
            ("retransmits", row["retransmits"]),
            *least_round_trip(row),
            ("congestion", row["congestion"]),
            *cpu(row),
            (row["status"], row["error"]),
            (LIMITED_BY, _limited_by(row)),
        ]
    )


def _paths(measured: Measured) -> Iterator[tuple[str, object]]:
    """What each path carried, from the greatest counts of each subflow at the source."""
    table = measured.outcome.of_tests.get("subflows")
    if table is None:
        return
    last: dict[tuple[int, int], SubflowCount] = {}
    names = [name for name in SubflowCount.__annotations__ if name != "trial_id"]
    for row in table.sort_by("end_ns").select(["role", *names]).to_pylist():
        if row["role"] == "source":
            last[row["flow"], row["subflow"]] = cast("SubflowCount", row | {"trial_id": ""})
    for path in carried(last.values()):
        yield "path", f"{path['path']}: {format_share(path['share'])}, {format_size(path['path_bytes'])}"


def _limited_by(row: TrialRow) -> str:
    none_speaks = "each subflow has windows and losses of its own, and none speaks for the connection"
    unknown = no_verdict(row, none_speaks)
    if row["failure_kind"] == "fell_back_to_tcp":
        unknown = "what fell back to TCP is no result of several paths"
    return limited_by(row, unclear="both ends' threads were always busy", unknown=unknown)
