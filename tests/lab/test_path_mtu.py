"""A device on the path that takes no jumbo frames is noticed, from what the ends' kernels say."""

import json
import subprocess
from pathlib import Path

import pytest
from lab_support import namespaces_of, needs_lab

from campaign_support import finished_trials, flowsweep, start
from waiting import wait_until

pytestmark = needs_lab
PLAN = """
[campaign]
name = "jumbo"
repeats = 2
seed = 1

[lab.links.wire]
between = ["left", "right"]
rate = "50Mbit/s"
mtu = "9000B"

[[sweep]]
name = "sweep"
paths = [{ from = "left", to = "right" }]
congestion = "cubic"
duration = "2s"
interval = "500ms"
"""


def measured_while_the_path_gets(mtu: int, text: str, folder: Path) -> Path:
    """Run a plan whose link takes no packets above an MTU from the end of the first trial on."""
    plan, archive = folder / "plan.toml", folder / "archive"
    plan.write_text(text, encoding="utf-8")
    command = start("run", plan, "--archive", archive)
    wait_until(lambda: command.poll() is not None or finished_trials(archive) > 0)
    (router,) = [name for name in namespaces_of(command.pid) if name.endswith("-link-wire")]
    lower = ["ip", "-n", router, "link", "set", "side1", "mtu", str(mtu)]
    subprocess.run(lower, check=True, timeout=10)
    output, _ = command.communicate(timeout=180)
    assert command.returncode == 0, output
    return archive


def test_a_device_that_takes_no_jumbo_frames_is_the_paths(tmp_path: Path) -> None:
    archive = measured_while_the_path_gets(1500, PLAN, tmp_path)
    findings = json.loads(flowsweep("findings", archive, "--format", "json"))
    # The trial in which it happened may have found it out, too, before its end.
    [found] = [one for one in findings if one["kind"] == "segment_size"]
    assert found["direction"] == "left → right"
    assert found["effect"] == 1448
    assert "although right takes 8948 B: left or the path takes no packets above 1500 B." in found["claim"]
    assert found["n"] in (1, 2)


PATH = """
[campaign]
name = "trains"
repeats = 5
order = "listed"

[lab.links.wire]
between = ["left", "right"]
rate = "50Mbit/s"

[[sweep]]
name = "sweep"
test = "path"
paths = [{ from = "left", to = "right" }]
ttl_max = 0
streams = 0
"""


@pytest.mark.long
def test_trains_are_made_to_fit_where_a_router_reports_a_smaller_mtu(tmp_path: Path) -> None:
    archive = measured_while_the_path_gets(1300, PATH, tmp_path)
    trials = json.loads(flowsweep("summary", archive, "--format", "json"))
    assert trials[0]["remarks"] is None
    assert "packets of trains are of 1300 B in place of 1440" in trials[-1]["remarks"]
    assert all(trial["path_capacity_bps"] is not None for trial in trials)
