"""What to type: options that tools have, and what they cannot set."""

import re
import shutil
import subprocess

import pytest

from flowsweep.tuning.allowed import asked_limits, restricted
from flowsweep.tuning.settings import TODAY, Setting, Way
from flowsweep.tuning.tools import Known, tools
from flowsweep.tuning.words import tool_lines

ALL = Setting(4, 524_288, "bbr", 20_000_000)


def typed(setting: Setting, way: Way = Way.out) -> dict[str, str | None]:
    return {one.tool: one.write for one in tools(setting, way)}


def test_everything_that_a_tool_can_set_is_typed() -> None:
    assert typed(ALL) == {
        "iperf3": "iperf3 -c SERVER -P 4 -w 524288 -C bbr --fq-rate 20000000",
        "rsync, scp over ssh": "4 at a time, each with a part of the files",
        "rsync to a daemon": "4 at a time, each with a part of the files, "
        "rsync --sockopts=SO_SNDBUF=524288,SO_RCVBUF=524288 …, and in rsyncd.conf socket options = "
        "SO_SNDBUF=524288,SO_RCVBUF=524288",
        "GridFTP": "globus-url-copy -p 4 -tcp-bs 524288 SOURCE DESTINATION",
        "Globus": "at least 4 flows in all (concurrency × parallelism) in the endpoint's network use, which "
        "its administrator sets: leave it where it is more",
        "XRootD": "4 xrdcp at a time, each with a part of the files",
        "nginx": "sndbuf=524288 rcvbuf=524288 added to its listen line: for all its clients, which then have "
        "no autotuning; the other end needs it, too",
    }


def test_the_other_direction_is_an_option_of_iperf3_and_that_of_downloads() -> None:
    there, back = typed(ALL), typed(ALL, Way.back)
    # Beside the control stream; what a client writes goes over that one only.
    assert back.pop("XRootD") == "xrdcp --streams 4 SOURCE DESTINATION"
    del there["XRootD"]
    assert back["iperf3"] == f"{there['iperf3']} -R"
    assert back.pop("curl") == "curl --remote-name-all --http1.1 --parallel --parallel-max 4 URL URL …"
    assert {**back, "iperf3": there["iperf3"]} == there


@pytest.mark.parametrize(
    ("setting", "able"),
    [
        (Setting(congestion="bbr"), {"iperf3"}),
        (Setting(pacing_bps=1_000_000), {"iperf3"}),
        (Setting(window_bytes=65_536), {"iperf3", "rsync to a daemon", "GridFTP", "nginx"}),
    ],
)
def test_what_a_tool_cannot_set_is_said(setting: Setting, able: set[str]) -> None:
    listed = tools(setting, Way.out)
    assert [one.tool for one in listed] == list(typed(ALL))
    assert able < {one.tool for one in listed}
    for one in listed:
        assert (one.write is not None) == (one.tool in able)
        assert bool(one.cannot) == (one.tool not in able)


def test_iperf3_asks_for_both_buffers_at_both_ends() -> None:
    """What is sent needs wmem_max of the sender and rmem_max of the receiver alone; iperf3 asks for all."""
    sysctls = {
        "a": {"net.core.wmem_max": "4194304", "net.core.rmem_max": "212992"},
        "b": {"net.core.rmem_max": "4194304", "net.core.wmem_max": "524288"},
    }
    limits = asked_limits({host: {"sysctls": own} for host, own in sysctls.items()}, ("a", "b"))

    def noted(window_bytes: int) -> list[tuple[str, ...]]:
        found = tools(Setting(window_bytes=window_bytes), Way.out, Known(limits=limits))
        return [one.notes for one in found if one.notes]

    both = "-w sets both buffers at both ends: net.core.rmem_max of a"
    assert noted(212_992) == []
    assert noted(524_288) == [(f"{both} is too low for it",)]
    assert noted(524_289) == [(f"{both} and net.core.wmem_max of b are too low for it",)]
    assert asked_limits({}, ("a", "b")) == ()


