"""Two equal campaigns on the lab compare as the same, and one over a link 5 % slower as slower."""

from pathlib import Path

from campaign_support import compared, run_together, runs_lab
from witness import judged

pytestmark = runs_lab

PLAN = """
[campaign]
name = "compare"
repeats = 3
seed = 1

[lab.links.path]
between = ["near", "far"]
rate = "RATE"
delay = "2ms"
queue = "50KB"

[[sweep]]
name = "flows"
paths = [{ from = "near", to = "far" }]
flows = [1, 4]
congestion = "cubic"
duration = "2s"
omit = "500ms"
interval = "500ms"
"""
RATES = {"one": "50Mbit/s", "two": "50Mbit/s", "slower": "47.5Mbit/s"}
BEARS_S = 0.015
"""Of an absence of a processor: a hundredth of what a trial counts."""


def test_equal_campaigns_are_the_same_and_a_slower_link_fails(tmp_path: Path) -> None:
    def measure(attempt: int) -> Path:
        folder = tmp_path / str(attempt)
        folder.mkdir()
        plans = {name: folder / f"{name}.toml" for name in RATES}
        for name, plan in plans.items():
            plan.write_text(PLAN.replace("RATE", RATES[name]), encoding="utf-8")
        run_together(folder, {name: [plan] for name, plan in plans.items()})
        return folder

    def check(folder: Path) -> None:
        one, two, slow = (folder / name for name in RATES)
        same = compared(one, two, fail_if="slower")
        assert same[0] == 0, same[1]
        assert "B is the same within 3 %" in same[1]
        slower = compared(one, slow, fail_if="slower")
        assert slower[0] == 1, slower[1]
        assert "B is slower, −5." in slower[1] or "B is slower, −4." in slower[1]
        assert "lab.links.path.rate: 50Mbit/s in A, 47.5Mbit/s in B" in slower[1]
        assert compared(slow, one, fail_if="slower")[0] == 0

    judged(measure, check, bears_s=BEARS_S)
