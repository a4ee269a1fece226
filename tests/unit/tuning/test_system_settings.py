"""Which settings of a system follow from what gained."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import pytest

from flowsweep.tuning.advise import SystemSetting, how_to_set, system_settings
from flowsweep.tuning.answer import answer
from flowsweep.tuning.decide import decide
from flowsweep.tuning.places import Place
from flowsweep.tuning.rounds import Tried
from flowsweep.tuning.settings import TODAY, Setting, Way
from tuned_paths import ENDS, VirtualPath, tried

if TYPE_CHECKING:
    from flowsweep.analysis.summarising.trial_row import TrialRow

PATH = VirtualPath("any", loss=1e-3)
HOSTS = {host: {"congestion_default": "cubic", "sysctls": {}} for host in "ab"}
CONGESTION = "net.ipv4.tcp_congestion_control"
NESTED = f"""ssh gate ssh far -- ''"'"'sysctl -w {CONGESTION}=bbr'"'"''"""
ALONE = "Alone it carried"
NEEDED = "Needed for 8 flows, bbr with tools that cannot ask for bbr."
GAINED = "1 flow, bbr had 2.03 times [{}] what today's setting carried beside it"
BBR, MANY_BBR = Setting(congestion="bbr"), Setting(8, congestion="bbr")


def finals(ratios: dict[Setting, Sequence[float]]) -> list[Tried]:
    settings = {TODAY: (1.0, 1.0, 1.0), **ratios}
    made = [
        tried(Way.out, setting, 1e8 * values[block], PATH, block=block)
        for block in range(3)
        for setting, values in settings.items()
    ]
    return [replace(one, row={**one.row, "congestion": "cubic"}) for one in made]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("ratios", "said"),
    [
        ({BBR: (2.0, 2.1, 2.0)}, f"Measured: {GAINED.format('1.90, 2.18')}."),
        ({MANY_BBR: (2.0, 2.1, 2.0)}, f"{NEEDED} What that gains alone was not measured."),
        (
            {MANY_BBR: (3.0, 3.1, 3.0), BBR: (1.0, 1.01, 1.0)},
            f"{NEEDED} Measured: 1 flow, bbr had a gain of 0.3 % [−1.7, 2.4] over today's setting beside it.",
        ),
        (
            {MANY_BBR: (3.0, 3.1, 3.0), BBR: (2.0, 2.1, 2.0)},
            f"{NEEDED} Measured: {GAINED.format('1.84, 2.25')}.",
        ),
    ],
)
def test_a_default_is_named_where_it_is_part_of_what_is_to_be_set(
    ratios: dict[Setting, Sequence[float]], said: str
) -> None:
    made = finals(ratios)
    decision = decide(Way.out, made)
    assert decision.chosen is not None
    (one,) = system_settings({Way.out: decision}, made, HOSTS, ENDS)
    assert (one.host, one.name, one.value, one.now) == ("a", CONGESTION, "bbr", "cubic")
    assert one.reason == f"{said} It is the default of all connections."


@pytest.mark.parametrize("alone", [(0.8, 0.81, 0.8), (0.5, 1.2, 0.6)])
def test_no_default_is_named_that_alone_loses_however_sure_that_is(alone: Sequence[float]) -> None:
    made = finals({MANY_BBR: (3.0, 3.1, 3.0), BBR: alone})
    assert not system_settings({Way.out: decide(Way.out, made)}, made, HOSTS, ENDS)


def screened(ratio: float, blocks: int = 2, setting: Setting = BBR) -> list[Tried]:
    """Trials of a setting and of today's before the finals."""
    return [
        tried(Way.out, one, 1e8 * times, PATH, "screening", block=block)
        for block in range(blocks)
        for one, times in ((TODAY, 1.0), (setting, ratio))
    ]


@pytest.mark.parametrize(
    ("ratio", "said"),
    [
        (0.7, None),
        (0.0, None),
        (
            1.3,
            f"{ALONE} 130 Mbit/s in 2 trials before the finals, today's setting 100 Mbit/s in 2 trials.",
        ),
    ],
)
def test_what_lost_before_the_finals_is_no_default(ratio: float, said: str | None) -> None:
    made = [*screened(ratio), *finals({MANY_BBR: (3.0, 3.1, 3.0)})]
    decision = decide(Way.out, [one for one in made if one.stage == "finals"])
    found = system_settings({Way.out: decision}, made, HOSTS, ENDS)
    expected = said and f"{NEEDED} {said} It is the default of all connections."
    assert [one.reason for one in found] == ([] if expected is None else [expected])


