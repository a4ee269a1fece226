"""A standing point among strangers: refusals before any traffic, peers that lie, controllers that share."""

import asyncio
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
from lab_support import address_of, host, link, needs_lab

from analysis_support import make_trial
from flowsweep.hosts.access import HostAccess
from flowsweep.hosts.messages import Connect, Listen, Start, TcpTest, UdpTest
from flowsweep.lab import Lab, build_lab
from flowsweep.run.conductor import Conditions, run_campaign
from flowsweep.run.deadlines import Deadlines
from flowsweep.run.events import CampaignEvent, PointBusy
from flowsweep.run.outcome import TrialOutcome
from flowsweep.schedule import Slot
from point_support import (
    OPENING,
    TOKEN,
    Point,
    RawEngine,
    overlapping,
    prepare,
    sent_packets,
    tcp_test,
    udp_test,
)
from run_support import ListRecorder
from waiting import wait_until

pytestmark = needs_lab

CONTROLLERS = 8
TRIALS = 2
REQUESTS = 10_000
KILLED_EACH = 6
"""Engines of each controller, of which every other one is killed."""
FLOWS_MAX = 4
RESERVED_BYTES = 375_000 + 8192
"""Of a second at 1 Mbit/s, 2 s that are reserved beyond, and the first block."""
RULES = """
[[rule]]
name = "friends"
peers = ["{a}"]
controllers = ["198.51.100.1"]
rate = "100Mbit/s"
duration = "2s"
flows = 4
bytes_per_day = "1GB"
"""
LIAR = """
import socket, sys
address, port, kind, opening = sys.argv[1], int(sys.argv[2]), sys.argv[3], bytes.fromhex(sys.argv[4])
with socket.socket(socket.AF_INET, getattr(socket, kind)) as liar:
    liar.settimeout(1)
    liar.connect((address, port))
    liar.send(opening)
    try:
        print(len(liar.recv(1000)))
    except (TimeoutError, ConnectionError):
        print(0)
"""


@contextmanager
def standing(folder: Path, top: str = "", rules: str = RULES) -> Iterator[tuple[Lab, Point]]:
    """A point, a host `a` that its rule permits, and one that it does not."""
    links = [link("l", "a", "point"), link("m", "liar", "point")]
    with build_lab(links, [host("a"), host("liar"), host("point")]) as lab:
        friends = rules.format(a=address_of(lab, "a", peer="point"))
        yield lab, Point.make(lab.access["point"], folder, friends, top)


@contextmanager
def engine(access: HostAccess) -> Iterator[RawEngine]:
    """An engine that is asked directly."""
    raw = RawEngine(access)
    try:
        yield raw
    finally:
        raw.close()


def test_of_ten_thousand_refused_requests_no_packet_leaves(tmp_path: Path) -> None:
    with standing(tmp_path) as (lab, point), engine(point.for_controller("mallory")) as raw:
        to_a = Connect(address=address_of(lab, "a", peer="point"), port=9)
        to_liar = Connect(address=address_of(lab, "liar", peer="point"), port=9)
        kinds = [
            (to_liar, tcp_test(), "is none of them for a controller that comes from 198.51.100.1"),
            (to_liar, udp_test(), "is none of them for a controller that comes from 198.51.100.1"),
            (to_a, tcp_test(flows=5), "asked for 5 flows at once, allowed at most 4"),
            (to_a, tcp_test(duration_us=2_000_001), "asked for a trial of 2.000001 s, allowed at most 2 s"),
            (to_a, tcp_test(rate_bps=100_000_001), "asked for 100.000001 Mbit/s of all flows"),
            (to_a, udp_test(rate_bps=None), "asked for udp as fast as it can be sent"),
            (Listen(), udp_test(), "whoever opens with a datagram may say any address"),
        ]
        chosen = [kinds[number % len(kinds)] for number in range(REQUESTS)]
        requests = [prepare(f"t{number}", "source", *asked[:2]) for number, asked in enumerate(chosen)]
        before = sent_packets(lab.access["point"])
        raw.ask(*requests)
        events = [raw.event() for _ in requests]
        assert sent_packets(lab.access["point"]) == before
        assert {(event["type"], event["phase"], event["kind"]) for event in events} == {
            ("failed", "prepare", "point_refused")
        }
        said = {event["message"] for event in events}
        for _, _, words in kinds:
            assert any(words in message for message in said), words
        raw.ask(prepare("allowed", "source", to_a, tcp_test()))
        assert raw.until("failed")["kind"] == "connect"
        assert sent_packets(lab.access["point"]) > before
        assert point.availability()["free"]


