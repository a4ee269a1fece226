"""Plans for tests, and a way to run the command line inside the test's own process."""

from pathlib import Path

import pytest

from flowsweep.cli import main
from flowsweep.plan import Plan, parse_plan

ROOT = Path(__file__).parents[2]
WRONG_PLANS = Path(__file__).parents[1] / "contract" / "plans" / "wrong"
EXAMPLE_PLANS = sorted((ROOT / "plans").glob("*.toml"))

HOSTS = """
[hosts.left]
[hosts.right]
"""


def plan_of(sweep: str, campaign: str = "", name: str = "grid") -> Plan:
    """A plan of one sweep between two hosts on this machine."""
    return parse_plan(
        f'[campaign]\n{campaign}\n{HOSTS}\n[[sweep]]\nname = "{name}"\n'
        f'paths = [{{ from = "left", to = "right" }}]\n{sweep}\n',
        "test.toml",
    )


def command_line(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    """The exit code of `flowsweep` with these arguments."""
    monkeypatch.setattr("sys.argv", ["flowsweep", *arguments])
    with pytest.raises(SystemExit) as exit_:
        main()
    return exit_.value.code or 0
