"""Engines that run as a user without any rights carry out every test, or say what is missing."""

import asyncio
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from lab_support import host, link, needs_lab, run

from flowsweep.hosts.access import HostAccess
from flowsweep.hosts.engine import engine_path
from flowsweep.lab import build_lab
from flowsweep.plan import Plan, parse_plan
from flowsweep.run.conductor import run_campaign
from flowsweep.run.outcome import TrialOutcome
from flowsweep.schedule import schedule
from run_support import ListRecorder

pytestmark = [*needs_lab, pytest.mark.together]

AS_NOBODY = (
    "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--bounding-set=-all", "--inh-caps=-all",
    "--no-new-privs",
)  # fmt: skip
BRIEF = 'duration = "600ms"\ninterval = "200ms"\nsample_interval = "50ms"'
SWEEPS = {
    "udp": f'test = "udp"\nrate = "20Mbit/s"\n{BRIEF}',
    "udp-unpaced": f'test = "udp"\nclip = "allow"\n{BRIEF}',
    "tcp": f'mode = ["copy", "zerocopy", "discard"]\ncongestion = "reno"\n{BRIEF}',
    "icmp": 'test = "rtt"\necho = "icmp"\nduration = "300ms"',
    "auto": 'test = "rtt"\necho = "auto"\nduration = "300ms"',
    "connect": 'test = "rtt"\necho = "tcp-connect"\nduration = "300ms"',
    "path": 'test = "path"\nduration = "6s"\nttl_max = 3\nprobes = 4\ntrains = 3\nstreams = 0',
}


@pytest.fixture(scope="module")
def hosts() -> Iterator[Mapping[str, HostAccess]]:
    """Two lab hosts whose engines may do nothing that takes a right."""
    with (
        tempfile.TemporaryDirectory() as folder,
        build_lab([link("wire", "a", "b", rate_bps=100_000_000)], [host("a"), host("b")]) as lab,
    ):
        Path(folder).chmod(0o755)
        engine = shutil.copy(engine_path(), folder)
        yield {
            name: replace(access, launch=(*access.launch, *AS_NOBODY), engine=engine)
            for name, access in lab.access.items()
        }


def plan_of(*sweeps: str) -> Plan:
    paths = 'paths = [{ from = "a", to = "b" }]'
    tables = [f'[[sweep]]\nname = "{name}"\n{paths}\n{SWEEPS[name]}' for name in sweeps]
    return parse_plan("\n".join(["[hosts.a]", "[hosts.b]", *tables]), "unprivileged")


def outcomes_of(hosts: Mapping[str, HostAccess], *sweeps: str) -> list[TrialOutcome]:
    recorder = ListRecorder()
    asyncio.run(run_campaign(schedule(plan_of(*sweeps), seed=1), hosts, recorder))
    return recorder.outcomes


def allow_icmp(hosts: Mapping[str, HostAccess], groups: str) -> None:
    administrator = replace(hosts["a"], launch=hosts["a"].launch[: -len(AS_NOBODY)])
    run(administrator, "sysctl", "-q", "-w", f"net.ipv4.ping_group_range={groups}")


def echoes_of(outcome: TrialOutcome) -> set[str]:
    return set(outcome.of_tests["echoes"]["echo"].to_pylist())


def test_the_engines_have_no_rights(hosts):
    told = run(hosts["a"], "cat", "/proc/self/status")
    words = dict(line.split(":\t", 1) for line in told.splitlines() if ":\t" in line)
    assert words["Uid"].split() == ["65534"] * 4
    assert int(words["CapEff"], 16) == 0


def test_traffic_and_paths_need_no_rights(hosts):
    outcomes = outcomes_of(hosts, "udp", "udp-unpaced", "tcp", "connect", "path")
    assert {str(outcome.record.failure) for outcome in outcomes} == {"None"}
    assert len(outcomes) == 7
    (path,) = [outcome for outcome in outcomes if outcome.record.trial.sweep == "path"]
    assert path.of_tests["hops"].num_rows > 0
    assert path.of_tests["trains"].num_rows > 0


def test_icmp_is_used_where_it_is_permitted_and_what_is_missing_is_told(hosts):
    allow_icmp(hosts, "1 0")
    icmp, auto = sorted(outcomes_of(hosts, "icmp", "auto"), key=lambda one: one.record.trial.sweep)[::-1]
    assert auto.record.status == "ok"
    assert echoes_of(auto) == {"udp"}
    assert icmp.record.status == "failed"
    assert "net.ipv4.ping_group_range" in str(icmp.record.failure)
    allow_icmp(hosts, "0 2147483647")
    for outcome in outcomes_of(hosts, "icmp", "auto"):
        assert outcome.record.status == "ok"
        assert echoes_of(outcome) == {"icmp"}
