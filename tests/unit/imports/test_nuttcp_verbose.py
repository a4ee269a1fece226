"""What nuttcp says with `-v`, in words and with `-fparse`, beside the rows: hosts, flows, windows, limits."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from flowsweep.cli.app import app
from flowsweep.imports import Transfer, read_file
from flowsweep.imports.outcome import content_ids, former_ids
from flowsweep.imports.transfer import Datagrams
from imported_trials import FILES

WORDS = (FILES / "nuttcp-6.1.2-verbose.txt").read_text("utf-8")
PARSE = """\
nuttcp-t: v6.1.2: socket
nuttcp-t: buflen=65536 nbuf=20 nstream=2 port=15901 mode=tcp host=10.77.0.2
nuttcp-t: connect=10.77.0.2 mss=32767 rtt_ms=0.135
nuttcp-t: send_window_size=262144 receive_window_size=131072
nuttcp-t: send_window_avail=131072 receive_window_avail=65536
nuttcp-t: megabytes=1.2500 real_seconds=0.25 rate_KBps=5120.00 rate_Mbps=41.9430
nuttcp-t: io_calls=20 msec_per_call=0.02 calls_per_sec=54945.05
nuttcp-t: stats=cpu user=0.0 system=0.0 elapsed=0:00 cpu=0% memory=0i+0d-876maxrss io=0+0pf swaps=2+1csw

nuttcp-r: v6.1.2: socket
nuttcp-r: buflen=65536 nbuf=20 nstream=2 port=15901 mode=tcp
nuttcp-r: accept=10.77.0.1
nuttcp-r: send_window_size=3939840 receive_window_size=262144
nuttcp-r: send_window_avail=1969920 receive_window_avail=131072
nuttcp-r: megabytes=1.2500 real_seconds=0.25 rate_KBps=5119.00 rate_Mbps=41.9348
nuttcp-r: io_calls=23 msec_per_call=0.07 calls_per_sec=15251.99
nuttcp-r: stats=cpu user=0.0 system=0.0 elapsed=0:00 cpu=0% memory=0i+0d-820maxrss io=0+0pf swaps=3+2csw
"""
PARSE_UDP = """\
nuttcp-t: v6.1.2: socket
nuttcp-t: buflen=1000 nstream=1 port=15901 mode=udp host=10.77.0.2
nuttcp-t: time_limit=1.00
nuttcp-t: rate_limit=5.000 rate_unit=Mbps rate_mode=aggregate pps_rate=625
nuttcp-t: send_window_size=8388608 receive_window_size=212992
nuttcp-t: send_window_avail=4194304 receive_window_avail=106496
nuttcp-t: megabytes=0.5970 real_seconds=1.00 rate_KBps=610.29 rate_Mbps=4.9995
nuttcp-t: io_calls=633 msec_per_call=1.62 calls_per_sec=631.93
nuttcp-t: stats=cpu user=0.5 system=0.1 elapsed=0:01 cpu=67% memory=0i+0d-976maxrss io=0+0pf swaps=0+12670csw

nuttcp-r: v6.1.2: socket
nuttcp-r: buflen=1000 nstream=1 port=15901 mode=udp
nuttcp-r: send_window_size=212992 receive_window_size=8388608
nuttcp-r: send_window_avail=106496 receive_window_avail=4194304
nuttcp-r: megabytes=0.5932 real_seconds=1.00 rate_KBps=610.20 rate_Mbps=4.9669
nuttcp-r: drop=4 pkt=626 data_loss=0.63898
nuttcp-r: io_calls=630 msec_per_call=1.63 calls_per_sec=628.84
nuttcp-r: stats=cpu user=0.0 system=0.0 elapsed=0:01 cpu=0% memory=0i+0d-870maxrss io=0+0pf swaps=628+31csw
"""
WARNED = """\
nuttcp-t: Warning: send window size 4194304 < requested window size 13107200
nuttcp-t: Warning: send window size 4194304 < requested window size 13107200
"""
"""Twice with two flows; on standard error, and in a file of both before the rest."""
WARNED_IN_BRIEF = """\
nuttcp-t: Warning: send window size 212992 < requested window size 6291456
nuttcp-r: Warning: receive window size 212992 < requested window size 6291456
 1533.5176 MB /  10.00 sec = 1286.1180 Mbps 7 %TX 37 %RX 0 retrans 0.98 msRTT
