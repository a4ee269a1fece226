"""Multipath TCP over two unlike links: what both carry, a cut, and what is no result of it."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from lab_support import host, needs_lab, set_link

from campaign_support import summary
from flowsweep.archive import Tables, read_archive
from flowsweep.lab import Lab, build_lab
from flowsweep.plan.links.model import Link, LinkDirection
from waiting import wait_until
from witness import cores_taken, judged

pytestmark = needs_lab

COMMAND = (sys.executable, "-m", "flowsweep")
MILLISECOND_NS = 1_000_000
SECOND_NS = 1_000_000_000
RATES_BPS = (40_000_000, 20_000_000)
HEADERS_BYTES, PACKET_BYTES = 80, 1500
"""Of IPv4, TCP with timestamps, and MPTCP's data sequence signal with 64-bit numbers (RFC 8684, 3.3)."""
PAYLOAD = 1 - HEADERS_BYTES / PACKET_BYTES
CUT_S, GOES_ON_WITHIN_S = 3, 2
OPENING_BYTES = 24
"""That a flow's two ends say to each other before the trial, from the end that connects."""
HANDSHAKE_PACKETS = 100
SETTING, BY_THE_KERNEL = "net.mptcp.pm_type", "0"
Row = dict[str, Any]


@pytest.fixture
def lab() -> Iterator[Lab]:
    """Two links between the same hosts."""
    links = [
        Link(name=name, between=("left", "right"), forward=way, backward=way)
        for name, rate_bps, delay_ms in (("first", RATES_BPS[0], 10), ("second", RATES_BPS[1], 15))
        for way in [LinkDirection(rate_bps=rate_bps, delay_ns=delay_ms * MILLISECOND_NS)]
    ]
    with build_lab(links, [host("left"), host("right")], seed=1) as built:
        yield built


def addresses(lab: Lab, name: str, peer: str) -> list[str]:
    """Of a host towards its peer, one for each link."""
    return [known.address for known in lab.access[name].addresses[peer] if known.family == 4]


def inside(lab: Lab, name: str, *words: str) -> str:
    """Run a program in a host; what it says."""
    done = subprocess.run(
        [*lab.access[name].launch, *words], capture_output=True, text=True, check=True, timeout=30
    )
    return done.stdout


