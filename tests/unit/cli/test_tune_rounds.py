"""Where the hosts of `flowsweep tune` are, and what a person calls them."""

from collections.abc import Mapping

import pytest

from flowsweep.cli.tune_rounds import Rounds, TuneRequest, begun
from flowsweep.cli.tune_search import _file_of
from flowsweep.tuning.places import Place


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
    ("name", "file"),
    [("ssh:server -p 22", "sysctl-ssh-server-p-22.conf"), ("this machine", "sysctl-this-machine.conf")],
)
def test_files_are_called_like_hosts(name: str, file: str) -> None:
    assert _file_of(Place(name)) == file