def test_what_always_failed_before_the_finals_is_no_default() -> None:
    made = finals({MANY_BBR: (3.0, 3.1, 3.0)})
    decisions = {Way.out: decide(Way.out, made)}
    assert not system_settings(decisions, made, HOSTS, ENDS, {Way.out: {BBR: 2}})
    (one,) = system_settings(decisions, made, HOSTS, ENDS, {Way.out: {TODAY: 2}})
    assert "was not measured" in one.reason


def test_no_default_is_named_that_fails_too_often() -> None:
    made = finals({MANY_BBR: (3.0, 3.1, 3.0), BBR: (2.0, 2.1, 2.0)})
    decision = decide(Way.out, made)
    failing = tuple(replace(one, asked=4, failed=1) if one.setting == BBR else one for one in decision.gains)
    decision = replace(decision, gains=failing)
    assert not system_settings({Way.out: decision}, made, HOSTS, ENDS)


@pytest.mark.parametrize(
    "ratios",
    [{BBR: (2.0, 2.1, 2.0)}, {MANY_BBR: (3.0, 3.1, 3.0), BBR: (2.0, 2.1, 2.0)}],
)
def test_a_default_is_named_after_a_verification_of_what_it_is_part_of(
    ratios: dict[Setting, Sequence[float]],
) -> None:
    made = finals(ratios)
    decision = decide(Way.out, made)
    again = [replace(one, stage="verification") for one in made if one.setting in (TODAY, next(iter(ratios)))]
    found = system_settings({Way.out: decision}, [*made, *again], HOSTS, ENDS)
    assert [one.name for one in found] == [CONGESTION]


def test_a_default_that_was_measured_again_has_the_gain_of_that() -> None:
    made = finals({BBR: (2.0, 2.1, 2.0)})
    again = [replace(one, stage="verification") for one in finals({BBR: (1.5, 1.51, 1.5)})]
    common: dict[str, Any] = {"rtt_ms": 20.0, "hosts": HOSTS, "hosts_text": "", "spent": (1.0, 1)}
    found = answer([*made, *again], ends={Way.out: ENDS[Way.out]}, **common)
    (one,) = found.system
    assert one.reason.startswith("Measured: 1 flow, bbr had a gain of 50.3 % [")


@pytest.mark.parametrize(
    ("launch", "has_file", "said"),
    [
        ("", True, f"{CONGESTION} = bbr"),
        ("ssh -p 22 server", True, f"{CONGESTION} = bbr"),
        ("ip netns exec b", False, f"ip netns exec b sysctl -w {CONGESTION}=bbr"),
        ("docker exec -i box", False, f"docker exec -i box sysctl -w {CONGESTION}=bbr"),
        ("ssh server ip netns exec b", False, f"ssh server ip netns exec b 'sysctl -w {CONGESTION}=bbr'"),
        ("ssh gate ssh far --", False, NESTED),
    ],
)
def test_a_file_is_named_only_where_a_machine_keeps_its_settings(
    launch: str, *, has_file: bool, said: str
) -> None:
    settings = [SystemSetting("a", CONGESTION, "bbr", "cubic", "It gained.")]
    (one,) = how_to_set(settings, {"a": Place("what was typed", tuple(launch.split()))})
    assert (one.place.name, one.place.has_file) == ("what was typed", has_file)
    assert ("/etc/sysctl.d" in one.how) is has_file
    assert ("network namespace" in one.how) is ("netns" in launch)
    to_do = ": run this here; it has to be root there. It is lost at the next restart"
    if "docker" in launch:
        to_do = ", a container: it shows these settings read-only, also to root, unless it is privileged: set"
    assert one.how.startswith(f"reached by `{launch}`{to_do}") is not has_file
    assert one.text.splitlines() == [
        "# Advised by flowsweep tune. Each line says whether it was measured.",
        "# It gained. Before: cubic.",
        said,
    ]


