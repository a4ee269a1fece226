"""A campaign that runs, a real Prometheus that scrapes its metrics, an Alertmanager that is told."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from flowsweep.archive import read_archive
from flowsweep.serve.prometheus_files import FILES, write_rules
from ssh_support import free_port
from summary_support import archive_rows
from waiting import wait_until

pytestmark = pytest.mark.lab

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
SLOT_S = 6
LOOK_S = 5
"""Scraped and looked at once a second each, and told at once."""
SHAPED = """
[campaign]
name = "by-the-clock"
every = "6s"
for = "10min"
[lab.links.wire]
between = ["left", "right"]
rate = "40Mbit/s"
queue = "200KB"
[[sweep]]
name = "goodput"
paths = [{ from = "left", to = "right" }]
congestion = "cubic"
duration = "3s"
interval = "0.5s"
omit = "1s"
"""
LABEL_VALUES = re.compile(r"label_values\((\w+), (\w+)\)")
VARIABLE = re.compile(r"\$\w+")
LEGEND = re.compile(r"\{\{(\w+)\}\}")
BUCKET = re.compile(r"qdisc tbf \w+: dev (\S+) root")
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


def needed(*programs: str) -> None:
    if missing := [name for name in programs if shutil.which(name) is None]:
        reason = f"{missing} are not there; install them with: apt-get install -y {' '.join(missing)}"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)


@dataclass(frozen=True)
class Site:
    """A campaign, its page, a Prometheus and an Alertmanager, which all run."""

    run: subprocess.Popen
    page: subprocess.Popen
    prometheus: int
    manager: int
    log: Path
    archive: Path

    def one(self, query: str) -> float:
        [(_, value)] = asked(self.prometheus, query)
        return value


def configured(folder: Path, page: int, manager: int, plan: str) -> None:
    rules = write_rules(folder)[0]
    # What waits for minutes fires at once here; nothing else changes.
    rules.write_text(re.sub(r"for: \w+", "for: 0s", rules.read_text(encoding="utf-8")), encoding="utf-8")
    (folder / "plan.toml").write_text(plan, encoding="utf-8")
    (folder / "token").write_text("a-token-for-prometheus\n", encoding="utf-8")
    (folder / "alertmanager.yml").write_text(
        "route: {receiver: nobody, group_wait: 0s}\nreceivers: [{name: nobody}]\n", encoding="utf-8"
    )
    (folder / "prometheus.yml").write_text(
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


@contextmanager
def running(tmp_path: Path, plan_text: str) -> Iterator[Site]:
    needed("prometheus", "prometheus-alertmanager")
    page, prometheus, manager = free_port(), free_port(), free_port()
    configured(tmp_path, page, manager, plan_text)
    archive, log = tmp_path / "archive", tmp_path / "serve.log"
    at_page = ("--address", f"127.0.0.1:{page}", "--token-file", tmp_path / "token")
    alertmanager = (
        f"--config.file={tmp_path / 'alertmanager.yml'}",
        f"--storage.path={tmp_path / 'alerts'}",
        f"--web.listen-address=127.0.0.1:{manager}",
        "--cluster.listen-address=",
    )
    scraper = (
        f"--config.file={tmp_path / 'prometheus.yml'}",
        f"--storage.tsdb.path={tmp_path / 'data'}",
        f"--web.listen-address=127.0.0.1:{prometheus}",
    )
    with ExitStack() as stack:
        enter = stack.enter_context
        plan = tmp_path / "plan.toml"
        run = enter(process(*FLOWSWEEP, "run", plan, "--archive", archive, log=tmp_path / "run.log"))
        wait_until(lambda: (archive / "journal").exists() or run.poll() is not None, timeout_s=60)
        assert run.poll() is None, (tmp_path / "run.log").read_text()
        served = enter(process(*FLOWSWEEP, "serve", archive, *at_page, log=log, stop=signal.SIGINT))
        enter(process("prometheus-alertmanager", *alertmanager, log=tmp_path / "alertmanager.log"))
        enter(process("prometheus", *scraper, log=tmp_path / "prometheus.log"))
        yield Site(run, served, prometheus, manager, log, archive)


@pytest.mark.together
def test_prometheus_scrapes_a_campaign_and_alertmanager_learns_that_it_ended(tmp_path):
    with running(tmp_path, PLAN) as site:
        learns_that_it_ended(site)


def learns_that_it_ended(site: Site) -> None:
    wait_until(lambda: asked(site.prometheus, "flowsweep_goodput_bits_per_second"), timeout_s=120)
    [(labels, goodput)] = asked(site.prometheus, "flowsweep_goodput_bits_per_second")
    assert (labels["campaign"], labels["src"], labels["dst"]) == ("by-the-clock", "left", "right")
    assert goodput in [row["goodput_bps"] for row in archive_rows(read_archive(site.archive))]
    as_asked = pytest.approx(20e6, rel=0.1)
    wait_until(lambda: site.one("flowsweep_goodput_bits_per_second") == as_asked, timeout_s=60)
    assert site.one('up{job="flowsweep"}') == 1
    assert site.one("flowsweep_campaign_running") == 1
    assert "FlowsweepCampaignStopped" not in alerts(site.manager)
    draws_the_dashboard(site)
    trials = 'flowsweep_trials_total{status="ok"}'
    first = site.one(trials)
    wait_until(lambda: site.one(trials) > first, timeout_s=60)
    site.run.send_signal(signal.SIGINT)
    site.run.wait(60)
    wait_until(lambda: "FlowsweepCampaignStopped" in alerts(site.manager), timeout_s=60)
    assert "FlowsweepDown" not in alerts(site.manager)
    site.page.send_signal(signal.SIGINT)
    assert site.page.wait(30) == 130
    assert site.log.read_text().count("\n") == 1, "one line, and no traceback"
    wait_until(lambda: "FlowsweepDown" in alerts(site.manager), timeout_s=60)


def draws_the_dashboard(site: Site) -> None:
    """Every query of Grafana's dashboard is answered, with the labels that its variables and legends name."""
    board = json.loads((site.archive.parent / FILES[1]).read_text(encoding="utf-8"))
    for variable in board["templating"]["list"]:
        if variable["type"] == "query":
            metric, label = LABEL_VALUES.fullmatch(variable["query"]["query"]).groups()
            assert asked(site.prometheus, metric)[0][0][label]
    for target in (target for panel in board["panels"] for target in panel["targets"]):
        query = VARIABLE.sub(".*", target["expr"])
        # An increase needs a second scrape.
        wait_until(lambda query=query: asked(site.prometheus, query), timeout_s=20)
        # A sweep of a single point leaves `point` empty, and so Prometheus has no such label.
        named = set(LEGEND.findall(target["legendFormat"])) - {"point"}
        assert all(named <= metric.keys() for metric, _ in asked(site.prometheus, query))


