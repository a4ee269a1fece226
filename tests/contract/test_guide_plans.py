"""The plans of the documentation are plans: each can run as it stands there, at whatever hour it begins."""

import os
import re
import subprocess
import sys
import tomllib
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from flowsweep.cli.check_times import times_refusals
from flowsweep.plan import Plan, parse_plan
from flowsweep.schedule import expand, has_times
from plan_support import EXAMPLE_PLANS, ROOT

BLOCK = re.compile(r"^```toml\n(.*?)^```", re.MULTILINE | re.DOTALL)
BLOCKS = {
    f"{page.name}:{number}": block
    for page in sorted((ROOT / "docs" / "guide").glob("*.md"))
    for number, block in enumerate(BLOCK.findall(page.read_text(encoding="utf-8")), 1)
}
NO_PLANS = {"standing-points.md:1"}
"""A limits file, which the engine reads."""
LEFT_TO_RIGHT = '[[sweep]]\npaths = [{ from = "left", to = "right" }]\n'
LEFT_OUT = {
    "alarms.md:1": f'[campaign]\nevery = "10min"\n{LEFT_TO_RIGHT}',
    "background-traffic.md:2": LEFT_TO_RIGHT,
    "iperf3.md:1": '[[sweep]]\npaths = [{ from = "here", to = "there" }]\n',
    "lab.md:1": LEFT_TO_RIGHT,
    "lab.md:2": LEFT_TO_RIGHT,
    "lab.md:3": LEFT_TO_RIGHT,
    "lab.md:5": LEFT_TO_RIGHT,
    "monitors.md:1": '[[sweep]]\npaths = [{ from = "ucl", to = "bristol" }]\n',
    "mptcp.md:2": f'{LEFT_TO_RIGHT}test = "mptcp"\nsubflows = 2\n',
    "plan.md:3": '[[sweep]]\npaths = [{ from = "home", to = "server" }]\n',
    "quic.md:2": '[[sweep]]\ntest = "quic"\npaths = [{ from = "here", to = "there" }]\n',
    "search.md:2": '[[sweep]]\nfind = "plateau"\npaths = [{ from = "geneva", to = "lyon" }]\n'
    'window_sum = { from = "64KiB", to = "64MiB" }\nat_most = { trials = 60 }\n',
    "service.md:1": f'[campaign]\nevery = "10min"\n{LEFT_TO_RIGHT}',
    "standing-points.md:2": '[[sweep]]\npaths = [{ from = "here", to = "point" }]\n',
}
"""What goes before a block that has no sweep, or the keys of one alone."""
NIGHT = datetime(2026, 10, 24, tzinfo=UTC)
"""Before the day of 25 hours in Europe, over which a time of day is longest in coming."""
HOURS = [NIGHT + timedelta(hours=hours, minutes=1) for hours in range(0, 30, 3)]


def hosts_left_out(text: str) -> str:
    """The hosts that a block names and leaves out."""
    document = tomllib.loads(text)
    groups = document.get("groups", {})
    ends = {path[end] for sweep in document["sweep"] for path in sweep["paths"] for end in ("from", "to")}
    named = {host for end in ends for host in groups.get(end, [end])}
    given = {*document.get("hosts", {})}
    if "lab" in document:
        return ""
    return "".join(f'[hosts.{host}]\naddress = "{host}.example.org"\n' for host in sorted(named - given))


def never_fits(plan: Plan) -> dict[str, list[str]]:
    """What `check` refuses, by the hour at which it is asked."""
    refused = {hour.isoformat(): list(times_refusals(plan, int(hour.timestamp()) * 10**9)) for hour in HOURS}
    return {hour: problems for hour, problems in refused.items() if problems}


@pytest.mark.parametrize("name", [name for name in BLOCKS if name not in NO_PLANS])
def test_each_plan_of_the_guide_can_run_at_every_hour(name: str) -> None:
    text = f"{LEFT_OUT.get(name, '')}{BLOCKS[name]}"
    plan = parse_plan(f"{text}\n{hosts_left_out(text)}", name)
    assert expand(plan)
    assert not has_times(plan) or never_fits(plan) == {}


def test_what_is_left_out_is_of_blocks_that_are_there() -> None:
    assert {*LEFT_OUT, *NO_PLANS} - {*BLOCKS} == set()


@pytest.mark.parametrize("example", EXAMPLE_PLANS, ids=lambda path: path.stem)
def test_each_example_can_run_at_every_hour(example: Path) -> None:
    plan = parse_plan(example.read_text(encoding="utf-8"), example.name)
    assert not has_times(plan) or never_fits(plan) == {}


def test_the_plan_of_the_toy_test_is_one_as_its_page_loads_the_package(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "development" / "new-test.md").read_text(encoding="utf-8")
    plan = tmp_path / "plan.toml"
    built = "engine/target/debug/examples/noop"  # here any program does
    plan.write_text(BLOCK.findall(page)[0].replace(built, sys.executable), encoding="utf-8")
    (code,) = re.findall(r'python -c "([^"]*)"', page)
    checked = subprocess.run(
        [sys.executable, "-c", code, "check", str(plan)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=os.environ | {"PYTHONPATH": f"{ROOT / 'tests'}{os.pathsep}{ROOT / 'src'}"},
    )
    assert (checked.returncode, "2 points" in checked.stdout) == (0, True), checked.stderr
