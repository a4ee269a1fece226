"""A device on the path that takes no jumbo frames is noticed, from what the ends' kernels say."""

import json
import subprocess
from pathlib import Path

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


def test_a_device_that_takes_no_jumbo_frames_is_the_paths(tmp_path: Path) -> None:
    plan, archive = tmp_path / "plan.toml", tmp_path / "archive"
    plan.write_text(PLAN, encoding="utf-8")
    command = start("run", plan, "--archive", archive)
    wait_until(lambda: command.poll() is not None or finished_trials(archive) > 0)
    (router,) = [name for name in namespaces_of(command.pid) if name.endswith("-link-wire")]
    lower = ["ip", "-n", router, "link", "set", "side1", "mtu", "1500"]
    subprocess.run(lower, check=True, timeout=10)
    output, _ = command.communicate(timeout=180)
    assert command.returncode == 0, output
    findings = json.loads(flowsweep("findings", archive, "--format", "json"))
    # The trial in which it happened may have found it out, too, before its end.
    [found] = [one for one in findings if one["kind"] == "segment_size"]
    assert found["direction"] == "left → right"
    assert found["effect"] == 1448
    assert "although right takes 8948 B: left or the path takes no packets above 1500 B." in found["claim"]
    assert found["n"] in (1, 2)