def test_no_file_is_named_inside_of_a_network_namespace() -> None:
    """A file of the machine would set the machine's own limits, which nobody looked at."""
    settings = [SystemSetting("a", CONGESTION, "bbr", "cubic", "It gained.")]
    (one,) = how_to_set(settings, {"a": Place("this machine", seen_as_namespace=True)})
    assert not one.place.has_file
    assert one.how == (
        "run this as root. It is lost at the next restart: a network namespace has settings of its own, "
        "which no file of its machine keeps. If this is a container: it shows these settings read-only, also "
        "to root, unless it is privileged: set them when it is started (`docker run --sysctl`, a pod's "
        "securityContext.sysctls), or from its machine (`nsenter -t PID -n sysctl -w`). There bbr, unless "
        "everybody may ask for it, has to be allowed on its machine first: "
        '`sysctl -w net.ipv4.tcp_allowed_congestion_control="… bbr"`'
    )
    assert one.text.splitlines()[-1] == f"sysctl -w {CONGESTION}=bbr"


ALLOWED = "net.ipv4.tcp_allowed_congestion_control"


@pytest.mark.parametrize(
    ("launch", "name", "sysctls", "said"),
    [
        (
            "ip netns exec b",
            CONGESTION,
            {ALLOWED: "reno cubic"},
            f'first: `sysctl -w {ALLOWED}="reno cubic bbr"`',
        ),
        ("ip netns exec b", CONGESTION, {}, f'`sysctl -w {ALLOWED}="… bbr"`'),
        ("podman exec -i b", CONGESTION, {ALLOWED: "reno cubic"}, f'`sysctl -w {ALLOWED}="reno cubic bbr"`'),
        ("ip netns exec b", CONGESTION, {ALLOWED: "reno cubic bbr"}, None),
        ("ip netns exec b", "net.ipv4.tcp_rmem", {ALLOWED: "reno cubic"}, None),
        ("ssh server", CONGESTION, {ALLOWED: "reno cubic"}, None),
    ],
)
def test_what_a_namespace_may_not_have_as_its_default_is_allowed_on_its_machine_first(
    launch: str, name: str, sysctls: dict[str, str], said: str | None
) -> None:
    """The kernel refuses it there with EPERM; a machine that has it as its default allows it by that."""
    settings = [SystemSetting("a", name, "bbr", "cubic", "It gained.")]
    (one,) = how_to_set(settings, {"a": Place("b", tuple(launch.split()))}, {"a": {"sysctls": sysctls}})
    assert (ALLOWED in one.how) is (said is not None)
    assert one.how.endswith(said or "")


@pytest.mark.parametrize(
    ("launch", "is_container"),
    [
        ("kubectl exec -i pod -c box --", True),
        ("ssh server /usr/bin/docker exec -i box", True),
        ("oc rsh pod", True),
        ("ssh docker", False),
        ("ssh docker ip netns exec far", False),
        ("sudo -u docker ip netns exec far", False),
        ("ssh docker sudo podman exec -i box", True),
        ("docker exec -i box ssh far", False),
        ("ip netns exec docker", False),
    ],
)
def test_a_launcher_into_a_container_is_known(launch: str, *, is_container: bool) -> None:
    assert Place("b", tuple(launch.split())).enters_container is is_container


def held_by_windows(
    ratios: dict[Setting, Sequence[float]], hosts: dict[str, dict[str, Any]]
) -> list[SystemSetting]:
    """What is advised where a receive window holds one flow at 100 Mbit/s over 20 ms."""
    made = [replace(one, row=cast("TrialRow", {**one.row, "verdict": "receive window"}))
            for one in finals(ratios)]  # fmt: skip
    return list(system_settings({Way.out: decide(Way.out, made)}, made, hosts, ENDS))


def limits(**sysctls: str) -> dict[str, Any]:
    """A host's facts, with names of net.ipv4 without that."""
    return {"sysctls": {f"net.ipv4.{name}": value for name, value in sysctls.items()}}


ENOUGH = limits(tcp_wmem="4096 16384 4194304")
"""Of a sender whose windows are large enough."""


