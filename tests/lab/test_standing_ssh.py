"""A standing point as users set it up: a key of theirs, whose command an OpenSSH server runs."""

import asyncio
import json
from pathlib import Path

import pytest

from analysis_support import make_trial
from flowsweep.hosts.access import DataAddress, HostAccess
from flowsweep.hosts.engine import engine_path
from flowsweep.run.conductor import run_campaign
from flowsweep.schedule import Slot
from run_support import ListRecorder
from ssh_support import SSHD, serving

pytestmark = [
    pytest.mark.lab,
    pytest.mark.together,
    pytest.mark.skipif(SSHD is None, reason="no sshd: `apt-get install openssh-server` brings it"),
]


def test_a_campaign_through_a_forced_command_does_what_the_limits_allow(tmp_path: Path) -> None:
    limits = tmp_path / "limits.toml"
    (tmp_path / "state").mkdir()
    rule = 'name = "loopback"\npeers = ["127.0.0.1"]\ncontrollers = ["127.0.0.0/8"]\n'
    files = f"state = '{tmp_path / 'state'}'\naudit = '{tmp_path / 'audit'}'\n"
    limits.write_text(f"{files}[[rule]]\n{rule}flows = 2\nrate = '80Mbit/s'\n", encoding="utf-8")
    near = HostAccess("near", (), None, {"far": (DataAddress("127.0.0.1", 4),)})
    brief = {"duration_ns": 500_000_000, "omit_ns": 0, "interval_ns": 100_000_000}
    trials = [
        make_trial(src="near", dst="far", flows=2, rate_bps=40_000_000, **brief),
        make_trial(src="near", dst="far", flows=3, rate_bps=1_000_000, **brief),
        make_trial(src="far", dst="near", flows=1, **brief),
    ]
    recorder = ListRecorder()
    with serving(tmp_path, f"exec {engine_path()} agent --limits {limits} --name alice") as config:
        far = HostAccess(
            "far", ("ssh", "-F", str(config), "far"), None, {"near": (DataAddress("127.0.0.1", 4),)},
            shares_files=False,
        )  # fmt: skip
        slots = [Slot(trials=(trial,)) for trial in trials]
        asyncio.run(run_campaign(slots, {"near": near, "far": far}, recorder))
    allowed, refused, paced = (outcome.record for outcome in recorder.outcomes)
    assert allowed.failure is None
    assert refused.failure is not None
    assert (refused.failure.kind, refused.failure.phase, refused.failure.host) == (
        "point_refused",
        "prepare",
        "far",
    )
    said = "rule loopback of this standing point: asked for 3 flows at once, allowed at most 2 (`flows`)"
    assert refused.failure.message == said
    assert paced.failure is None
    (remark,) = paced.sources[0].remarks
    assert remark.startswith("the standing point (rule loopback) holds each flow to 80 Mbit/s")
    audited = [json.loads(line) for line in (tmp_path / "audit").read_text(encoding="utf-8").splitlines()]
    assert [line["event"] for line in audited] == ["begun", "ended", "refused", "begun", "ended"]
    assert {line["controller"] for line in audited} == {"alice"}
    assert {line["controller_address"] for line in audited} == {"127.0.0.1"}