"""


def read(tmp_path: Path, text: str) -> tuple[Transfer, ...]:
    (tmp_path / "nuttcp.txt").write_text(text, "utf-8")
    return read_file(tmp_path / "nuttcp.txt").transfers


def test_an_amount_that_was_asked_for_hides_no_setting(tmp_path: Path) -> None:
    """With -n there were no hosts, and one flow."""
    text = WORDS.replace("65536, nstream=1,", "65536, nbuf=200, nstream=4,").replace(
        "nuttcp-t: time limit = 2.00 seconds\n", ""
    )
    (test,) = read(tmp_path, text)
    assert (test.src, test.dst, test.flow_count, test.flows) == ("10.77.0.1", "10.77.0.2", 4, ())
    assert (test.length_bytes, test.asked_bytes, test.duration_ns) == (65_536, 200 * 65_536, None)
    assert former_ids([test]) == ["407f9b55749a"] != content_ids([test])


def test_keys_and_values_say_what_words_say(tmp_path: Path) -> None:
    (test,) = read(tmp_path, PARSE)
    assert (test.src, test.dst, test.flow_count, test.test) == ("10.77.0.1", "10.77.0.2", 2, "tcp")
    assert (test.length_bytes, test.asked_bytes, test.duration_ns) == (65_536, 20 * 65_536, None)
    assert (test.window_granted_send_bytes, test.window_granted_recv_bytes) == (262_144, 262_144)
    assert former_ids([test]) == ["48e6d3a92806"] != content_ids([test])


def test_keys_and_values_of_udp_say_what_words_say(tmp_path: Path) -> None:
    (test,) = read(tmp_path, PARSE_UDP)
    assert (test.dst, test.test, test.rate_bps, test.duration_ns) == ("10.77.0.2", "udp", 5_000_000, 10**9)
    assert test.flows[0].whole.datagrams == Datagrams(622, 4)
    assert test.far is not None
    assert test.far.flows[0].whole.datagrams == Datagrams(626)
    assert former_ids([test]) == ["1389eb5c1370"] != content_ids([test])


@pytest.mark.parametrize(("limit", "seconds"), [("1.00 second", 1), ("2.00 seconds", 2)])
def test_a_time_limit_may_be_one_second(tmp_path: Path, limit: str, seconds: int) -> None:
    (test,) = read(tmp_path, WORDS.replace("2.00 seconds", limit))
    assert test.duration_ns == seconds * 10**9
    assert former_ids([test]) == ["a020e68821fc" if seconds == 1 else "630b55d18915"]


def test_a_window_that_was_not_granted_is_the_one_that_was_asked_for(tmp_path: Path) -> None:
    """In a log the warning belongs to the test that it stands before."""
    keys = WARNED_IN_BRIEF.replace(": send window size ", '="send_window_size_').replace(
        " < requested window size 6291456\nnuttcp-r", '_<_requested_window_size_6291456"\nnuttcp-r'
    )
    assert 'nuttcp-t: Warning="send_window_size_212992_<_requested_window_size_6291456"' in keys
    tests = read(tmp_path, WARNED + WORDS + WARNED_IN_BRIEF + WORDS + keys)
    assert [(test.window_send_bytes, test.window_recv_bytes) for test in tests] == [
        (13_107_200, None), (6_291_456, 6_291_456), (None, None), (6_291_456, 6_291_456),
    ]  # fmt: skip
    assert tests[0].window_granted_send_bytes == 69_120
    assert former_ids(tests[:2]) == ["630b55d18915", "0ebdfcaa444c"]


def test_an_id_is_known_of_when_the_rate_in_words_was_read_and_the_time_limit_was_not(tmp_path: Path) -> None:
    words = (FILES / "nuttcp-6.1.2-verbose-udp.txt").read_text("utf-8")
    (test,) = read(tmp_path, words.replace("2.00 seconds", "1.00 second"))
    assert (test.duration_ns, test.rate_bps) == (10**9, 5_000_000)
    assert former_ids([test], with_rates=True) == ["3fc5ceb229a0"]
    (test,) = read(tmp_path, words.replace("nstream", "nbuf=100, nstream"))
    assert former_ids([test], with_rates=True) == ["143928ec3796"]


def with_windows(send: int, recv: int, mbps: str) -> str:
    sender, receiver = WORDS.split("\n\n")
    receiver = receiver.replace("receive window size = 131072", f"receive window size = {recv}")
    sender = sender.replace("send window size = 69120", f"send window size = {send}")
    return f"{sender}\n\n{receiver.replace('47.6369', mbps)}"


@pytest.mark.parametrize(
    ("windows", "options", "said"),
    [
        ([(131_072, 131_072), (262_144, 262_144)], [], "(128 KiB, 256 KiB)"),
        ([(131_072, 131_072), (131_072, 262_144)], [], "(128 KiB, 256 KiB)"),
        ([(131_072, 131_072), (131_072, 131_072)], [], None),
        ([(131_072, 131_072), (262_144, 262_144)], ["--set", "window=1MiB"], None),
    ],
)
def test_tests_with_unlike_windows_are_no_silent_repeats(
    tmp_path: Path, windows: list[tuple[int, int]], options: list[str], said: str | None
) -> None:
    """Together, or one after the other into one archive."""
    (tmp_path / "tests").mkdir()
    for number, (send, recv) in enumerate(windows):
        text = with_windows(send, recv, f"4{number}.0000")
        (tmp_path / "tests" / f"{number}.txt").write_text(text, "utf-8")
    words = ["import", *options, "--archive"]
    remark = f"tests with different windows became repeats of one point {said}"
    done = CliRunner().invoke(app, [*words, str(tmp_path / "all"), str(tmp_path / "tests")])
    assert done.exit_code == 0, done.output
    assert (remark in done.output) if said else ("different windows" not in done.output)
    outputs = [
        CliRunner().invoke(app, [*words, str(tmp_path / "each"), str(tmp_path / "tests" / name)]).output
        for name in ("0.txt", "1.txt", "1.txt")
    ]
    assert [remark in output for output in outputs] == [False, said is not None, False]
