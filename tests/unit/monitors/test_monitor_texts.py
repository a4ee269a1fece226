"""What agents and hosts say is bounded, and nothing that is no value of theirs is taken for one."""

import os
import subprocess
from pathlib import Path

import pytest

from flowsweep.defaults import MONITOR_TEXT_MAX
from flowsweep.monitors.host_text import SCRIPT, values_of
from flowsweep.monitors.messages import line_of, poll_of
from flowsweep.monitors.reading import Poll, bounded, monitors_table

ANSWER = """\
/proc/uptime:1234.56 99.00
/proc/stat:cpu  100 0 50 800 50 0 0 0 0 0
/proc/meminfo:MemTotal:        2000 kB
/proc/meminfo:MemAvailable:    1500 kB
/proc/net/softnet_stat:00000010 00000001 00000002 00000000
/proc/net/softnet_stat:ffffffff 00000000 00000000 00000000
/proc/net/dev:  eth0: 1000 10 1 2 0 0 0 0 3000 30 3 4 0 0 0 0
/sys/class/thermal/thermal_zone0/temp:45500
/sys/class/thermal/thermal_zone1/temp:-500
qdisc noqueue 0: dev lo root refcnt 2
 Sent 0 bytes 0 pkt (dropped 9, overlimits 9 requeues 9)
qdisc mq 0: dev eth0 root
 Sent 70 bytes 7 pkt (dropped 5, overlimits 6 requeues 7)
 backlog 0b 0p requeues 7
qdisc fq_codel 0: dev eth0 parent :1 limit 10240p
 Sent 70 bytes 7 pkt (dropped 500, overlimits 600 requeues 700)
""".splitlines()
QUEUE = """\
qdisc fq_codel 0: dev eth0 parent :{:x} limit 10240p
 Sent 70 bytes 7 pkt (dropped 500, overlimits 600 requeues 700)
 backlog 0b 0p requeues 700
"""


def test_an_answer_is_read() -> None:
    found = {(name, counter): value for name, counter, value in values_of(ANSWER)}
    assert found == {
        ("", "uptime_cs"): 123_456,
        ("cpu", "cpu_busy"): 150,
        ("cpu", "cpu_total"): 1000,
        ("memory", "memory_total_bytes"): 2000 << 10,
        ("memory", "memory_available_bytes"): 1500 << 10,
        ("softnet", "softnet_processed"): 0xF,
        ("softnet", "softnet_dropped"): 1,
        ("softnet", "softnet_time_squeeze"): 2,
        ("eth0", "in_bytes"): 1000, ("eth0", "in_packets"): 10,
        ("eth0", "in_errors"): 1, ("eth0", "in_discards"): 2,
        ("eth0", "out_bytes"): 3000, ("eth0", "out_packets"): 30,
        ("eth0", "out_errors"): 3, ("eth0", "out_discards"): 4,
        ("eth0", "qdisc_dropped"): 5, ("eth0", "qdisc_overlimits"): 6, ("eth0", "qdisc_requeues"): 7,
        ("lo", "qdisc_dropped"): 9, ("lo", "qdisc_overlimits"): 9, ("lo", "qdisc_requeues"): 9,
        ("thermal_zone0", "temperature_mdegc"): 45_500,
    }  # fmt: skip


def test_only_root_qdiscs_are_sent(tmp_path: Path) -> None:
    """Two devices with hundreds of queues do not hide the third."""
    queues = [line for number in range(400) for line in QUEUE.format(number).splitlines()]
    said = [*ANSWER[-6:], *queues, *(line.replace("eth0", "eth1") for line in ANSWER[-6:])]
    (tmp_path / "said").write_text("\n".join(said) + "\n")
    (tmp_path / "tc").write_text(f"#!/bin/sh\ncat {tmp_path / 'said'}\n")
    (tmp_path / "tc").chmod(0o755)
    done = subprocess.run(
        ["sh", "-c", SCRIPT], input="\n", capture_output=True, text=True, check=True, timeout=20,
        env={"PATH": f"{tmp_path}:{os.environ['PATH']}"},
    )  # fmt: skip
    lines = done.stdout.splitlines()
    assert len([line for line in lines if "qdisc" in line]) == 2
    found = {(name, counter): value for name, counter, value in values_of(lines[1:-1])}
    assert [found[device, "qdisc_dropped"] for device in ("eth0", "eth1")] == [5, 5]


@pytest.mark.parametrize("lines", [[], ["hello"], ["/proc/uptime:x y"], ["/proc/uptime:1e9 2"]])
def test_what_is_no_linux_says_so(lines: list[str]) -> None:
    with pytest.raises(ValueError, match="no uptime"):
        values_of(lines)


def test_odd_lines_are_left_out() -> None:
    odd = [
        "/proc/uptime:1.00 1.00",
        "/proc/stat:cpu  100 x",
        "/proc/net/dev:\x1b[31mevil: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16",
        "/proc/net/dev:eth0: 1 2 3",
        "/proc/net/dev:eth1: 99999999999999999999 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1",
        "/proc/net/softnet_stat:zz zz zz",
        "/sys/class/thermal/\x00/temp:5",
        "qdisc x 0: dev \x1b[2J root",
        " Sent 1 bytes 1 pkt (dropped 1, overlimits 1 requeues 1)",
    ]
    found = values_of(odd)
    assert [value for value in found if value[0] not in ("", "eth1")] == []
    assert all(value < 1 << 64 for _, _, value in found)


def test_words_are_bounded_and_printable() -> None:
    words = bounded("\x1b[31mrefused\x07\n\u202e" + "x" * 10_000)
    assert len(words) == MONITOR_TEXT_MAX
    assert words.isprintable()
    assert "\u202e" not in words
    (row,) = monitors_table([Poll("core", 1, 1, silent="\x1b]0;title\x07" + "y" * 999)]).to_pylist()
    assert row["reason"].isprintable()
    assert len(row["reason"]) <= MONITOR_TEXT_MAX


def test_a_poll_goes_through_a_line() -> None:
    for poll in (Poll("a", 5, 6, (("et0", "in_bytes", (1 << 64) - 1),)), Poll("a", 5, 6, silent="no answer")):
        assert poll_of(line_of(poll)) == poll


@pytest.mark.parametrize(
    "line",
    [
        b"\xff\n",
        b"[]\n",
        b'{"monitor":"a","at_us":-1,"took_us":0}\n',
        b'{"monitor":"a","at_us":1,"took_us":0,"values":[["e","in_bytes",-1]]}\n',
        b'{"monitor":"a","at_us":1,"took_us":0,"values":[["e","in_bytes",18446744073709551616]]}\n',
        b'{"monitor":"a","at_us":1,"took_us":0,"values":[["e","no_such",1]]}\n',
        b'{"monitor":"a","at_us":1,"took_us":0,"further":1}\n',
        b" " * (300 << 10),
    ],
)
def test_a_line_that_is_none_is_refused(line: bytes) -> None:
    with pytest.raises(ValueError, match=r".+"):
        poll_of(line)
