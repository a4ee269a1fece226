"""Secrets are found where the plan says, and are nowhere else."""

from pathlib import Path

import pytest

from flowsweep.errors import MonitorError
from flowsweep.monitors.secrets import agent_asked
from flowsweep.plan import parse_plan
from flowsweep.plan.model import Plan

PLAN = """
[hosts.a]
[hosts.b]
[monitors.core]
snmp = "192.0.2.1"
interfaces = ["et0"]
{login}
[[sweep]]
paths = [{{ from = "a", to = "b" }}]
"""
V3 = 'version = "3"\nuser = "u"\nauth = {{ env = "A" }}\nprivacy = {{ file = "{file}" }}'


def plan(login: str) -> Plan:
    return parse_plan(PLAN.format(login=login), "plan.toml")


def asked(login: str, **environment: str):
    (monitor,) = plan(login).monitors
    assert monitor.agent is not None
    return agent_asked(monitor, monitor.agent, environment)


def test_they_come_from_environment_and_file(tmp_path: Path) -> None:
    file = tmp_path / "p"
    file.write_text("the privacy password\r\nsecond line\n")
    login = V3.format(file=file)
    found = asked(login, A="the auth password")
    assert (found.auth, found.privacy) == ("the auth password", "the privacy password")
    assert found.port == 161
    kept = plan(login).model_dump_json()
    assert "auth password" not in kept
    assert "privacy password" not in kept
    assert asked('community = { env = "C" }', C="sesame").community == "sesame"


@pytest.mark.parametrize(
    ("login", "words"),
    [
        (
            'community = { env = "C" }',
            r"monitors\.core\.community: the environment variable C is empty or not",
        ),
        ('community = { file = "/no/such" }', r"community: /no/such cannot be read: No such file"),
        (V3.format(file="/dev/null"), r"monitors\.core\.privacy: /dev/null is empty"),
    ],
)
def test_one_that_is_missing_is_named(login: str, words: str) -> None:
    with pytest.raises(MonitorError, match=words):
        asked(login, A="long enough")


def test_a_password_that_version_3_does_not_take_is_not_shown() -> None:
    with pytest.raises(MonitorError, match="a password of 5 characters") as error:
        asked(V3.format(file="/dev/null"), A="short")
    assert "short" not in str(error.value)
