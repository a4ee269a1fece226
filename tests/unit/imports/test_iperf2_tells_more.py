"""Lines of Iperf 2 that begin like a row and are none: what it says of an interval beside its row."""

from pathlib import Path

import pytest

from flowsweep.errors import ImportedFileError
from flowsweep.imports import read_file

LISTENS = "Server listening on UDP port 5001\n"
CONNECTED = (
    "[  1] local 10.0.0.2%eth0 port 5001 connected with 10.0.0.1 port 39423 (trip-times) (peer 2.1.9)\n"
)
ROWS = """\
[  1] 0.00-1.00 sec  1.25 MBytes  10.5 Mbits/sec   0.021 ms 0/892 (0%) 0.112/0.090/0.301/0.018 ms 892 pps
[  1] 1.00-2.00 sec  1.25 MBytes  10.5 Mbits/sec   0.021 ms 0/892 (0%) 0.112/0.090/0.301/0.018 ms 892 pps
[  1] 0.00-2.00 sec  2.50 MBytes  10.5 Mbits/sec   0.021 ms 0/1784 (0%) 0.112/0.090/0.301/0.018 ms 892 pps
"""
MORE = [
    "sec T8-PDF: bin(w=1ms):cnt(892)=1:892 (5.00/95.00/99.7%=1/1/1,Outliers=0,obl/obu=0/0)",
    "sec S8(f)-PDF: bin(w=100us):cnt(10)=1:10 (5.00/95.00/99.7%=1/1/1,Outliers=0,obl/obu=0/0)",
    "trip-time (3WHS done->fin+finack) = 2.0034 sec",
    "sec   L2 processing detected errors, total(length/checksum/unknown) = 1(0/1/0)",
    "sec  OWD (ms) Cnt=10 TX=0.1/0.1/0.1/0.1 RX=0.1/0.1/0.1/0.1 Asymmetry=0.0/0.0/0.0/0.0",
    "sec  Clock sync error count = 3",
    "sec  2 datagrams received on wrong quintuple",
]


def read(tmp_path: Path, *more: str) -> object:
    (tmp_path / "log").write_text(LISTENS + CONNECTED + ROWS + "".join(more), "utf-8")
    return read_file(tmp_path / "log").transfers


@pytest.mark.parametrize("flow", ["  1", "SUM-2"])
@pytest.mark.parametrize("more", MORE)
def test_a_line_that_tells_more_of_an_interval_is_no_row(tmp_path: Path, flow: str, more: str) -> None:
    alone = read(tmp_path)
    line = f"[{flow}] 0.00-2.00 {more}"
    assert read(tmp_path, f"{line}\n\n", f"{line}\n") == alone
    for cut in range(len(line)):
        assert read(tmp_path, line[:cut]) == alone


def test_what_came_late_in_the_sum_is_in_none_of_its_flows(tmp_path: Path) -> None:
    """Iperf 2.2 has two spaces there."""
    late = "[SUM-2] 0.00-2.00 sec  5 datagrams  received out-of-order"
    assert read(tmp_path, f"{late}\n\n") == read(tmp_path)


@pytest.mark.parametrize(
    "row",
    [
        "sec", "se", "sec  1.25", "sec  1.25 MBytes", "sec  MBytes  10.5 Mbits/sec",
        "sec  nan MBytes  nan bits/sec", "sec  -1 Bytes  10.5 Mbits/sec", "1.25 MBytes  10.5 Mbits/sec",
        "sec  [  2] 0.00-1.00 sec", "sec  5 data", "Mon Nov 30 12:00:00 UTC 2026", "Killed",
        "trip-times = 2 sec",
    ],
)  # fmt: skip
def test_a_broken_row_is_refused(tmp_path: Path, row: str) -> None:
    with pytest.raises(ImportedFileError, match="log:6: found"):
        read(tmp_path, f"[  1] 1.00-2.00 {row}\n", ROWS)
