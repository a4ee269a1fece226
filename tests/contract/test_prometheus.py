"""Files for Prometheus and Grafana: checked by Prometheus's own tool; metrics that they name are there."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from flowsweep.serve.rules import FILES, write_rules
from mesh_support import write_mesh
from serve_support import served

HERE = Path(__file__).parent
METRIC = re.compile(r"flowsweep_[a-z_]+")


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
    assert "9 rules found" in promtool("check", "rules", files / FILES[0])


def test_each_alert_fires_when_it_should(files):
    cases = (HERE / "prometheus_rules_test.yml").read_text(encoding="utf-8")
    (files / "cases.yml").write_text(cases.replace("RULES", str(files / FILES[0])), encoding="utf-8")
    assert "SUCCESS" in promtool("test", "rules", files / "cases.yml")
    alerts = set(re.findall(r"alert: (\w+)", (files / FILES[0]).read_text(encoding="utf-8")))
    assert alerts - set(re.findall(r"alertname: (\w+)", cases)) <= {"FlowsweepSlotsMissed"}


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