def test_what_the_rest_carried_is_said_of_a_tool_that_can_set_a_part() -> None:
    carried = {Setting(8): 41e6, Setting(8, congestion="bbr"): 93e6, TODAY: 8.7e6}
    known = Known(carried, "cubic")
    notes = {one.tool: one.notes for one in tools(Setting(8, congestion="bbr"), Way.back, known)}
    assert notes.pop("iperf3") == notes.pop("nginx") == ()
    assert set(notes.values()) == {("8 flows, cubic carried 41.0 Mbit/s",)}
    notes = {one.tool: one.notes for one in tools(Setting(4, congestion="bbr"), Way.back, known)}
    assert not any(notes.values()), "that was not tried"


@pytest.mark.parametrize(
    ("setting", "goodput_bps", "noted"),
    [
        (Setting(4), 800e6, True),
        (Setting(4), 600e6, False),
        (Setting(window_bytes=1 << 24), 800e6, True),
        (Setting(window_bytes=1 << 24), 160e6, False),
    ],
)
def test_what_ssh_keeps_in_flight_is_said_where_it_is_too_little(
    setting: Setting, goodput_bps: float, *, noted: bool
) -> None:
    listed = tools(setting, Way.out, Known({setting: goodput_bps}, rtt_ms=100.0))
    said = "each ssh carries at most 2 MiB per round trip: 168 Mbit/s here"
    assert [one.tool for one in listed if said in one.notes] == ["rsync, scp over ssh"] * noted
    lines = [beside for tool, _, beside in tool_lines(listed) if tool == "rsync, scp over ssh"]
    cannot = "cannot set windows; " if setting.window_bytes else ""
    assert lines == ([cannot + said] if noted else [""] if setting.flows > 1 else [])


@pytest.mark.parametrize(
    ("way", "loaded", "noted"),
    [
        (Way.back, ("reno", "cubic"), True),
        (Way.back, ("reno", "bbr"), False),
        (Way.back, (), False),
        (Way.out, ("reno", "cubic"), False),
    ],
)
def test_a_client_of_iperf3_needs_the_congestion_control_that_its_server_is_to_use(
    way: Way, loaded: tuple[str, ...], *, noted: bool
) -> None:
    one = next(
        one
        for one in tools(ALL, way, Known(receiver="b", receiver_congestions=loaded))
        if one.tool == "iperf3"
    )
    said = "-C needs bbr at the client, too, and it is not loaded on b (`modprobe tcp_bbr` as root there)"
    assert one.notes == ((said,) if noted else ())


@pytest.mark.parametrize(
    ("verdict", "goodput_bps", "noted"),
    [
        ("receive window", 600e6, True),
        ("send window", 600e6, True),
        ("receive window", 160e6, False),
        ("sender CPU", 600e6, False),
    ],
)
def test_larger_windows_of_tcp_do_not_replace_the_flows_of_ssh(
    verdict: str, goodput_bps: float, *, noted: bool
) -> None:
    known = Known({Setting(4): goodput_bps}, rtt_ms=100.0, verdict=verdict)
    notes = {one.tool: one.notes for one in tools(Setting(4), Way.out, known)}
    said = (
        "one ssh carries at most 2 MiB per round trip, 168 Mbit/s here, whatever tcp_rmem and tcp_wmem are: "
        "keep 4 at a time"
    )
    assert notes["rsync, scp over ssh"] == ((said,) if noted else ())


@pytest.mark.parametrize(
    ("setting", "verdict", "noted"),
    [
        (Setting(8), "sender CPU", {"iperf3", "GridFTP", "curl"}),
        (Setting(8), "receiver CPU", {"iperf3", "GridFTP", "curl"}),
        (Setting(8), "receive window", set()),
        (Setting(congestion="bbr"), "sender CPU", set()),
    ],
)
def test_flows_of_one_thread_are_said_to_be_no_help_to_a_cpu(
    setting: Setting, verdict: str, noted: set[str]
) -> None:
    found = tools(setting, Way.back, Known(verdict=verdict))
    assert {one.tool for one in found if any("CPU" in note for note in one.notes)} == noted
    of_iperf3 = next(one for one in found if one.tool == "iperf3")
    assert any("iperf3 3.16" in note for note in of_iperf3.notes) is bool(noted)


