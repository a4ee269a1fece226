"""A host chooses the route of marked packets by their mark."""

import subprocess
from pathlib import Path

from lab_support import namespaces_of, needs_lab

from campaign_support import start, summary, write_plan
from waiting import wait_until

pytestmark = needs_lab
PROHIBITED = 0x2


def test_a_rule_for_a_mark_is_for_the_trials_that_have_it(tmp_path: Path) -> None:
    archive = tmp_path / "archive"
    plan = write_plan(tmp_path, sweep=f'fwmark = [1, {PROHIBITED}]\nduration = "3s"\ninterval = "500ms"')
    command = start("run", plan, "--archive", archive, "--set", "campaign.order=listed")
    wait_until(lambda: command.poll() is not None or sources(command.pid) != [])
    (namespace,) = sources(command.pid)
    rule = ["ip", "-n", namespace, "rule", "add", "fwmark", str(PROHIBITED), "prohibit"]
    subprocess.run(rule, check=True, timeout=10)
    output, _ = command.communicate(timeout=180)
    assert command.returncode == 1, output
    rows = {row["fwmark"]: row for row in summary(archive)}
    assert rows["1"]["status"] == "ok"
    assert (rows["2"]["status"], rows["2"]["failure_phase"]) == ("failed", "connect")
    assert "Permission denied" in rows["2"]["error"]


def sources(controller: int) -> list[str]:
    """The namespace of the host that sends, once it is there."""
    return [name for name in namespaces_of(controller) if name.endswith("-host-left")]
