"""Where the hosts of `flowsweep tune` are, and what a person calls them."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from analysis_support import make_failed
from flowsweep.cli.far_host import COMMAND_LINE
from flowsweep.cli.stopping import stopped_by_signals
from flowsweep.cli.tune_rounds import Rounds, TuneRequest, begun
from flowsweep.cli.tune_search import _file_of, _files_of, _write_page
from flowsweep.defaults import SECOND_NS
from flowsweep.errors import LaunchError
from flowsweep.plan import parse_plan
from flowsweep.run.outcome import Failure
from flowsweep.schedule import schedule
from flowsweep.tuning.advise import SystemSetting, how_to_set
from flowsweep.tuning.places import Place
from flowsweep.tuning.plans import round_plan, round_trip_plan
from flowsweep.tuning.rounds import Round, timing
from flowsweep.tuning.settings import Setting, Way
from tuned_answers import found


def rounds(host: str, address: str, devices: Mapping[str, str]) -> Rounds:
    """Before anything ran, with the routes that the near host has told."""
    made = begun(TuneRequest(host, None, address, "80s", verify=False, as_json=False, save=None, report=None))
    routes = {to: {"address": to, "device": device} for to, device in devices.items()}
    made.facts["here"] = {"routes": routes}
    return made


@pytest.mark.parametrize(
    ("host", "devices", "is_loopback"),
    [
        ("local", {}, True),
        ("ssh:localhost", {"127.0.0.1": "lo", "::1": "lo"}, True),
        ("ssh:server", {"192.0.2.1": "lo"}, True),
        ("ssh:server", {"192.0.2.1": "eth0"}, False),
        ("ssh:server", {}, False),
    ],
)
def test_both_ends_are_the_same_machine_where_the_way_is_its_loopback(
    host: str, devices: Mapping[str, str], *, is_loopback: bool
) -> None:
    assert rounds(host, "192.0.2.1", devices).is_loopback is is_loopback


def test_hosts_are_called_what_a_person_wrote() -> None:
    places = rounds("netns:b", "192.0.2.1", {}).places
    assert {host: place.name for host, place in places.items()} == {
        "here": "this machine",
        "there": "netns:b",
    }


@pytest.mark.parametrize(
    ("sysctls", "seen"),
    [({}, None), ({"net.ipv4.tcp_rmem": "1 2 3"}, True), ({"net.core.netdev_max_backlog": "1000"}, False)],
)
def test_a_host_that_told_nothing_is_no_machine_yet(sysctls: Mapping[str, str], *, seen: bool | None) -> None:
    made = rounds("ssh:server", "192.0.2.1", {})
    made.facts["there"] = {"sysctls": sysctls}
    assert made.places["there"].seen_as_namespace is seen


def test_failures_are_of_hosts_as_a_person_wrote_them() -> None:
    made = rounds("ssh:server", "192.0.2.1", {})
    failure = Failure(phase="prepare", host="there", kind="window_clipped", message="too small")
    made._note("out-1-flow", failure)
    made._note("out-1-flow-bbr", failure.model_copy(update={"kind": "congestion_forbidden"}))
    assert made.failures == ["out-1-flow: prepare on ssh:server: too small"]
    assert made.left_out == ["on ssh:server, too small"]


def test_where_no_host_answers_no_folder_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def run_campaign(*_: object, **__: object) -> None:
        raise LaunchError("there", "the engine did not start")

    monkeypatch.setattr("flowsweep.cli.tune_rounds.run_campaign", run_campaign)
    save = tmp_path / "above" / "kept"
    made = begun(TuneRequest("local", None, None, "80s", verify=False, as_json=True, save=save, report=None))
    with stopped_by_signals() as stopper, pytest.raises(LaunchError):
        made.run("round trip", round_trip_plan(made.hosts_text, made.ends), stopper)
    assert not list(tmp_path.iterdir())


OF_ALL = {"net.ipv4.tcp_rmem": "4096 131072 6291456"}


@pytest.mark.parametrize(
    ("sysctls", "has_file"),
    [(OF_ALL, False), (OF_ALL | {"net.core.netdev_max_backlog": "1000"}, True), ({}, True)],
)
def test_a_host_without_what_only_machines_have_is_a_namespace(
    sysctls: Mapping[str, str], *, has_file: bool
) -> None:
    made = rounds("ssh:server", "192.0.2.1", {})
    made.facts |= {host: {"sysctls": sysctls} for host in ("here", "there")}
    assert {host: place.has_file for host, place in made.places.items()} == {
        "here": has_file,
        "there": has_file,
    }


@pytest.mark.parametrize(
    ("name", "file"),
    [("ssh:server -p 22", "sysctl-ssh-server-p-22.conf"), ("this machine", "sysctl-this-machine.conf")],
)
def test_files_are_called_like_hosts(name: str, file: str) -> None:
    assert _file_of(Place(name)) == file


@pytest.mark.parametrize(
    ("launch", "line"),
    [
        ((), "# box"),
        (
            ("docker", "exec", "-i", "c"),
            "# for the machine of box, whose network it shares: counts for all of that machine",
        ),
    ],
)
def test_files_begin_with_whose_settings_they_are(launch: tuple[str, ...], line: str, tmp_path: Path) -> None:
    place = Place("box", launch, seen_as_namespace=False)
    how = how_to_set([SystemSetting("there", "net.ipv4.tcp_rmem", "1 2 4", "1 2 3", "")], {"there": place})
    made = begun(
        TuneRequest("local", None, None, "1GB", verify=False, as_json=False, save=tmp_path, report=None)
    )
    ((path, text),) = _files_of(
        made, replace(found(eight=[2.0, 2.1, 2.2], two=[0.8, 0.81, 0.8]), plan=None, how=how)
    )
    assert (path.name, text.splitlines()[0]) == ("sysctl-box.conf", line)


def test_files_of_two_hosts_have_two_names_that_any_file_system_takes() -> None:
    first = _file_of(Place("ssh:\u00e4"))
    assert (first, _file_of(Place("ssh:\u00f6"), {first})) == ("sysctl-ssh.conf", "sysctl-ssh-2.conf")
    long = [Place(f"ssh:-o ProxyCommand={300 * 'x'} {host}") for host in ("a", "b")]
    names = [_file_of(long[0])]
    names.append(_file_of(long[1], names))
    assert len(set(names)) == 2
    assert max(map(len, names)) < 120


@pytest.mark.parametrize(
    ("phase", "charged"), [("prepare", 0), ("connect", 0), ("run", 1_100_000), ("report", 1_100_000)]
)
def test_a_trial_without_data_takes_what_it_may_have_sent(phase: str, charged: int) -> None:
    """8 Mbit/s for a second and what a source sends beyond it: more than that no flow was let send."""
    made = begun(TuneRequest("local", None, None, "1GB", verify=False, as_json=False, save=None, report=None))
    asked = Round("finals", {Way.out: (Setting(4),)}, 1, timing(SECOND_NS, 20.0), cap_bps=8_000_000)
    plan = parse_plan(round_plan(asked, made.hosts_text, made.ends), COMMAND_LINE, {})
    ((trial,),) = (slot.trials for slot in schedule(plan, 1))
    failed = make_failed(trial)
    failure = Failure(phase=phase, host="here", kind="session_lost", message="the session was lost")
    made._spend([replace(failed, record=failed.record.model_copy(update={"failure": failure}))])
    assert made.left.traffic_bytes is not None
    assert 10**9 - made.left.traffic_bytes == pytest.approx(charged, rel=1e-3)
    assert made.traffic_bytes == 0


def test_the_page_has_what_is_printed_of_failures(tmp_path: Path) -> None:
    made = rounds("ssh:server", "192.0.2.1", {})
    made.request = replace(made.request, report=tmp_path / "page.html")
    made.failures, made.left_out = ["the verification did not end: SIGINT"], ["on ssh:server, no bbr"]
    _write_page(made, found(eight=[2.0, 2.1, 2.2], two=[0.8, 0.81, 0.8]))
    page = (tmp_path / "page.html").read_text(encoding="utf-8").replace("\u00a0", " ")
    assert "Failed: the verification did not end: SIGINT" in page
    assert "Left out: on ssh:server, no bbr" in page