FOR_ALL = "net.ipv4.tcp_allowed_congestion_control"
ALLOW = f'`sysctl -w {FOR_ALL}="reno cubic bbr"`'


@pytest.mark.parametrize(
    ("way", "sysctls", "said"),
    [
        (Way.out, {"a": "reno cubic"}, f"{ALLOW} on a"),
        (Way.out, {"a": "reno bbr", "b": "reno cubic"}, None),
        (Way.back, {"a": "reno cubic", "b": "reno cubic"}, f"{ALLOW} on a and {ALLOW} on b"),
        (Way.back, {"a": "reno bbr", "b": "reno cubic"}, f"{ALLOW} on b"),
        (Way.out, {}, None),
    ],
)
def test_what_only_root_may_ask_for_is_said_of_the_option(
    way: Way, sysctls: dict[str, str], said: str | None
) -> None:
    """An engine that runs as root may, and does not see that others are refused."""
    machine = {"net.core.netdev_max_backlog": "1000"}
    hosts = {host: {"sysctls": {FOR_ALL: names, **machine}} for host, names in sysctls.items()}
    found = restricted(hosts, ("a", "b"), "bbr")
    noted = [note for one in tools(ALL, way, Known(receiver="b", restricted=found)) for note in one.notes]
    assert noted == ([f"only root may ask for bbr: allow it to everybody by {said}"] if said else [])


NOT_LOADED = "-C needs htcp at the client, too, and it is not loaded on a"


@pytest.mark.parametrize(
    ("congestion", "loaded", "said"),
    [
        ("bbr", "reno cubic bbr", f"only root may ask for bbr: allow it to everybody by {ALLOW} on a"),
        (
            "bbr",
            "reno cubic",
            f"{NOT_LOADED.replace('htcp', 'bbr')} (`modprobe tcp_bbr` as root there)",
        ),
        (
            "htcp",
            "reno cubic",
            f"{NOT_LOADED} (`modprobe tcp_htcp`, then {ALLOW.replace('bbr', 'htcp')} as root there)",
        ),
    ],
)
def test_nothing_is_to_be_allowed_before_it_is_loaded(congestion: str, loaded: str, said: str) -> None:
    """The kernel knows no such name until then (ENOENT), and lets everybody ask for bbr from then on."""
    machine = {"net.core.netdev_max_backlog": "1000"}
    hosts = {
        "a": {
            "sysctls": {FOR_ALL: "reno cubic", **machine},
            "congestion_available": loaded.split(),
        },
        "b": {
            "sysctls": {FOR_ALL: f"reno {congestion}", **machine},
            "congestion_available": ["reno", congestion],
        },
    }
    known = Known(
        receiver="a",
        receiver_congestions=tuple(loaded.split()),
        restricted=restricted(hosts, ("b", "a"), congestion),
    )
    listed = tools(Setting(8, congestion=congestion), Way.back, known)
    assert [note for one in listed for note in one.notes] == [said]


@pytest.mark.parametrize(
    ("program", "tool"), [("iperf3", "iperf3"), ("curl", "curl"), ("rsync", "rsync to a daemon")]
)
def test_options_are_those_of_the_program(program: str, tool: str) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not here")
    words = {"curl": ["--help", "all"]}.get(program, ["--help"])
    said = subprocess.run([program, *words], capture_output=True, text=True, check=False, timeout=20)
    known = said.stdout + said.stderr
    for option in re.findall(r"(?<=\s)--?[A-Za-z-]+(?:\d\.\d)?", f" {typed(ALL, Way.back)[tool]}"):
        assert re.search(rf"(?<![\w-]){option}\b", known), option
