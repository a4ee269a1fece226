"""A campaign that runs, a real Prometheus that scrapes its metrics, an Alertmanager that is told."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from flowsweep.serve.rules import FILES, write_rules
from serve_support import free_port
from waiting import wait_until

pytestmark = [pytest.mark.lab, pytest.mark.together]

PLAN = """
[campaign]
name = "by-the-clock"
every = "6s"
for = "10min"
[hosts.left]
[hosts.right]
[[sweep]]
name = "goodput"
paths = [{ from = "left", to = "right" }]
rate = "20Mbit/s"
duration = "3s"
interval = "1s"
omit = "0s"
"""
FLOWSWEEP = (sys.executable, "-c", "from flowsweep.cli import main; main()")


@contextmanager
def process(*words: object, log: Path, stop: int = signal.SIGTERM) -> Iterator[subprocess.Popen]:
    with log.open("wb") as output:
        started = subprocess.Popen([str(word) for word in words], stdout=output, stderr=subprocess.STDOUT)
    try:
        yield started
    finally:
        started.send_signal(stop)
        try:
            started.wait(60)
        except subprocess.TimeoutExpired:
            started.kill()
            started.wait()


def answer(address: str):
    with urllib.request.urlopen(address, timeout=10) as found:
        return json.load(found)


def asked(port: int, query: str) -> list[tuple[dict, float]]:
    try:
        found = answer(f"http://127.0.0.1:{port}/api/v1/query?{urllib.parse.urlencode({'query': query})}")
    except OSError:
        return []
    return [(one["metric"], float(one["value"][1])) for one in found["data"]["result"]]


def alerts(port: int) -> set[str]:
    try:
        return {one["labels"]["alertname"] for one in answer(f"http://127.0.0.1:{port}/api/v2/alerts")}
    except OSError:
        return set()


def test_prometheus_scrapes_a_campaign_and_alertmanager_learns_that_it_ended(tmp_path):
    if missing := [name for name in ("prometheus", "prometheus-alertmanager") if shutil.which(name) is None]:
        reason = f"{missing} are not there; install them with: apt-get install -y {' '.join(missing)}"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    (tmp_path / "plan.toml").write_text(PLAN, encoding="utf-8")
    rules = write_rules(tmp_path)[0]
    assert rules.name == FILES[0]
    # What waits for minutes fires at once here; nothing else changes.
    rules.write_text(re.sub(r"for: \w+", "for: 0s", rules.read_text(encoding="utf-8")), encoding="utf-8")
    page, prometheus, manager = free_port(), free_port(), free_port()
    (tmp_path / "alertmanager.yml").write_text(
        "route: {receiver: nobody, group_wait: 0s}\nreceivers: [{name: nobody}]\n", encoding="utf-8"
    )
    (tmp_path / "prometheus.yml").write_text(
        f"""
global: {{scrape_interval: 1s, evaluation_interval: 1s}}
rule_files: ["{rules}"]
alerting: {{alertmanagers: [{{static_configs: [{{targets: ["127.0.0.1:{manager}"]}}]}}]}}
scrape_configs:
  - job_name: flowsweep
    authorization: {{credentials: a-token-for-prometheus}}
    static_configs: [{{targets: ["127.0.0.1:{page}"]}}]
""",
        encoding="utf-8",
    )
    (tmp_path / "token").write_text("a-token-for-prometheus\n", encoding="utf-8")
    archive = tmp_path / "archive"
    with ExitStack() as stack:
        run = stack.enter_context(
            process(*FLOWSWEEP, "run", tmp_path / "plan.toml", "--archive", archive, log=tmp_path / "run.log")
        )
        wait_until(lambda: (archive / "journal").exists() or run.poll() is not None, timeout_s=60)
        assert run.poll() is None, (tmp_path / "run.log").read_text()
        served = stack.enter_context(
            process(
                *FLOWSWEEP,
                "serve",
                archive,
                "--address",
                f"127.0.0.1:{page}",
                "--token-file",
                tmp_path / "token",
                log=tmp_path / "serve.log",
                stop=signal.SIGINT,
            )
        )
        stack.enter_context(
            process(
                "prometheus-alertmanager",
                f"--config.file={tmp_path / 'alertmanager.yml'}",
                f"--storage.path={tmp_path / 'alerts'}",
                f"--web.listen-address=127.0.0.1:{manager}",
                "--cluster.listen-address=",
                log=tmp_path / "alertmanager.log",
            )
        )
        stack.enter_context(
            process(
                "prometheus",
                f"--config.file={tmp_path / 'prometheus.yml'}",
                f"--storage.tsdb.path={tmp_path / 'data'}",
                f"--web.listen-address=127.0.0.1:{prometheus}",
                log=tmp_path / "prometheus.log",
            )
        )
        wait_until(lambda: asked(prometheus, "flowsweep_goodput_bits_per_second"), timeout_s=120)
        [(labels, goodput)] = asked(prometheus, "flowsweep_goodput_bits_per_second")
        assert (labels["campaign"], labels["src"], labels["dst"]) == ("by-the-clock", "left", "right")
        assert goodput == pytest.approx(20e6, rel=0.1)
        assert asked(prometheus, 'up{job="flowsweep"}')[0][1] == 1
        assert asked(prometheus, "flowsweep_campaign_running")[0][1] == 1
        assert "FlowsweepCampaignStopped" not in alerts(manager)
        first = asked(prometheus, 'flowsweep_trials_total{status="ok"}')[0][1]
        wait_until(
            lambda: asked(prometheus, 'flowsweep_trials_total{status="ok"}')[0][1] > first, timeout_s=60
        )
        run.send_signal(signal.SIGINT)
        run.wait(60)
        wait_until(lambda: "FlowsweepCampaignStopped" in alerts(manager), timeout_s=60)
        assert "FlowsweepDown" not in alerts(manager)
        served.send_signal(signal.SIGINT)
        assert served.wait(30) == 130
        assert (tmp_path / "serve.log").read_text().count("\n") == 1, "one line, and no traceback"
        wait_until(lambda: "FlowsweepDown" in alerts(manager), timeout_s=60)
