"""Files for Prometheus and Grafana: checked by Prometheus's own tool; metrics that they name are there."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from scipy.signal import lfilter

from flowsweep.serve.prometheus_files import FILES, write_rules
from mesh_support import write_mesh
from serve_support import served

pytestmark = pytest.mark.whole

HERE = Path(__file__).parent
METRIC = re.compile(r"flowsweep_[a-z_]+")
PATH = '{campaign="mesh", sweep="goodput", src="a", dst="b", point=""}'
SLOTS_OF_A_DAY = 288
OF_SERVICE = (
    "FlowsweepDown",
    "FlowsweepArchiveUnreadable",
    "FlowsweepCampaignStopped",
    "FlowsweepSlotsMissed",
    "FlowsweepSlotsMissedInADay",
)
"""Alerts of what a path has nothing to do with."""


def promtool(*arguments: object) -> str:
    if shutil.which("promtool") is None:
        reason = "promtool is not there; install it with: apt-get install -y prometheus"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    done = subprocess.run(
        ["promtool", *map(str, arguments)], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("prometheus")
    assert [file.name for file in write_rules(folder)] == list(FILES)
    return folder


def test_the_rules_are_rules(files):
    assert "12 rules found" in promtool("check", "rules", files / FILES[0])


@pytest.mark.long
def test_each_alert_fires_when_it_should(files):
    cases = (HERE / "prometheus_rules_test.yml").read_text(encoding="utf-8")
    (files / "cases.yml").write_text(cases.replace("RULES", str(files / FILES[0])), encoding="utf-8")
    assert "SUCCESS" in promtool("test", "rules", files / "cases.yml")
    alerts = set(re.findall(r"alert: (\w+)", (files / FILES[0]).read_text(encoding="utf-8")))
    assert alerts - set(re.findall(r"alertname: (\w+)", cases)) == set()


def test_no_alert_over_a_day_without_change(files):
    generator = np.random.default_rng(20261126)
    slots = np.arange(2 * SLOTS_OF_A_DAY)
    of_day = 1 + 0.1 * np.cos(2 * np.pi * slots / SLOTS_OF_A_DAY)
    noise = lfilter([np.sqrt(1 - 0.5**2)], [1, -0.5], generator.normal(0, 0.05, len(slots)))
    goodput = 90e6 * of_day * np.exp(noise)
    series = {
        "flowsweep_goodput_bits_per_second": goodput,
        "flowsweep_goodput_highest_of_two_bits_per_second": np.maximum(goodput[1:], goodput[:-1]),
        "flowsweep_round_trip_seconds": 0.02 * (2 - of_day),
        "flowsweep_loss_ratio": np.full(len(slots), 0.001),
        "flowsweep_path_overdue": np.zeros(len(slots)),
        "flowsweep_path_failed": np.zeros(len(slots)),
    }
    alerts = re.findall(r"alert: (\w+)", (files / FILES[0]).read_text(encoding="utf-8"))
    times = [f"{5 * slot}m" for slot in range(SLOTS_OF_A_DAY, 2 * SLOTS_OF_A_DAY)]
    quiet = [
        {"eval_time": at, "alertname": alert, "exp_alerts": []}
        for at in times
        for alert in alerts
        if alert not in OF_SERVICE
    ]
    given = [
        {"series": f"{name}{PATH}", "values": " ".join(f"{value:.6g}" for value in values)}
        for name, values in series.items()
    ]
    promtool("test", "rules", cases(files, given, quiet))


def cases(files, series, asked):
    """A file of one case for promtool, at a slot of five minutes; YAML has JSON in it."""
    case = {"interval": "5m", "input_series": series, "alert_rule_test": asked}
    text = json.dumps({"rule_files": [str(files / FILES[0])], "evaluation_interval": "5m", "tests": [case]})
    (files / "case.yml").write_text(text, encoding="utf-8")
    return files / "case.yml"


def test_metrics_that_are_asked_for_are_there(files, tmp_path):
    write_mesh(tmp_path / "archive", times=3)
    with served(tmp_path / "archive") as found:
        found.wait_for_summaries()
        _, text = found.ask("/metrics")
    there = set(METRIC.findall(text))
    for name in FILES:
        assert set(METRIC.findall((files / name).read_text(encoding="utf-8"))) <= there


def test_the_dashboard_is_one(files):
    board = json.loads((files / FILES[1]).read_text(encoding="utf-8"))
    assert {"title", "uid", "panels", "templating", "schemaVersion"} <= board.keys()
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"]) == 9
    variables = {one["name"] for one in board["templating"]["list"]}
    for panel in board["panels"]:
        for target in panel["targets"]:
            assert set(re.findall(r"\$(\w+)", target["expr"])) <= variables
