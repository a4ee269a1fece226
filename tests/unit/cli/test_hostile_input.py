"""What people and others' files say that is none: one message and exit code 2, nothing else ends for it."""

import asyncio
import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from analysis_support import make_outcome, make_trial, write_archive
from flowsweep.analysis.findings.host_settings import recorded
from flowsweep.archive.campaign import CAMPAIGN_FILE
from flowsweep.campaigns.folders import is_of_one_name
from flowsweep.campaigns.supervisor import _ended
from flowsweep.errors import FlowsweepError
from flowsweep.lab.owner import Owner
from invoked import invoke
from mesh_support import begin_mesh, mesh_plan

PLAN = """
[campaign]
{campaign}
[lab.links.wire]
between = ["left", "right"]
rate = "100Mbit/s"
[[sweep]]
paths = [{{ from = "left", to = "right" }}]
duration = "10s"
{sweep}
"""
DIGITS = "9" * 5000


def plan_of(folder: Path, campaign: str = "", sweep: str = "") -> Path:
    path = folder / "plan.toml"
    path.write_text(PLAN.format(campaign=campaign, sweep=sweep), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("campaign", "sweep", "said"),
    [
        ("until = 9999-12-31T23:59:59-05:00", 'every = "1h"', "until"),
        (f"seed = {DIGITS}", "", "a number with thousands of digits"),
        (f"seed = 0x{'f' * 5000}", "", "more than 64 bits"),
        ("", f"flows = {'9' * 401}", "sweep[0].flows: a whole number of more than 64 bits"),
    ],
)
def test_numbers_and_moments_that_no_clock_or_count_has(
    tmp_path: Path, campaign: str, sweep: str, said: str
) -> None:
    result = invoke("check", plan_of(tmp_path, campaign, sweep))
    assert isinstance(result.exception, FlowsweepError), result.exception
    assert said in str(result.exception)


@pytest.mark.parametrize("loss", ["1.2.3", ".", "1e"])
def test_a_loss_that_is_no_number(tmp_path: Path, loss: str) -> None:
    result = invoke("predict", plan_of(tmp_path), "--rate", "1Gbit/s", "--rtt", "10ms", "--loss", loss)
    assert isinstance(result.exception, FlowsweepError), result.exception


def test_a_time_of_a_note_without_its_text_is_refused(tmp_path: Path) -> None:
    folder = write_archive(tmp_path / "archive", [make_outcome(make_trial())])
    result = invoke("note", folder, "--at", "garbage")
    assert "found a time without TEXT" in str(result.exception)


def test_a_terminal_that_lacks_a_character_shows_a_mark(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "flowsweep", "check", str(plan_of(tmp_path))]
    done = subprocess.run(
        words, env=os.environ | {"PYTHONIOENCODING": "latin-1"}, capture_output=True, check=False, timeout=120
    )
    assert (done.returncode, b"left ? right" in done.stdout) == (0, True), done.stderr


@pytest.mark.parametrize("at", ["0001-01-02T00:00:00Z", "0001-01-01T00:00:00", "9000-01-01T00:00:00Z"])
def test_an_archive_that_no_clock_made_is_none(tmp_path: Path, at: str) -> None:
    folder = write_archive(tmp_path / "archive", [make_outcome(make_trial())])
    campaign: dict[str, Any] = json.loads((folder / CAMPAIGN_FILE).read_text())
    (folder / CAMPAIGN_FILE).write_text(json.dumps(campaign | {"created_at": at}))
    for command in ("status", "summary"):
        assert isinstance(invoke(command, folder).exception, FlowsweepError)


def test_a_bad_archive_hides_no_other_one(tmp_path: Path) -> None:
    begin_mesh(tmp_path / "good", mesh_plan(), datetime(2026, 3, 1, tzinfo=UTC)).close()
    begin_mesh(tmp_path / "bad", mesh_plan(), datetime(2026, 3, 1, tzinfo=UTC)).close()
    (tmp_path / "bad" / CAMPAIGN_FILE).write_text("{}")
    result = invoke("status", tmp_path)
    assert result.exit_code == 2
    assert "alpine-mesh" in result.stdout
    assert "bad" in result.stderr


def test_a_mark_of_a_lab_with_thousands_of_digits_is_none() -> None:
    assert Owner.of_mark(f"flowsweep-{DIGITS}-1-1") is None
    assert Owner.of_mark("flowsweep-17-4711-9") == Owner(17, 4711, 9)


def test_a_setting_of_thousands_of_digits_is_not_known() -> None:
    assert (
        recorded({"a": {"sysctls": {"net.ipv4.tcp_rmem": f"1 2 {DIGITS}"}}}, "a", "net.ipv4.tcp_rmem") is None
    )


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [("wan", "wan-2", True), ("wan-2", "wan", True), ("wan", "wan-x", False), ("wan-2", "wan-3", False)],
)
def test_names_that_a_changed_plan_would_have(first: str, second: str, *, same: bool) -> None:
    assert is_of_one_name(first, second) == same


def test_who_ends_the_wait_for_a_campaign_is_ended() -> None:
    """SIGTERM came while a changed plan's campaign was being ended, and was forgotten."""

    async def tried() -> None:
        over = asyncio.Event()

        async def campaign() -> None:
            try:
                await asyncio.sleep(60)
            finally:
                await over.wait()

        task = asyncio.create_task(campaign())
        await asyncio.sleep(0)
        waits = asyncio.create_task(_ended(task))
        await asyncio.sleep(0)
        waits.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waits
        over.set()
        await asyncio.wait({task})

    asyncio.run(tried())
