"""Groups of hosts on a switch, with real packets: every byte is told, a host that dies is named at once."""

import os
import signal
import time
from pathlib import Path

import pytest
from lab_support import engine_of, interfaces, namespaces_of, needs_lab

from campaign_support import flowsweep_here, start, summary
from flowsweep.analysis import bins
from flowsweep.analysis.binning.byte_balance import balance
from flowsweep.archive import read_archive
from plan_support import ROOT
from waiting import wait_until

pytestmark = needs_lab
PAYLOAD = 1448 / 1500
"""Share of an IP packet that is the application's."""
FAILS_WITHIN_S = 5
SOURCES, SINKS = (tuple(f"{side}{number}" for number in range(1, 5)) for side in "st")


def write_plan(folder: Path, sweep: str, rate: str = "50Mbit/s") -> Path:
    """Four hosts send to four others over a switch."""
    plan = folder / "plan.toml"
    plan.write_text(
        f"""
        [groups]
        sources = {list(SOURCES)}
        sinks = {list(SINKS)}

        [lab.links.switch]
        between = {[*SOURCES, *SINKS]}
        rate = "{rate}"

        [[sweep]]
        paths = [{{ from = "sources", to = "sinks" }}]
        congestion = "cubic"
        {sweep}
        """,
        encoding="utf-8",
    )
    return plan


def test_four_hosts_to_four_hosts_every_byte_of_every_flow_is_told(tmp_path: Path) -> None:
    plan = write_plan(tmp_path, 'duration = "3s"\nomit = "1s"\ninterval = "0.5s"\nwindow = "128KiB"')
    flowsweep_here("run", plan, "--archive", tmp_path / "archive")
    (row,) = summary(tmp_path / "archive")
    assert (row["status"], row["flows"], row["sources"], row["sinks"]) == ("ok", "16", "4", "4")
    assert (row["src"], row["dst"], row["coverage"]) == ("sources", "sinks", "1.0")
    assert float(row["goodput_bps"]) == pytest.approx(4 * 50e6 * PAYLOAD, rel=0.05)
    # All hosts of a lab read one clock.
    assert float(row["clock_bound_ms"]) == 0

    tables = read_archive(tmp_path / "archive").tables()
    resampled = bins(tables.samples, tables.trials, tables.flows)
    flows = balance(tables.flows, tables.samples, resampled).order_by("flow").to_pyarrow().to_pylist()
    assert [flow["flow"] for flow in flows] == list(range(16))
    for flow in flows:
        counts = {flow[f"bytes_{name}"] for name in ("sent", "read", "sampled", "binned")}
        assert len(counts) == 1
        assert min(counts) > 0
    told = tables.flows.filter(tables.flows.role == "sink").order_by("flow").to_pyarrow().to_pylist()
    assert [(end["peer"], end["host"]) for end in told] == [(s, t) for s in SOURCES for t in SINKS]
    assert sum(flow["bytes_read"] for flow in flows) == int(row["bytes"]) == int(row["bytes_sent"])


@pytest.mark.parametrize("host", ["s2", "t3"])
def test_a_host_that_dies_is_named_at_once_and_nothing_stays_behind(tmp_path: Path, host: str) -> None:
    before, archive = interfaces(), tmp_path / "archive"
    command = start("run", write_plan(tmp_path, 'duration = "30s"'), "--archive", archive)
    wait_until(lambda: command.poll() is not None or _received_bytes(command.pid, "t1") > 1_000_000)
    engines = [engine_of(command.pid, name) for name in (*SOURCES, *SINKS)]
    os.kill(engine_of(command.pid, host), signal.SIGKILL)
    killed_at = time.time()
    output, _ = command.communicate(timeout=180)
    assert command.returncode == 1, output

    (record,) = read_archive(archive).records.values()
    assert record.failure is not None
    assert (record.status, record.failure.host, record.failure.kind) == ("failed", host, "session_lost")
    assert "SIGKILL" in record.failure.message
    assert record.started_at.timestamp() + record.elapsed_ns / 1e9 - killed_at < FAILS_WITHIN_S
    assert not any(Path(f"/proc/{engine}").exists() for engine in engines)
    assert namespaces_of(command.pid) == []
    assert interfaces() == before


def test_the_campaign_of_seed_001_in_short(tmp_path: Path) -> None:
    changes = (
        "sweep.pairs=[1, 3]",
        'sweep.window_sum=["256KB"]',
        "sweep.duration=1.5s",
        "sweep.interval=500ms",
    )
    overrides = [word for change in changes for word in ("--set", change)]
    flowsweep_here("run", ROOT / "plans" / "seed-001-tcp.toml", "--archive", tmp_path / "archive", *overrides)
    one, three = sorted(summary(tmp_path / "archive"), key=lambda row: int(row["flows"]))
    assert (one["flows"], three["flows"]) == ("1", "9")
    assert (one["status"], three["status"]) == ("ok", "ok")
    assert int(three["window_bytes"]) == 256_000 // 9
    # One port of 1 Gbit/s against three; what a shared machine makes of them is not the question here.
    assert float(one["goodput_bps"]) < 1e9 * PAYLOAD * 1.02
    assert float(three["goodput_bps"]) > 1.5 * float(one["goodput_bps"])


def _received_bytes(controller: int, host: str) -> int:
    """What a host has received from the switch; 0 while there is no such host yet."""
    if not any(name.endswith(f"-host-{host}") for name in namespaces_of(controller)):
        return 0
    try:
        lines = Path(f"/proc/{engine_of(controller, host)}/net/dev").read_text(encoding="ascii").splitlines()
    except (ValueError, OSError):
        return 0
    counters = [line.partition(":")[2].split() for line in lines if line.strip().startswith("link")]
    return sum(int(counter[0]) for counter in counters)
