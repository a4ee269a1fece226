"""Whose sum a row of `[SUM]` is in Iperf's text."""

from pathlib import Path

from flowsweep.imports import Transfer, read_file
from flowsweep.imports.outcome import content_ids, former_ids
from flowsweep.imports.transfer import sum_of

LISTENS = "Server listening on TCP port 5001\n"


def read(tmp_path: Path, text: str) -> tuple[Transfer, ...]:
    (tmp_path / "log").write_text(text, "utf-8")
    return read_file(tmp_path / "log").transfers


def connected(host: int, *flows: int) -> str:
    return "".join(
        f"[{flow:3}] local 10.0.0.2 port 5001 connected with 10.0.0.{host} port {40_000 + flow}\n"
        for flow in flows
    )


def row(flow: int | str, begin: float, end: float, mbps: float) -> str:
    mbytes = mbps * (end - begin) * 1e6 / 8 / 2**20
    return f"[{flow:>3}] {begin:.1f}-{end:.1f} sec  {mbytes:.0f} MBytes  {mbps:.0f} Mbits/sec\n"


def test_of_each_host_the_sum_is_the_total(tmp_path: Path) -> None:
    """Flows that end apart: their rates do not add up to that of all together."""
    rows = row(4, 0, 10, 470) + row(5, 0, 12, 393) + row("SUM", 0, 12, 784)
    tests = read(tmp_path, LISTENS + "".join(connected(host, 4, 5) + rows for host in (1, 3, 4)))
    assert [test.total.rate_bps for test in tests] == [784e6] * 3
    former = former_ids(tests)
    assert former[0] == content_ids(tests)[0]
    assert tests[1].as_before[-1] == ("total", sum_of(tests[1].flows))


def test_an_id_is_known_of_a_host_behind_a_single_flow_of_another_one(tmp_path: Path) -> None:
    """Earlier versions gave a sum to the only host with several flows, until it had a single one."""
    rows = row(4, 0, 10, 470) + row(5, 0, 12, 393) + row("SUM", 0, 12, 784)
    single = connected(1, 4) + row(4, 0, 10, 900)
    text = LISTENS + connected(1, 4, 5) + rows + single + connected(3, 4, 5)
    tests = read(tmp_path, text + rows)
    assert former_ids(tests) == content_ids(tests) == ["9128c6234d74", "b59c0cd7f049", "3bcea965d277"]
    tests = read(tmp_path, text.replace(single, LISTENS) + rows)
    assert former_ids(tests) == content_ids(tests) == ["9128c6234d74", "3bcea965d277"]


def test_a_single_flow_between_takes_no_sum(tmp_path: Path) -> None:
    rows = row(4, 0, 10, 470) + row(5, 0, 12, 393) + row("SUM", 0, 12, 784)
    text = LISTENS + connected(1, 4, 5) + rows + connected(3, 4) + row(4, 0, 10, 900) + connected(4, 4, 5)
    assert [test.total.rate_bps for test in read(tmp_path, text + rows)] == [784e6, 900e6, 784e6]


def test_of_tests_at_the_same_time_a_sum_is_not_of_the_other_one(tmp_path: Path) -> None:
    """Where it is not known whose it is, rates of flows are added."""
    text = LISTENS + connected(1, 4, 5) + row(4, 0, 1, 100) + row(5, 0, 1, 100) + row("SUM", 0, 1, 200)
    text += connected(3, 6, 7) + row(6, 0, 1, 50) + row(7, 0, 1, 50) + row("SUM", 0, 1, 100)
    text += row(4, 1, 2, 110) + row(5, 1, 2, 110) + row("SUM", 1, 2, 220)
    text += row(6, 1, 2, 60) + row(7, 1, 2, 60) + row("SUM", 1, 2, 120)
    text += row(4, 0, 2, 105) + row(5, 0, 2, 105) + row("SUM", 0, 2, 210)
    text += row(6, 0, 2, 55) + row(7, 0, 2, 55) + row("SUM", 0, 2, 110)
    assert [test.total.rate_bps for test in read(tmp_path, text)] == [210e6, 110e6]


def test_a_sum_of_the_first_interval_is_not_that_of_the_whole(tmp_path: Path) -> None:
    text = LISTENS + connected(1, 4, 5) + row(4, 0, 1, 100) + row(5, 0, 1, 100) + row("SUM", 0, 1, 200)
    text += row(4, 1, 2, 50) + row(5, 1, 2, 50) + row(4, 0, 2, 75) + row(5, 0, 2, 75)
    assert [test.total.rate_bps for test in read(tmp_path, text)] == [150e6]