def measured(
    lab: Lab,
    archive: Path,
    *words: str,
    paths: Sequence[tuple[int, int]] = ((1, 1),),
    before: Sequence[str] = (),
    expect: int = 0,
) -> Row:
    """`flowsweep mptcp` from left to right; the trial's row of the summary.

    `paths`: beside that of the first addresses, each by the links that addresses at left and right are of.
    """
    here, there = addresses(lab, "left", "right"), addresses(lab, "right", "left")
    far = "exec:" + " ".join(lab.access["right"].launch)
    command = [*lab.access["left"].launch, *before, *COMMAND, "mptcp", far, "--address", there[0], *words]
    command += [f"--path={here[own]},{there[other]}" for own, other in paths]
    command += ["--congestion", "cubic", "--save", str(archive), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == expect, done.stdout + done.stderr
    row: Row = json.loads(done.stdout)
    return row


@pytest.mark.quiet
def test_two_paths_carry_the_sum_of_both_links(lab: Lab, tmp_path: Path) -> None:
    def run(attempt: int) -> tuple[Row, Path]:
        archive = tmp_path / f"archive-{attempt}"
        row = measured(lab, archive, "--duration", "8s", "--set", "sweep.omit=2s")
        return row, archive

    def check(seen: tuple[Row, Path]) -> None:
        row, _ = seen
        assert row["goodput_mean_bps"] >= 0.95 * sum(RATES_BPS) * PAYLOAD
        assert row["busiest_path_share"] == pytest.approx(RATES_BPS[0] / sum(RATES_BPS), abs=0.03)

    row, archive = judged(run, check, bears_s=0.02, busy=cores_were_taken)
    assert row["subflows_used"] == len(RATES_BPS)
    tables = read_archive(archive).tables()
    sent = last_rows(tables, "source")
    (flow,) = (one for one in rows_of(tables.flows) if one["role"] == "source")
    # All bytes of the flow, those that came twice, and what the ends said before the trial.
    carried = sum(one["bytes_sent"] - one["bytes_retrans"] for one in sent)
    assert carried == sent[0]["connection_sent_bytes"] + sent[0]["connection_reinjected_bytes"]
    assert sent[0]["connection_sent_bytes"] - flow["bytes"] == OPENING_BYTES
    rose = {one["name"]: one["value"] for one in rows_of(tables.counters) if one["role"] == "sink"}
    for number, one in enumerate(last_rows(tables, "sink")):
        # What a subflow retransmitted in vain came over the link, too, and is not among the bytes in order.
        again = sent[number]["dsack_dups"] * (PACKET_BYTES - HEADERS_BYTES)
        received = one["bytes_received"] + again + one["data_segs_in"] * HEADERS_BYTES
        assert received == pytest.approx(rose[f"link{number}.rx_bytes"], rel=0.001)
    assert inside(lab, "left", "sysctl", "-n", SETTING).strip() == BY_THE_KERNEL


@pytest.mark.quiet
def test_a_flow_goes_on_while_a_link_is_cut_and_takes_it_back(lab: Lab, tmp_path: Path) -> None:
    keys = ("sweep.interval=100ms", "sweep.sample_interval=50ms")
    options = [word for key in keys for word in ("--set", key)]

    def run(attempt: int) -> tuple[Row, Path]:
        archive = tmp_path / f"archive-{attempt}"
        before = sent_packets(lab)
        with ThreadPoolExecutor(1) as pool:
            cutting = pool.submit(cut, lab, before + HANDSHAKE_PACKETS)
            row = measured(lab, archive, "--duration", "12s", *options)
            cutting.result(timeout=60)
        return row, archive

    def check(seen: tuple[Row, Path]) -> None:
        row, tables = seen[0], read_archive(seen[1]).tables()
        assert row["status"] == "ok", row["error"]
        of_sink = [one for one in rows_of(tables.samples.order_by("end_ns")) if one["role"] == "sink"]
        read = [(one["end_ns"] / SECOND_NS, one["bytes"]) for one in of_sink]
        gaps = list(pairwise(at for at, count in read if count))
        begin, end = max(gaps, key=lambda gap: gap[1] - gap[0])
        assert end - begin <= GOES_ON_WITHIN_S
        # By then the other link carries what it can, and after the cut both do.
        without = [count for at, count in read if GOES_ON_WITHIN_S < at - begin <= CUT_S]
        assert sum(without) * 8 / (CUT_S - GOES_ON_WITHIN_S) >= 0.8 * RATES_BPS[1] * PAYLOAD
        last = [count for at, count in read if 11 < at <= 12]
        assert sum(last) * 8 >= 0.8 * sum(RATES_BPS) * PAYLOAD
        assert last_rows(tables, "source")[0]["connection_reinjected_bytes"] > 0

    _, archive = judged(run, check, bears_s=0.02, busy=cores_were_taken)
    tables = read_archive(archive).tables()
    ends = {one["role"]: one["bytes"] for one in rows_of(tables.flows)}
    assert ends["source"] == ends["sink"]


def cores_were_taken(seen: tuple[Row, Path]) -> bool:
    """Whether the hosts of a trial, which is all that an archive has, had no core left."""
    return cores_taken(summary(seen[1]))


def cut(lab: Lab, packets: int) -> None:
    """Cut the first link some seconds after so many packets were sent into it, for a while."""
    wait_until(lambda: sent_packets(lab) > packets, timeout_s=60)
    time.sleep(CUT_S)
    set_link(lab, "first", up=False)
    time.sleep(CUT_S)
    set_link(lab, "first", up=True)


def rows_of(table: Any) -> list[Row]:
    """All rows of a table."""
    rows: list[Row] = table.to_pyarrow().to_pylist()
    return rows


def last_rows(tables: Tables, role: str) -> list[Row]:
    """The last row of each subflow of the only flow."""
    rows = rows_of(tables.subflows.order_by("end_ns"))
    last = {one["subflow"]: one for one in rows if one["role"] == role}
    return [last[number] for number in sorted(last)]


def sent_packets(lab: Lab) -> int:
    """What left's first device has sent so far."""
    lines = inside(lab, "left", "cat", "/proc/net/dev").splitlines()
    (counts,) = [line.split(":")[1].split() for line in lines if line.strip().startswith("link0:")]
    return int(counts[9])


def test_several_paths_may_share_an_address(lab: Lab, tmp_path: Path) -> None:
    row = measured(lab, tmp_path / "archive", "--duration", "2s", paths=[(0, 1), (1, 1)])
    assert (row["status"], row["error"], row["subflows_used"]) == ("ok", None, 3)


STRIP = (
    "add table inet t; add chain inet t c {{ type filter hook {hook} priority -150; }}; "
    "add rule inet t c reset tcp option mptcp"
)
CLOSE = (
    "add table inet t; add chain inet t c {{ type filter hook input priority 0; }}; "
    "add rule inet t c iifname {device} drop"
)


@pytest.mark.parametrize("where", ["left", "right"])
def test_what_falls_back_to_tcp_is_no_result(lab: Lab, tmp_path: Path, where: str) -> None:
    inside(lab, where, "nft", STRIP.format(hook="output"))
    row = measured(lab, tmp_path / "archive", "--duration", "2s", expect=1)
    assert (row["status"], row["goodput_bps"]) == ("failed", None)
    assert "fell back to TCP" in row["error"]


def test_a_path_that_is_closed_is_said(lab: Lab, tmp_path: Path) -> None:
    inside(lab, "right", "nft", CLOSE.format(device="link1"))
    row = measured(lab, tmp_path / "archive", "--duration", "2s", expect=1)
    assert "flow 0 has 1 subflows after" in row["error"]


def test_a_host_without_mptcp_says_so(lab: Lab, tmp_path: Path) -> None:
    inside(lab, "right", "sysctl", "-qw", "net.mptcp.enabled=0")
    row = measured(lab, tmp_path / "archive", "--duration", "2s", expect=1)
    assert "cannot make an MPTCP socket; is net.mptcp.enabled 1 on this host?" in row["error"]


def test_an_engine_without_the_capability_says_what_it_needs(lab: Lab, tmp_path: Path) -> None:
    drop = ("setpriv", "--bounding-set=-net_admin", "--inh-caps=-net_admin")
    row = measured(lab, tmp_path / "archive", "--duration", "2s", before=drop, expect=1)
    assert "needs CAP_NET_ADMIN" in row["error"]
    assert inside(lab, "left", "sysctl", "-n", SETTING).strip() == BY_THE_KERNEL
