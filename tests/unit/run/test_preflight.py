"""What hosts must be for a plan: rules over facts, and a look at hosts whose engines are fakes."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import pytest

from analysis_support import make_trial
from fake_engine import FakeNetwork, FakeSession, access, host_facts
from flowsweep.errors import PreflightError
from flowsweep.hosts.access import DataAddress, HostAccess
from flowsweep.hosts.messages import HostFacts, Nic, Route
from flowsweep.hosts.of_plan import accesses_of
from flowsweep.plan import parse_plan
from flowsweep.run.conductor import Conditions, run_campaign
from flowsweep.run.events import CampaignEvent, TrialsWillFail
from flowsweep.run.host_checks import _allow, look_at_hosts
from flowsweep.run.preflight import (
    HostCheck,
    checks_of_facts,
    refuse_impossible,
    sentence_of,
    uses_of,
    window_checks,
)
from flowsweep.schedule import Slot, Trial, UdpParameters
from quic_support import make_quic_trial
from rtt_support import make_rtt_trial
from run_support import ListRecorder

KIB = 1024
ACCESSES = {name: access(name) for name in "ab"}


def facts(name: str, **changes: Any) -> HostFacts:
    return host_facts(name).model_copy(update=changes)


def bounds(send: int, receive: int) -> dict[str, str]:
    return {
        "net.core.wmem_max": str(send), "net.core.rmem_max": str(receive),
        "net.ipv4.tcp_wmem": "4096 16384 4194304", "net.ipv4.tcp_rmem": "4096 131072 6291456",
    }  # fmt: skip


def windows(trials: list[Trial], seen: dict[str, HostFacts]) -> dict[tuple[str, str], HostCheck]:
    return {(check.host, check.what): check for check in window_checks(uses_of(trials), seen)}


def slots(*trials: Trial) -> list[Slot]:
    return [Slot(trials=(trial,)) for trial in trials]


@pytest.mark.parametrize(
    ("asked", "clip_allowed", "status"),
    [
        (212_992, False, "ok"),
        (212_993, False, "problem"),
        (212_993, True, "warning"),
    ],
)
def test_a_window_is_granted_up_to_the_bound_of_its_side(
    asked: int, *, clip_allowed: bool, status: str
) -> None:
    trials = [make_trial(window_bytes=asked, clip_allowed=clip_allowed)]
    found = windows(
        trials, {"a": facts("a", sysctls=bounds(212_992, 1)), "b": facts("b", sysctls=bounds(1, 10**9))}
    )
    assert found["a", "send window"].status == status
    assert found["b", "receive window"].status == "ok"
    assert set(found) == {("a", "send window"), ("b", "receive window")}


@pytest.mark.parametrize("clips", [(False, True), (True, False)])
def test_a_window_that_any_sweep_wants_whole_is_a_problem(clips: tuple[bool, bool]) -> None:
    trials = [make_trial(window_bytes=64 * KIB, clip_allowed=clip) for clip in clips]
    seen = {name: facts(name, sysctls=bounds(1, 1)) for name in "ab"}
    assert {check.status for check in windows(trials, seen).values()} == {"problem"}


def test_the_advice_raises_the_bound_of_that_host_to_the_largest_window() -> None:
    trials = [make_trial(window_bytes=size * KIB) for size in (64, 512, 1024)]
    only_machines = {"net.core.netdev_max_backlog": "1000"}
    seen = {
        "a": facts("a", sysctls=bounds(10**9, 1)),
        "b": facts("b", sysctls=bounds(1, 256 * KIB) | only_machines),
    }
    check = windows(trials, seen)["b", "receive window"]
    assert sentence_of(check) == (
        "b: receive window: found net.core.rmem_max = 262144: 2 of 3 windows that are asked for are larger, "
        "expected net.core.rmem_max of at least 1048576 (1 MiB); "
        '`sysctl -w net.core.rmem_max=1048576` as root there, or say clip = "allow" in the plan'
    )


def test_in_a_namespace_a_bound_is_raised_on_its_machine() -> None:
    trials = [make_trial(window_bytes=1024 * KIB)]
    only_machines = {"net.core.netdev_max_backlog": "1000"}
    seen = {
        "a": facts("a", sysctls=bounds(256 * KIB, 1)),
        "b": facts("b", sysctls=bounds(1, 256 * KIB) | only_machines),
    }
    found = windows(trials, seen)
    assert found["a", "send window"].advice.startswith(
        "`sysctl -w net.core.wmem_max=1048576` as root on the machine that `a` is a network namespace of, or"
    )
    assert found["b", "receive window"].advice.startswith(
        "`sysctl -w net.core.rmem_max=1048576` as root there, or"
    )


def test_a_kernel_that_does_not_tell_its_bound_is_not_guessed_at() -> None:
    trials = [make_trial(window_bytes=64 * KIB)]
    found = windows(trials, {"a": facts("a"), "b": facts("b", sysctls={"net.core.rmem_max": "strange"})})
    assert {check.status for check in found.values()} == {"not known"}
    assert refuse_impossible(slots(*trials), {"a": facts("a")}) == ()


def test_autotuned_windows_are_told_with_what_bounds_them() -> None:
    seen = {name: facts(name, sysctls=bounds(1, 1)) for name in "ab"}
    found = windows([make_trial()], seen)
    assert {(*key, check.status) for key, check in found.items()} == {
        ("a", "send window, autotuned", "ok"),
        ("b", "receive window, autotuned", "ok"),
    }
    still = {"b": facts("b", sysctls=bounds(1, 1) | {"net.ipv4.tcp_moderate_rcvbuf": "0"})}
    (check,) = windows([make_trial()], still).values()
    assert (check.status, check.advice) == (
        "warning",
        "`sysctl -w net.ipv4.tcp_moderate_rcvbuf=1` as root there",
    )
    assert "131072" in check.found


@pytest.mark.parametrize(("window_bytes", "is_said"), [(16 << 20, True), (None, True), (65_535, False)])
@pytest.mark.parametrize("host", ["a", "b"])
def test_an_end_that_scales_no_window_is_told_where_one_would_need_it(
    host: str, window_bytes: int | None, *, is_said: bool
) -> None:
    of = {name: bounds(64 << 20, 64 << 20) | {"net.ipv4.tcp_window_scaling": "1"} for name in "ab"}
    of[host]["net.ipv4.tcp_window_scaling"] = "0"
    seen = {name: facts(name, sysctls=own) for name, own in of.items()}
    trial = make_trial(window_bytes=window_bytes)
    found = [check for check in windows([trial], seen).values() if check.status != "ok"]
    said = (
        f"{host}: window scaling: found net.ipv4.tcp_window_scaling = 0: whatever is asked for, no window "
        "exceeds 65535 B, expected windows that are scaled; `sysctl -w net.ipv4.tcp_window_scaling=1` as "
        "root there"
    )
    assert [sentence_of(check) for check in found] == ([said] if is_said else [])
    assert refuse_impossible(slots(trial), seen) == ()


def test_nothing_runs_where_no_trial_can_and_the_rest_does_where_some_can() -> None:
    small, large = make_trial(window_bytes=64 * KIB), make_trial(window_bytes=1024 * KIB)
    seen = {name: facts(name, sysctls=bounds(212_992, 212_992)) for name in "ab"}
    told = refuse_impossible(slots(small, large), seen)
    assert [sentence.split(":")[0] for sentence in told] == ["a", "b"]
    with pytest.raises(PreflightError) as caught:
        refuse_impossible(slots(large), seen)
    assert caught.value.problems == tuple(
        sentence_of(check) for check in window_checks(uses_of([large]), seen)
    )
    assert "no trial of the plan can run:\n  a: send window: found" in str(caught.value)
    assert refuse_impossible(slots(small), seen) == refuse_impossible([], seen) == ()


def test_a_campaign_looks_at_the_facts_before_its_first_trial() -> None:
    events: list[CampaignEvent] = []
    recorder = ListRecorder()
    trial = make_trial(window_bytes=64 * KIB)

    def vet(left: object, known: Any) -> tuple[str, ...]:
        assert set(known) == {"a", "b"}
        if left == slots(trial):
            return ("b is too small",)
        raise PreflightError(("all of it",))

    def run(*wanted: Trial) -> None:
        conditions = Conditions(FakeNetwork().connect, vet=vet)
        asyncio.run(
            run_campaign(slots(*wanted), ACCESSES, recorder, events=events.append, conditions=conditions)
        )

    run(trial)
    assert [event for event in events if isinstance(event, TrialsWillFail)] == [
        TrialsWillFail("b is too small")
    ]
    assert recorder.statuses == ["ok"]
    with pytest.raises(PreflightError):
        run(make_trial())
    assert recorder.statuses == ["ok"]


def nic(name: str, mtu: int) -> Nic:
    return Nic(name=name, mtu_bytes=mtu, offloads={}, qdiscs=[], rx_queues=1, tx_queues=1)


def test_packet_sizes_of_both_ends_are_compared() -> None:
    accesses = {
        name: replace(access(name), addresses={peer: (DataAddress(f"192.0.2.{name}", None),)})
        for name, peer in ("ab", "ba")
    }
    seen = {
        name: facts(
            name,
            nics=[nic("eth0", mtu)],
            routes={f"192.0.2.{peer}": Route(address="192.0.2.1", device="eth0")},
        )
        for name, peer, mtu in (("a", "b", 9000), ("b", "a", 1500))
    }
    found = [
        check for check in checks_of_facts(uses_of([make_trial()]), accesses, seen) if "MTU" in check.what
    ]
    assert [(check.host, check.status) for check in found] == [("a", "warning"), ("b", "warning")]
    assert found[0].found == "9000 B by eth0, and 1500 B by eth0 of b"
    alike = seen | {"a": seen["b"].model_copy(update={"routes": seen["a"].routes})}
    found = [
        check for check in checks_of_facts(uses_of([make_trial()]), accesses, alike) if "MTU" in check.what
    ]
    assert {check.status for check in found} == {"ok"}
    tcp = make_trial().parameters.model_dump()
    bulk = {name: tcp[name] for name in UdpParameters.model_fields if name in tcp}
    large = UdpParameters(**(bulk | {"length_bytes": 1473, "spacing_ns": None, "gso": True, "gro": True}))
    trial = make_trial().model_copy(update={"test": "udp", "parameters": large})
    (check, _) = [one for one in checks_of_facts(uses_of([trial]), accesses, alike) if "MTU" in one.what]
    assert (check.status, check.found) == ("warning", "1500 B by eth0; datagrams make packets of 1501 B")


@pytest.mark.parametrize(
    ("launch", "ways"),
    [
        (["ssh", "far"], []),
        (["sudo", "ip", "netns", "exec", "x"], []),
        (["sudo", "taskset", "-c", "1"], ["127.0.0.1", "::1"]),
    ],
)
def test_no_host_elsewhere_has_its_own_loopback_for_a_way_to_this_machine(
    launch: list[str], ways: list[str]
) -> None:
    """The most ordinary plan: this machine, of which nothing is said, and one that is reached by ssh."""
    plan = parse_plan(
        f'[campaign]\nname = "x"\n[hosts.here]\n[hosts.far]\nlaunch = {launch}\naddress = "192.0.2.1"\n'
        '[[sweep]]\ntest = "tcp"\npaths = [{ from = "here", to = "far" }]\nduration = "5s"\n',
        "x.toml",
    )
    asked: dict[str, Sequence[str]] = {}

    class Routed(FakeSession):
        async def describe(self, peers: Sequence[str] = ()) -> HostFacts:
            asked[self.host] = peers
            return host_facts(self.host, peers)

    async def connect(reached: HostAccess) -> FakeSession:
        return Routed(reached.name, FakeNetwork())

    asyncio.run(look_at_hosts([], accesses_of(plan.hosts), connect))
    assert asked == {"here": ["192.0.2.1"], "far": ways}


def test_an_engine_of_another_version_is_named_with_what_to_do() -> None:
    own = {"a": replace(access("a"), engine="/opt/engine"), "b": access("b")}
    seen = {name: facts(name, engine_version="0.0.9") for name in "ab"}
    first, second = [check for check in checks_of_facts([], own, seen) if check.what == "engine"]
    assert (first.status, first.found) == ("warning", "version 0.0.9")
    assert "leave `engine` of [hosts.a] out" in first.advice
    assert "leave" not in second.advice


V6, NAME = "2001:db8::2", "far.example.org"


@pytest.mark.parametrize(
    ("family", "resolved", "found"),
    [
        (None, V6, ("MTU towards b", "ok")),
        (6, V6, ("MTU towards b over IPv6", "ok")),
        (4, V6, ("MTU towards b over IPv4", "not known")),
        (4, "192.0.2.2", ("MTU towards b over IPv4", "ok")),
    ],
)
def test_an_mtu_is_of_the_ip_version_that_the_plan_uses(
    family: Literal[4, 6] | None, resolved: str, found: tuple[str, str]
) -> None:
    """Of a name the engine resolves one address, of whatever version comes first."""
    accesses = ACCESSES | {"b": replace(access("b"), addresses={"a": (DataAddress(NAME, None),)})}
    way = {NAME: Route(address=resolved, device="eth0")}
    seen = {"a": facts("a", nics=[nic("eth0", 1500)], routes=way), "b": facts("b")}
    checks = checks_of_facts(uses_of([make_trial(family=family)]), accesses, seen)
    assert [(check.what, check.status) for check in checks if "MTU" in check.what] == [found]


def look(network: FakeNetwork, *trials: Trial) -> dict[tuple[str, str], HostCheck]:
    found = asyncio.run(look_at_hosts(slots(*trials), ACCESSES, network.connect))
    assert [check.host for check in found] == sorted(check.host for check in found)
    return {(check.host, check.what): check for check in found}


def test_hosts_are_reached_and_their_ends_meet_without_traffic() -> None:
    network = FakeNetwork()
    found = look(network, make_trial(congestion="cubic", window_bytes=64 * KIB))
    assert {key for key, check in found.items() if check.status == "ok"} == {
        ("a", "reached"), ("b", "reached"), ("a", "clock"), ("b", "clock"), ("a", "engine"), ("b", "engine"),
        ("b", "TCP from a"), ("a", "congestion control"),
    }  # fmt: skip
    assert not any("start" in line for line in network.log)
    assert all(session.closed for session in network.sessions)


def test_ends_meet_by_each_ip_version_that_is_asked_for() -> None:
    trials = [make_trial(family=family, congestion="cubic") for family in (4, 6)]
    found = look(FakeNetwork(mishaps={("b", 2): "connect_timeout"}), *trials)
    assert found["b", "TCP from a over IPv4"].status == "ok"
    assert found["b", "TCP from a over IPv6"].status == "problem"
    assert found["a", "congestion control"].status == "ok"


def test_what_ends_do_not_meet_by_is_not_said_to_come_through() -> None:
    network = FakeNetwork()
    found = look(network, *(make_rtt_trial(echo=echo) for echo in ("udp", "tcp_connect", "icmp")))
    met = {what: check for (_, what), check in found.items() if " from a" in what}
    assert {what: check.status for what, check in met.items()} == {
        "UDP from a": "ok", "a TCP handshake from a": "not known", "an ICMP echo from a": "not known",
    }  # fmt: skip
    assert met["a TCP handshake from a"].found == "they met by UDP; a TCP handshake was not tried"
    found = look(FakeNetwork(mishaps={("b", 1): "connect_timeout"}), make_rtt_trial(echo="tcp_connect"))
    assert found["b", "a TCP handshake from a"].status == "problem"


def test_one_host_that_cannot_be_reached_hides_no_other() -> None:
    found = look(FakeNetwork(unreachable={"a": 9}), make_trial())
    assert (found["a", "reached"].status, found["a", "reached"].found) == ("problem", "no route to host")
    assert found["b", "reached"].status == "ok"
    assert not any(what.startswith("TCP") for _, what in found)


@pytest.mark.parametrize(
    ("kind", "advised"), [("connect_timeout", "`ports` of [hosts.b]"), ("window_clipped", "")]
)
def test_a_firewall_is_named_only_where_ends_do_not_reach_each_other(kind: str, advised: str) -> None:
    found = look(FakeNetwork(mishaps={("b", 1): kind}), make_trial(congestion="cubic"))
    assert found["b", "TCP from a"].status == "problem"
    assert (advised in found["b", "TCP from a"].advice) if advised else not found["b", "TCP from a"].advice


@pytest.mark.parametrize(
    ("kind", "advised"), [("congestion_unavailable", "`modprobe tcp_bbr` as root there"), ("connect", "")]
)
def test_a_congestion_control_is_to_be_allowed_only_where_it_is_refused(kind: str, advised: str) -> None:
    found = look(FakeNetwork(mishaps={("b", 2): kind}), make_trial(congestion="bbr"))
    (check,) = (check for (_, what), check in found.items() if what.startswith("congestion"))
    assert (check.status, check.advice) == ("problem", advised)


@pytest.mark.parametrize(
    ("sysctls", "where"),
    [
        ({"net.core.rmem_max": "1"}, " lists on the machine that `b` is a network namespace of"),
        ({"net.core.netdev_max_backlog": "1"}, " lists"),
    ],
)
def test_a_congestion_control_is_allowed_on_the_machine_of_a_namespace(
    sysctls: dict[str, str], where: str
) -> None:
    seen = facts("b", sysctls=sysctls, congestion_available=["bbr"])
    assert _allow("bbr", "b", seen) == (
        "run the engine as root there, or add bbr to what the sysctl "
        f"net.ipv4.tcp_allowed_congestion_control{where}"
    )


def test_ends_that_do_not_meet_are_told_and_nothing_is_guessed_of_congestion() -> None:
    found = look(FakeNetwork(mishaps={("b", 1): "connect_timeout"}), make_trial(congestion="cubic"))
    assert found["b", "TCP from a"].status == "problem"
    assert "`ports` of [hosts.b]" in found["b", "TCP from a"].advice
    assert found["a", "congestion control"].status == "not known"


def test_a_congestion_control_of_a_library_says_nothing_of_the_kernel_s() -> None:
    network = FakeNetwork()
    trials = (make_quic_trial(congestion="newreno"), make_trial(congestion="newreno"))
    found = asyncio.run(look_at_hosts(slots(*trials), ACCESSES, network.connect))
    asked = [check.expected for check in found if check.what == "congestion control"]
    assert sorted(asked) == ["newreno may be used by quic", "newreno may be used by tcp"]
    assert network.prepared == {"a": 4, "b": 4}