@pytest.mark.parametrize(
    ("kind", "test", "role"),
    [
        ("SOCK_STREAM", tcp_test(), "sink"),
        ("SOCK_STREAM", tcp_test(), "source"),
        ("SOCK_DGRAM", udp_test(), "sink"),
    ],
)
def test_a_peer_that_has_the_secret_but_another_address_gets_no_byte(
    tmp_path: Path, kind: str, test: object, role: str
) -> None:
    with standing(tmp_path) as (lab, point), engine(point.for_controller("mallory")) as raw:
        raw.ask(prepare("t", role, Listen(), test))  # type: ignore[arg-type]
        port = raw.until("listening")["port"]
        opening = OPENING.pack(b"FSW1", bytes.fromhex(TOKEN), 0)
        address = address_of(lab, "point", peer="liar")
        words = [
            *lab.access["liar"].launch,
            sys.executable,
            "-c",
            LIAR,
            address,
            str(port),
            kind,
            opening.hex(),
        ]
        got = subprocess.run(words, capture_output=True, text=True, check=True, timeout=20)
        assert got.stdout == "0\n"
        failed = raw.until("failed")
        liar = address_of(lab, "liar", peer="point")
        assert failed["kind"] == "point_refused"
        assert f"{liar} is none of them for a controller that comes from 198.51.100.1" in failed["message"]
        wait_until(lambda: point.audited()[-1]["event"] == "ended")
        assert point.audited()[-1]["bytes"] == 0


@pytest.mark.parametrize("patient", [True, False])
def test_eight_controllers_have_turns_or_are_refused_and_never_overlap(
    tmp_path: Path, *, patient: bool
) -> None:
    with standing(tmp_path, top=f'wait = "{1 if patient else 0}s"\n') as (lab, point):
        recorders, events = asyncio.run(measure_all(lab, point, patient=patient))
        records = [outcome.record for recorder in recorders for outcome in recorder.outcomes]
        assert len(records) == CONTROLLERS * TRIALS
        measured = [record for record in records if record.failure is None]
        refused = [record.failure for record in records if record.failure is not None]
        assert {failure.kind for failure in refused} <= {"point_busy"}
        if patient:
            assert not refused
            assert any(isinstance(event, PointBusy) for event in events)
        else:
            assert measured
            assert refused
        for words in [event.reason for event in events if isinstance(event, PointBusy)] + [
            failure.message for failure in refused
        ]:
            assert "busy with c" in words
            assert "what runs there ends at 20" in words
        ran = [
            time_of(outcome)
            for recorder in recorders
            for outcome in recorder.outcomes
            if outcome.record in measured
        ]
        assert overlapping(ran) == []
        lines = [line for line in point.audited() if line["event"] in ("begun", "ended")]
        assert len(lines) == 2 * len(measured)
        assert [line["event"] for line in lines] == ["begun", "ended"] * len(measured)
        assert all(one["end"] == two["end"] for one, two in zip(lines[::2], lines[1::2], strict=True))
        assert {line["outcome"] for line in lines[1::2]} == {"ok"}
        availability = point.availability()
        assert availability["free"]
        assert availability["rules"][0]["bytes_today"] == sum(line["bytes"] for line in lines[1::2]) > 0