@pytest.mark.long
def test_alertmanager_learns_within_two_slots_that_a_link_lost_30_percent_of_its_rate(tmp_path):
    with running(tmp_path, SHAPED) as site:
        trials = 'flowsweep_trials_total{status="ok"}'
        wait_until(lambda: asked(site.prometheus, trials) and site.one(trials) >= 6, timeout_s=180)
        assert site.one("flowsweep_goodput_bits_per_second") > 35e6
        assert "FlowsweepGoodputDropped" not in alerts(site.manager)
        set_rate(site.run.pid, bps=28_000_000)
        began = time.monotonic()
        wait_until(lambda: "FlowsweepGoodputDropped" in alerts(site.manager), timeout_s=60)
        # The trial that runs meanwhile is of both rates; two more, and what Prometheus and Alertmanager take.
        assert time.monotonic() - began < 3 * SLOT_S + LOOK_S
        assert "FlowsweepGoodputLow" not in alerts(site.manager)


def set_rate(pid: int, *, bps: int) -> None:
    """Change the rate of the shapers in a running campaign's router."""
    listed = subprocess.check_output(["ip", "netns", "list"], text=True).splitlines()
    names = [line.split()[0] for line in listed if line.startswith(f"flowsweep-{pid}-")]
    shaped = [(name, device) for name in names for device in BUCKET.findall(tc(name, "qdisc", "show"))]
    assert len(shaped) == 2, names
    for name, device in shaped:
        tc(
            name,
            "qdisc",
            "change",
            "dev",
            device,
            "root",
            "tbf",
            "rate",
            f"{bps}bit",
            "burst",
            "10kb",
            "limit",
            "200kb",
        )


def tc(namespace: str, *words: str) -> str:
    return subprocess.check_output(["tc", "-n", namespace, *words], text=True, timeout=10)