@pytest.mark.parametrize(
    ("chosen", "more"),
    [
        (Setting(8), " It is an alternative to 8 flows: not both are needed."),
        (Setting(window_bytes=1 << 20), " It is an alternative to 1 MiB windows: not both are needed."),
    ],
)
def test_a_raised_limit_says_that_it_was_computed_and_what_it_stands_for(chosen: Setting, more: str) -> None:
    hosts = {"a": ENOUGH, "b": limits(tcp_rmem="4096 131072 500000", tcp_mem="1 1 400000")}
    (one,) = held_by_windows({chosen: (4.0, 4.0, 4.0)}, hosts)
    # 400 Mbit/s × 20 ms are 1 MB, in whole 64 KiB.
    assert (one.name, one.value) == ("net.ipv4.tcp_rmem", "4096 131072 2097152")
    assert one.reason == (
        "Computed, not tried: it should let about 1 MiB of one flow be in flight, for 400 Mbit/s." + more
    )
    (how,) = how_to_set([one])
    assert f"{one.reason} Before: 4096 131072 500000." in how.text


def test_no_limit_is_raised_where_neither_flows_nor_windows_gained() -> None:
    """A gain of another congestion control alone does not show that a larger window would gain."""
    hosts = {"a": ENOUGH, "b": limits(tcp_rmem="4096 131072 500000", tcp_mem="1 1 400000")}
    assert held_by_windows({BBR: (4.0, 4.0, 4.0)}, hosts) == []
    assert len(held_by_windows({MANY_BBR: (4.0, 4.0, 4.0)}, hosts)) == 1


def test_a_limit_of_a_host_that_does_not_tell_its_memory_says_so() -> None:
    hosts = {"a": ENOUGH, "b": limits(tcp_rmem="4096 131072 500000")}
    (one,) = held_by_windows({Setting(8): (4.0, 4.0, 4.0)}, hosts)
    assert one.reason.endswith(" not both are needed. Its memory for TCP was not recorded.")


def test_a_limit_that_memory_bounds_says_so() -> None:
    hosts = {"a": ENOUGH, "b": limits(tcp_rmem="4096 131072 500000", tcp_mem="500 700 1000")}
    (one,) = held_by_windows({Setting(8): (4.0, 4.0, 4.0)}, hosts)
    assert one.value == "4096 131072 1024000"
    assert one.reason == (
        "Computed, not tried: it should let about 500 KiB be in flight: more would be over a quarter of what "
        "net.ipv4.tcp_mem lets all connections have. 1 MB would be needed for 400 Mbit/s. Keep 8 flows: "
        "without, b may let one flow carry no more than about 205 Mbit/s."
    )


@pytest.mark.parametrize(
    ("pages", "fastest", "in_flight", "less"),
    [
        # 300 000 B carry 100 Mbit/s over 20 ms: 5/6 of them are window, half would be 60 Mbit/s.
        (400, 1.0, "341 KB", "no more than about 137 Mbit/s"),
        (400, 1.1, "375 KB", "no more than about 150 Mbit/s"),
        (1200, 1.0, "1 MB", "less"),
    ],
)
def test_no_larger_buffer_is_said_to_carry_less_than_was_seen(
    pages: int, fastest: float, in_flight: str, less: str
) -> None:
    hosts = {"a": ENOUGH, "b": limits(tcp_rmem="4096 131072 300000", tcp_mem=f"1 1 {pages}")}
    (one,) = held_by_windows({TODAY: (1.0, fastest, 1.0), Setting(8): (4.0, 4.0, 4.0)}, hosts)
    assert one.value == f"4096 131072 {pages * 1024}"
    assert f"it should let about {in_flight} be in flight: more" in one.reason
    assert one.reason.endswith(f"Keep 8 flows: without, b may let one flow carry {less}.")


SENDER = limits(tcp_wmem="4096 16384 500000", tcp_mem="1 1 400000")


@pytest.mark.parametrize(
    "receiver",
    [
        pytest.param({}, id="unknown"),
        pytest.param(limits(tcp_rmem="4096 131072 1200000", tcp_mem="500 700 1000"), id="no memory"),
    ],
)
def test_nothing_is_named_where_the_end_that_limits_cannot_be_raised(receiver: dict[str, Any]) -> None:
    """The larger buffer of the other end would change nothing."""
    assert held_by_windows({Setting(8): (4.0, 4.0, 4.0)}, {"a": SENDER, "b": receiver}) == []


