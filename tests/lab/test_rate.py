"""The goodput of a shaped link is its rate's share of payload."""

from pathlib import Path

import pytest

from campaign_support import flowsweep_here, runs_lab, summary, write_plan
from witness import cores_taken, judged

pytestmark = [*runs_lab, pytest.mark.quiet]

RATE_BPS = 200_000_000
MTU_BYTES = 1500
HEADER_BYTES = 20 + 20 + 12
"""IPv4, TCP and the timestamps option of each segment."""
EXPECTED_BPS = RATE_BPS * (MTU_BYTES - HEADER_BYTES) / MTU_BYTES
"""200 Mbit/s of which 1448 bytes in 1500 are payload: 193.07 Mbit/s"""


def test_one_and_eight_flows_fill_a_link_of_200_mbit(tmp_path: Path) -> None:
    plan = write_plan(
        tmp_path,
        link='rate = "200Mbit/s"',
        sweep='flows = [1, 8]\nduration = "4s"\nomit = "1s"\ninterval = "0.5s"',
        directions="both",
    )

    def run(attempt: int) -> list[dict[str, str]]:
        archive = tmp_path / f"archive-{attempt}"
        flowsweep_here("run", plan, "--archive", archive)
        return summary(archive)

    def check(rows: list[dict[str, str]]) -> None:
        assert sorted(int(row["flows"]) for row in rows) == [1, 1, 8, 8]
        for row in rows:
            assert row["status"] == "ok"
            assert float(row["goodput_bps"]) == pytest.approx(EXPECTED_BPS, rel=0.02), row
            assert float(row["coverage"]) == 1

    judged(run, check, bears_s=0.02, busy=cores_taken)


@pytest.mark.parametrize(
    ("axis", "rates_bps"), [("rate", (1_000_000, 50_000_000)), ("pacing_rate", (10_000_000, 50_000_000))]
)
def test_a_rate_that_is_asked_for_is_what_arrives(
    tmp_path: Path, axis: str, rates_bps: tuple[int, ...]
) -> None:
    rates = ", ".join(f'"{rate_bps // 1_000_000}Mbit/s"' for rate_bps in rates_bps)
    sweep = f'flows = 1\n{axis} = [{rates}]\nduration = "2s"\ninterval = "0.5s"'
    plan = write_plan(tmp_path, sweep=sweep)
    flowsweep_here("run", plan, "--archive", tmp_path / "archive")
    rows = summary(tmp_path / "archive")
    goodputs = {float(row[f"{axis}_bps"]): float(row["goodput_bps"]) for row in rows}
    # The kernel paces packets, of which headers are a part; an application paces its own bytes.
    assert goodputs == {rate_bps: pytest.approx(rate_bps, rel=0.05) for rate_bps in rates_bps}
