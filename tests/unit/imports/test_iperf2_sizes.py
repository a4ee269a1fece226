"""How many bytes a row of Iperf's text is of."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from flowsweep.archive import read_archive
from flowsweep.cli.app import app
from flowsweep.imports import read_file
from flowsweep.imports.outcome import content_ids, former_ids

BEGUN = "[  1] local 10.0.0.1 port 40000 connected with 10.0.0.2 port 5001\n"


@pytest.mark.parametrize(
    ("row", "size", "before"),
    [
        ("0.00-6.01 sec  33292419132 Bytes  44297878100 bits/sec", 33_292_419_132, 33_278_780_923),
        ("0.00-6.01 sec  790860 Bytes  1052469 bits/sec", 790_860, 790_667),
        # 0.3 s may be 0.25 s or 0.35 s.
        ("0.0- 0.3 sec  10.0 MBytes   299 Mbits/sec", 10 << 20, 11_212_500),
        # A rate of three digits over whole seconds, or over a time with more digits, tells more than 1.10.
        ("0.0-10.0 sec  1.10 GBytes   941 Mbits/sec", 1_176_250_000, None),
        ("0.0000-4.0276 sec  19.3 MBytes  40.1 Mbits/sec", 20_188_345, None),
        ("0.0-10.0 sec  112 MBytes  94.1 Mbits/sec", 117_625_000, None),
    ],
)
def test_the_least_rounded_number_gives_the_bytes(
    tmp_path: Path, row: str, size: int, before: int | None
) -> None:
    (tmp_path / "log").write_text(f"{BEGUN}[  1] {row}\n", "utf-8")
    (test,) = read_file(tmp_path / "log").transfers
    assert (test.total.size_bytes, test.total, test.flows[0].whole.size_before) == (
        size, test.flows[0].whole, before,
    )  # fmt: skip
    assert (former_ids([test]) == content_ids([test])) == (before is None)


def test_an_id_is_known_of_before_exact_bytes_were_kept(tmp_path: Path) -> None:
    row = "0.00-6.01 sec  33292419132 Bytes  44297878100 bits/sec"
    (tmp_path / "log").write_text(f"{BEGUN}[  1] {row}\n", "utf-8")
    assert former_ids(read_file(tmp_path / "log").transfers) == ["55290bb402da"]


UDP = f"""\
Client connecting to 10.0.0.2, UDP port 5001
Sending 1470 byte datagrams, IPG target: 11760.00 us (kalman adjust)
{BEGUN}[  1]  0.0- 3.1 sec   375 KBytes  1.00 Mbits/sec
[  1] Sent 262 datagrams
[  1] Server Report:
[  1]  0.0- 3.1 sec   375 KBytes   998 Kbits/sec   0.020 ms    0/  261 (0%)
"""


def test_what_versions_with_the_rate_and_former_bytes_imported_is_not_imported_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rate was read before bytes were told exactly; what the server reported has its bytes, too."""
    (tmp_path / "log").write_text(UDP, "utf-8")
    words = ["import", str(tmp_path / "log"), "--archive", str(tmp_path / "archive")]
    with monkeypatch.context() as before:
        before.setattr("flowsweep.imports.importing.content_ids", lambda _: ["750ae8dcecfa"])
        assert CliRunner().invoke(app, words).exit_code == 0
    assert CliRunner().invoke(app, words).exit_code == 0
    assert [*read_archive(tmp_path / "archive").state.imported] == ["750ae8dcecfa"]
