"""Where one run of Iperf 2 ends in a log, and the next one begins."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from flowsweep.archive import read_archive
from flowsweep.cli import load
from flowsweep.cli.app import app
from flowsweep.imports import Transfer, read_file
from flowsweep.imports.iperf2_datagrams import asked
from flowsweep.imports.transfer import NO_REPORT_OF_THE_WHOLE

load(["import"])

HEADING = "Client connecting to 10.0.0.2, TCP port 5001\n"
LISTENS = "Server listening on TCP port 5001\n"


def read(tmp_path: Path, text: str) -> tuple[Transfer, ...]:
    (tmp_path / "log").write_text(text, "utf-8")
    return read_file(tmp_path / "log").transfers


def connected(flow: int, port: int, *, server: bool = False) -> str:
    if server:
        return f"[{flow:3}] local 10.0.0.2 port 5001 connected with 10.0.0.1 port {port}\n"
    return f"[{flow:3}] local 10.0.0.1 port {port} connected with 10.0.0.2 port 5001\n"


def row(flow: int | str, begin: int, end: int) -> str:
    name = f"[{flow:>3}]"
    return f"{name} {begin}.0-{end}.0 sec  {10 * (end - begin)}.0 MBytes  83.9 Mbits/sec\n"


def rows(flow: int, count: int) -> str:
    return "".join(row(flow, second, second + 1) for second in range(count))


@pytest.mark.parametrize("server", [False, True])
def test_a_killed_run_does_not_swallow_the_next_one(tmp_path: Path, *, server: bool) -> None:
    """A client is started again, with its heading; a server goes on, and numbers by sockets."""
    heading, again = (LISTENS, "") if server else (HEADING, HEADING)
    killed = heading + connected(3, 40_001, server=server) + rows(3, 4)
    whole = again + connected(3, 40_002, server=server) + rows(3, 10) + row(3, 0, 10)
    first, second = read(tmp_path, killed + whole)
    assert (first.flow_count, first.unfinished, len(first.flows[0].intervals)) == (
        1, NO_REPORT_OF_THE_WHOLE, 4,
    )  # fmt: skip
    assert (second.flow_count, second.unfinished, second.total.rate_bps) == (1, None, 83.9e6)
    assert not second.simultaneous


def test_the_next_run_of_a_client_may_have_other_ids(tmp_path: Path) -> None:
    killed = HEADING + connected(1, 40_001) + rows(1, 2)
    whole = HEADING + connected(2, 40_002) + connected(1, 40_003) + rows(1, 2) + rows(2, 2)
    first, second = read(tmp_path, killed + whole + row(1, 0, 2) + row(2, 0, 2))
    assert (first.flow_count, first.unfinished) == (1, NO_REPORT_OF_THE_WHOLE)
    assert (second.flow_count, second.unfinished) == (2, None)


@pytest.mark.parametrize("server", [False, True])
def test_a_flow_that_connects_after_anothers_first_interval_is_of_the_same_test(
    tmp_path: Path, *, server: bool
) -> None:
    text = (LISTENS if server else HEADING) + connected(3, 40_001, server=server) + row(3, 0, 1)
    text += connected(4, 40_002, server=server) + row(4, 0, 1) + connected(5, 40_003, server=server)
    text += row(3, 1, 2) + row(4, 1, 2) + rows(5, 2) + row("SUM", 1, 2)
    text += row(3, 0, 2) + row(4, 0, 2) + row(5, 0, 2) + row("SUM", 0, 2)
    (test,) = read(tmp_path, text)
    assert [flow.source_port for flow in test.flows] == [40_001, 40_002, 40_003]
    assert [len(flow.intervals) for flow in test.flows] == [2, 2, 2]
    assert (test.flow_count, test.unfinished) == (3, None)
    more = connected(6, 40_004, server=server) + rows(6, 2) + row(6, 0, 2)
    assert [one.flow_count for one in read(tmp_path, text + more)] == [3, 1]


def test_datagrams_at_different_rates_are_different_points(tmp_path: Path) -> None:
    """As of `iperf -u -b 10M`, 50M and 200M; a server is not told, and gets it from whoever imports."""
    gaps_us = {"1121.52": 10_485_800, "224.30": 52_430_000, "56.08": 209_700_000}
    words = ["import"]
    for gap_us in gaps_us:
        head = (
            f"Client connecting to b, UDP port 5001\nSending 1470 byte datagrams, IPG target: {gap_us} us\n"
        )
        (tmp_path / gap_us).write_text(head + connected(3, 40000) + row(3, 0, 3), "utf-8")
        words.append(str(tmp_path / gap_us))
    (tmp_path / "server").write_text(
        "Server listening on UDP port 5001\n" + connected(3, 40000, server=True) + row(3, 0, 3), "utf-8"
    )
    words += [str(tmp_path / "server"), "--set", "rate=20Mbit/s", "--archive", str(tmp_path / "old")]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    trials = read_archive(tmp_path / "old").tables().trials.to_pyarrow().to_pylist()
    assert [trial["rate_bps"] for trial in trials] == [*gaps_us.values(), 20_000_000]
    assert {trial["repeat"] for trial in trials} == {1}


@pytest.mark.parametrize(("gap_us", "rate_bps"), [("0.00", None), ("11.76", 1_000_000_000)])
def test_a_gap_gives_a_rate_to_its_digits(gap_us: str, rate_bps: int | None) -> None:
    assert asked(f"Sending 1470 byte datagrams, IPG target: {gap_us} us (kalman adjust)") == (1470, rate_bps)


def test_tests_without_intervals_stay_one_each(tmp_path: Path) -> None:
    text = LISTENS + "".join(
        connected(flow, 40_000 + flow, server=True) + row(flow, 0, 10) for flow in range(4, 8)
    )
    assert [test.flow_count for test in read(tmp_path, text)] == [1] * 4


def test_one_with_intervals_after_one_without_is_its_own(tmp_path: Path) -> None:
    text = LISTENS + connected(4, 40_001, server=True) + row(4, 0, 10)
    text += connected(5, 40_002, server=True) + rows(5, 2) + row(5, 0, 2)
    assert [len(test.flows[0].intervals) for test in read(tmp_path, text)] == [0, 2]