async def measure_all(
    lab: Lab, point: Point, *, patient: bool
) -> tuple[list[ListRecorder], list[CampaignEvent]]:
    """Campaigns of several controllers at once."""
    events: list[CampaignEvent] = []
    recorders = [ListRecorder() for _ in range(CONTROLLERS)]
    brief = {
        "duration_ns": 4 * 10**8,
        "omit_ns": 0,
        "interval_ns": 10**8,
        "rate_bps": 8_000_000,
        "flows": FLOWS_MAX,
    }

    async def measure(number: int) -> None:
        accesses = {"a": lab.access["a"], "point": point.for_controller(f"c{number}")}
        slots = [
            Slot(trials=(make_trial(src="a", dst="point", repeat=1, **brief),)),
            Slot(trials=(make_trial(src="point", dst="a", repeat=2, **brief),)),
        ]
        conditions = Conditions(deadlines=Deadlines() if patient else Deadlines(point_busy_s=0))
        await run_campaign(slots, accesses, recorders[number], events=events.append, conditions=conditions)

    await asyncio.gather(*map(measure, range(CONTROLLERS)))
    return recorders, events


def time_of(outcome: TrialOutcome) -> tuple[int, int]:
    """From when to when a trial carried bytes, by the lab's one clock."""
    (source,) = outcome.record.sources
    assert source.origin_unix_ns is not None
    return source.origin_unix_ns, source.origin_unix_ns + 4 * 10**8


def test_a_turn_of_an_engine_that_was_killed_is_free_and_its_bytes_count(tmp_path: Path) -> None:
    with standing(tmp_path, top='wait = "0s"\n') as (_, point):
        raw = RawEngine(point.for_controller("alice"))
        raw.ask(prepare("t", "sink", Listen(), tcp_test()))
        raw.until("listening")
        with engine(point.for_controller("bob")) as other:
            other.ask(prepare("t", "sink", Listen(), tcp_test()))
            busy = other.until("failed")
            assert busy["kind"] == "point_busy"
            assert "busy with alice from 198.51.100.1 (tcp); what runs there ends at" in busy["message"]
            raw.process.send_signal(signal.SIGKILL)
            raw.close()
            other.ask(prepare("t", "sink", Listen(), tcp_test()))
            other.until("listening")
        assert point.availability()["rules"][0]["bytes_today"] == RESERVED_BYTES
        (vanished,) = [line for line in point.audited() if line["event"] == "vanished"]
        assert vanished["turn"]["who"]["name"] == "alice"


def test_turns_never_overlap_while_engines_are_killed(tmp_path: Path) -> None:
    rules = RULES.format(a="127.0.0.1").replace("1GB", "1TB")
    point = Point.make(HostAccess("point", (), None, {}), tmp_path, rules, 'wait = "2s"\n')
    held: list[tuple[int, int]] = []
    killed: list[int] = []

    def controller(number: int) -> None:
        chance = random.Random(number)
        for _ in range(KILLED_EACH):
            raw = RawEngine(point.for_controller(f"c{number}"))
            raw.ask(prepare("t", "sink", Listen(), tcp_test()))
            event = raw.until("listening", "failed")
            if event["type"] == "failed":
                assert event["kind"] == "point_busy"
                raw.close()
                continue
            begun = time.monotonic_ns()
            time.sleep(chance.uniform(0, 0.02))
            held.append((begun, time.monotonic_ns()))
            if chance.random() < 0.5:
                raw.process.kill()
                killed.append(raw.process.pid)
            raw.close()

    with ThreadPoolExecutor(CONTROLLERS) as pool:
        list(pool.map(controller, range(CONTROLLERS)))
    assert killed
    assert overlapping(held) == []
    lines = [line["event"] for line in point.audited()]
    assert lines.count("begun") == len(held)
    assert lines.count("begun") - lines.count("ended") == len(killed)
    reserved = point.availability()["rules"][0]["bytes_today"]
    assert reserved == len(killed) * RESERVED_BYTES
    with engine(point.for_controller("last")) as raw:
        raw.ask(prepare("t", "sink", Listen(), tcp_test()))
        raw.until("listening")
    assert [line["event"] for line in point.audited()].count("vanished") == len(killed)


