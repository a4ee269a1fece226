"""What HOST and addresses are refused with, and how they get into the plan that a command writes."""

import tomllib

import pytest

from flowsweep.cli.far_host import far_host, near_host, toml_string
from flowsweep.errors import PlanError
from invoked import invoke


@pytest.fixture(autouse=True)
def ssh_without_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets ssh take its destination for a name, or know one of them by another."""

    def host_name(launch: list[str]) -> str:
        name = launch[-1].rpartition("@")[2]
        return "192.0.2.7" if name == "alias:7" else name

    monkeypatch.setattr("flowsweep.cli.far_host.host_name", host_name)


def refusal(host: str, address: str | None = None) -> str:
    with pytest.raises(PlanError) as raised:
        far_host(host, address)
    (problem,) = raised.value.problems
    return problem


@pytest.mark.parametrize(
    ("host", "hint"),
    [
        ("ssh:user@server:2222", "; for a port of SSH: 'ssh:-p 2222 user@server'"),
        ("ssh:-v server:2222", "; for a port of SSH: 'ssh:-p PORT DESTINATION'"),
        ("user@server:2222", "; for a port of SSH: 'ssh:-p 2222 user@server'"),
        ("ssh://user@server:2222", "; for a URL of SSH: ssh:ssh://user@server:2222"),
        ("ssh://server", "; for a URL of SSH: ssh:ssh://server"),
    ],
)
def test_a_port_of_ssh_is_answered_with_how_it_is_written(host: str, hint: str) -> None:
    said = refusal(host)
    assert said.startswith(f"HOST: found {host!r}, ")
    assert said.endswith(hint)


@pytest.mark.parametrize("host", ["", " "])
def test_no_host_is_no_name_of_another_machine(host: str) -> None:
    """It was told to write `ssh:`, which is refused, too."""
    expected = "expected local, ssh:DESTINATION, netns:NAME or exec:COMMAND"
    assert refusal(host) == f"HOST: found {host!r}, {expected}"


@pytest.mark.parametrize(
    ("host", "address"),
    [("ssh:alias:7", "192.0.2.7"), ("ssh:fe80::1", "fe80::1"), ("ssh:-p 2222 user@server", "server")],
)
def test_what_ssh_knows_is_no_port(host: str, address: str) -> None:
    assert tomllib.loads(f"it = {far_host(host, None)['address']}") == {"it": address}


def test_the_near_host_is_told_the_same() -> None:
    with pytest.raises(PlanError, match=r"--from: found 'ssh://a', .*; for a URL of SSH: ssh:ssh://a"):
        near_host("ssh://a")


@pytest.mark.parametrize("address", ["a\x7f", "a\x01b"])
def test_an_address_with_control_characters_is_told_as_one(address: str) -> None:
    assert refusal("exec:true", address) == (
        f"--address: found {address!r}, which has control characters; expected a host name or an IP address"
    )


@pytest.mark.parametrize("text", ["/data/\x7f", '"\\', "\x00\x1f\x7f\x80", "é📦"])
def test_any_text_is_the_same_in_a_plan(text: str) -> None:
    assert tomllib.loads(f"it = {toml_string(text)}") == {"it": text}


def test_folders_and_launchers_of_any_characters_are_written_into_the_plan(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found: list[str] = []
    monkeypatch.setattr("flowsweep.cli.one_trial.parse_plan", lambda text, *_, **__: found.append(text))
    invoke("file", "exec:run 'a\x7fb'", "--address", "::1", "--folder", "/a\x7f:/b\t")
    hosts = tomllib.loads(found[0])["hosts"]
    assert (hosts["here"]["folder"], hosts["there"]["folder"]) == ("/a\x7f", "/b\t")
    assert hosts["there"]["launch"] == ["run", "a\x7fb"]