def test_no_end_is_raised_further_than_the_other_lets_one_flow_go() -> None:
    receiver = limits(tcp_rmem="4096 131072 500000", tcp_mem="500 700 1500")
    found = held_by_windows({Setting(8): (4.0, 4.0, 4.0)}, {"a": SENDER, "b": receiver})
    # A quarter of 1500 pages, of which half is window: 307 Mbit/s over 20 ms.
    keep = "Keep 8 flows: without, b may let one flow carry no more than about 307 Mbit/s."
    assert [(one.host, one.value) for one in found] == [
        ("a", "4096 16384 1572864"),
        ("b", "4096 131072 1536000"),
    ]
    assert all(one.reason.endswith(keep) for one in found)
    assert "should let about 768 KiB of one flow be in flight, for 307 Mbit/s." in found[0].reason


@pytest.mark.parametrize(
    ("sender", "value", "keep"),
    [
        (limits(), "4096 131072 2097152", "Keep 8 flows: what a lets one flow carry was not recorded."),
        (
            limits(tcp_wmem="4096 16384 1200000", tcp_mem="500 700 1000"),
            "4096 131072 1310720",
            "Keep 8 flows: without, a may let one flow carry no more than about 240 Mbit/s.",
        ),
    ],
)
def test_what_bounds_the_other_end_is_said(sender: dict[str, Any], value: str, keep: str) -> None:
    receiver = limits(tcp_rmem="4096 131072 500000", tcp_mem="1 1 400000")
    (one,) = held_by_windows({Setting(8): (4.0, 4.0, 4.0)}, {"a": sender, "b": receiver})
    assert (one.host, one.value) == ("b", value)
    assert one.reason.endswith(keep)


def test_the_host_that_bounds_has_the_name_that_was_written() -> None:
    made = [replace(one, row=cast("TrialRow", {**one.row, "verdict": "receive window"}))
            for one in finals({Setting(8): (4.0, 4.0, 4.0)})]  # fmt: skip
    hosts = {"a": limits(), "b": limits(tcp_rmem="4096 131072 500000", tcp_mem="1 1 400000")}
    names = {"a": "ssh:near", "b": "ssh:far"}
    (one,) = system_settings({Way.out: decide(Way.out, made)}, made, hosts, ENDS, names=names)
    assert (one.host, one.reason.endswith("what ssh:near lets one flow carry was not recorded.")) == (
        "b",
        True,
    )


def test_all_that_is_in_the_way_is_named_with_the_limits_that_are_raised() -> None:
    off = {"tcp_window_scaling": "0", "tcp_moderate_rcvbuf": "0"}
    hosts = {
        "a": limits(tcp_wmem="4096 16384 4194304", **off),
        "b": limits(tcp_rmem="4096 131072 500000", **off),
    }
    found = held_by_windows({Setting(8): (4.0, 4.0, 4.0)}, hosts)
    assert {(one.host, one.name.removeprefix("net.ipv4."), one.value) for one in found} == {
        ("a", "tcp_window_scaling", "1"),
        ("b", "tcp_window_scaling", "1"),
        ("b", "tcp_moderate_rcvbuf", "1"),
        ("b", "tcp_rmem", "4096 131072 2097152"),
    }
    reasons = {one.name.removeprefix("net.ipv4."): one.reason for one in found}
    assert reasons["tcp_moderate_rcvbuf"] == "Not tried: without it a window stays at its first size."
    assert reasons["tcp_window_scaling"] == "Not tried: without it no window exceeds 65 535 B."


@pytest.mark.parametrize("is_loopback", [False, True])
def test_nothing_of_a_system_follows_from_loopback(*, is_loopback: bool) -> None:
    ends = {Way.out: ENDS[Way.out]}
    found = answer(
        finals({BBR: (2.0, 2.1, 2.0)}),
        rtt_ms=0.04,
        hosts=HOSTS,
        ends=ends,
        hosts_text="[hosts.a]\n[hosts.b]\n",
        spent=(20.0, 10**9),
        is_loopback=is_loopback,
    )
    assert bool(found.system) is not is_loopback