@pytest.mark.parametrize("test", [tcp_test, udp_test])
def test_a_sink_ends_what_comes_faster_than_was_asked_for(
    tmp_path: Path, test: Callable[..., TcpTest | UdpTest]
) -> None:
    with (
        standing(tmp_path) as (lab, point),
        engine(point.for_controller("mallory")) as sink,
        engine(lab.access["a"]) as source,
    ):
        sink.ask(prepare("t", "sink", Listen(), test(duration_us=2_000_000)))
        port = sink.until("listening")["port"]
        there = Connect(address=address_of(lab, "point", peer="a"), port=port)
        source.ask(prepare("t", "source", there, test(duration_us=20_000_000, rate_bps=50_000_000)))
        source.until("connected")
        source.ask(Start(trial="t", at_unix_ns=None))
        report = sink.until("report")
        assert report["incomplete"]["kind"] == "point_limit"
        assert "ended the trial: more came than was asked for" in report["incomplete"]["message"]


def test_a_trial_that_its_controller_does_not_end_is_ended(tmp_path: Path) -> None:
    with (
        standing(tmp_path) as (lab, point),
        engine(point.for_controller("mallory")) as sink,
        engine(lab.access["a"]) as source,
    ):
        sink.ask(prepare("t", "sink", Listen(), tcp_test()))
        port = sink.until("listening")["port"]
        there = Connect(address=address_of(lab, "point", peer="a"), port=port)
        # As fast as was asked for, for longer than that.
        source.ask(prepare("t", "source", there, tcp_test(duration_us=60_000_000)))
        source.until("connected")
        source.ask(Start(trial="t", at_unix_ns=None))
        begun = time.monotonic()
        report = sink.until("report")
        assert time.monotonic() - begun < 10
        assert report["incomplete"]["kind"] == "point_limit"
        assert sum(flow["bytes"] for flow in report["flows"]) < 10 * 125_000
        wait_until(lambda: point.availability()["free"])


def test_a_source_without_a_rate_is_paced(tmp_path: Path) -> None:
    rules = RULES.replace("100Mbit/s", "10Mbit/s")
    with (
        standing(tmp_path, rules=rules) as (lab, point),
        engine(point.for_controller("mallory")) as source,
        engine(lab.access["a"]) as sink,
    ):
        sink.ask(prepare("t", "sink", Listen(), tcp_test(duration_us=60_000_000, rate_bps=None)))
        port = sink.until("listening")["port"]
        there = Connect(address=address_of(lab, "a", peer="point"), port=port)
        source.ask(prepare("t", "source", there, tcp_test(duration_us=2_000_000, rate_bps=None, flows=1)))
        granted = source.until("connected")["granted"]
        assert any("holds each flow to 10 Mbit/s" in remark for remark in granted["remarks"])
        source.ask(Start(trial="t", at_unix_ns=None))
        assert source.until("report")["incomplete"] is None
        carried = sink.until("report")["flows"][0]["bytes"]
        # Two seconds, a window that was filled at once, and what was still in the buffer when they were over.
        assert 1_000_000 < carried < 10_000_000 / 8 * 12


def test_nobody_may_measure_where_the_limits_are_wrong(tmp_path: Path) -> None:
    with standing(tmp_path, rules=RULES.replace("flows", "flow")) as (_, point):
        with engine(point.for_controller("alice")) as raw:
            raw.ask(prepare("t", "sink", Listen(), tcp_test()))
            failed = raw.until("failed")
        assert failed["kind"] == "point_broken"
        assert 'rule 1, found the key "flow", expected one of name, peers' in failed["message"]
