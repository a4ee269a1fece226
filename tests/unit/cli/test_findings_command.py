"""`flowsweep findings` says what its findings rest on."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

import flowsweep.cli.findings  # noqa: F401
from analysis_support import make_campaign, write_archive
from flowsweep.cli.app import app
from plan_support import plan_of

pytestmark = pytest.mark.whole


@pytest.mark.parametrize(("repeats", "first"), [(1, "In short"), (2, "1 of 2 trials have finished.")])
def test_a_campaign_that_was_interrupted_says_first_how_far_it_came(
    tmp_path: Path, repeats: int, first: str
) -> None:
    plan = plan_of("", f"repeats = {repeats}")
    campaign = make_campaign(flows=(1,), window_sums=(1 << 18,), with_failures=False)[:1]
    folder = write_archive(tmp_path / "archive", campaign, plan_json=plan.model_dump_json())
    result = CliRunner().invoke(app, ["findings", str(folder)], catch_exceptions=False)
    assert result.stdout.splitlines()[0] == first
