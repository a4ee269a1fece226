"""What a trial under load tells of its hosts: CPU time, counters, devices and routes."""

import pytest

from campaign_support import flowsweep_here, runs_lab, write_plan
from flowsweep.archive import Archive, read_archive

pytestmark = [*runs_lab, pytest.mark.quiet]

FLOWS = 2
TICK_US = 10_000
"""What the kernel counts the time of cores in."""


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Archive:
    """A trial of two seconds on a path without limit, which keeps both hosts busy."""
    folder = tmp_path_factory.mktemp("observation")
    sweep = f'flows = {FLOWS}\nwindow = "128KiB"\nduration = "2s"\nomit = "0.5s"\ninterval = "0.5s"'
    plan = write_plan(folder, sweep=sweep)
    flowsweep_here("run", plan, "--archive", folder / "archive")
    return read_archive(folder / "archive")


def test_threads_add_up_to_what_their_flows_report(archive: Archive) -> None:
    tables = archive.tables()
    threads = tables.cpu.filter(tables.cpu.kind == "thread")
    sums = threads.group_by("role", "id").agg(
        busy_us=threads.busy_us.sum(), switches=threads.voluntary_switches.sum(), rows=threads.count()
    )
    found = {(row["role"], row["id"]): row for row in sums.to_pyarrow().to_pylist()}
    assert set(found) == {(role, id_) for role in ("source", "sink") for id_ in range(-1, FLOWS)}
    for flow in tables.flows.to_pyarrow().to_pylist():
        row = found[flow["role"], flow["flow"]]
        reported_us = flow["cpu_user_us"] + flow["cpu_system_us"]
        # Before a flow's first byte and while it drains, its thread has rows that the report leaves out.
        assert reported_us <= row["busy_us"] <= reported_us * 1.1 + 20_000
        assert row["rows"] >= 10


def test_cores_are_seen_to_work_and_their_time_is_whole(archive: Archive) -> None:
    cpu = archive.tables().cpu
    rows = cpu.filter(cpu.kind == "core").to_pyarrow().to_pylist()
    assert {row["role"] for row in rows} == {"source", "sink"}
    assert {row["host"] for row in rows} == {"left", "right"}
    assert sum(row["system_us"] for row in rows) > 0
    assert sum(row["softirq_us"] for row in rows) > 0
    for row in rows:
        parts = ("user_us", "system_us", "softirq_us", "irq_us")
        assert row["busy_us"] == sum(row[part] for part in parts)
        assert row["voluntary_switches"] is None
    for role in ("source", "sink"):
        of_first = [row for row in rows if row["role"] == role and row["id"] == 0]
        spanned_us = sum(row["end_ns"] - row["start_ns"] for row in of_first) / 1000
        counted_us = sum(row["busy_us"] + row["idle_us"] + row["steal_us"] for row in of_first)
        assert counted_us == pytest.approx(spanned_us, rel=0.1, abs=10 * TICK_US)


def test_counters_are_those_of_the_hosts_own_network(archive: Archive) -> None:
    tables = archive.tables()
    rows = tables.counters.to_pyarrow().to_pylist()
    found = {(row["host"], row["name"]): row["value"] for row in rows}
    flows = tables.flows.to_pyarrow().to_pylist()
    for host in ("left", "right"):
        assert found[host, "Tcp.OutSegs"] > 0
        assert found[host, "softnet.processed"] > 0
        assert any(name.startswith("TcpExt.") for owner, name in found if owner == host)
        assert all(value > 0 for value in found.values())
        received = [name for owner, name in found if owner == host and name.endswith(".rx_bytes")]
        assert received, "no device of its own received anything"
    assert len(flows) == 2 * FLOWS
    assert found["right", "IpExt.InOctets"] >= sum(row["bytes"] for row in flows if row["host"] == "right")


def test_hosts_tell_of_the_devices_that_lead_to_each_other(archive: Archive) -> None:
    for facts in archive.host_facts.values():
        assert facts["clock_source"]
        assert facts["routes"], "the other host's addresses lead nowhere"
        devices = {nic["name"]: nic for nic in facts["nics"]}
        for route in facts["routes"].values():
            device = devices[route["device"]]
            assert device["name"] != "lo"
            assert device["driver"] == "veth"
            assert "tx-tcp-segmentation" in device["offloads"]
            assert device["qdiscs"]
