"""What is said of a host that cannot be had: all of the reason, and what to do only where that may help."""

import asyncio
from dataclasses import replace

import pytest

from fake_engine import FakeNetwork, FakeSession, access
from flowsweep.cli.tune_rounds import _as_written
from flowsweep.errors import LaunchError, SessionError
from flowsweep.hosts.access import HostAccess
from flowsweep.run.conductor import Conditions, run_campaign
from flowsweep.run.host_checks import look_at_hosts
from flowsweep.run.sessions import Patience
from run_support import HOSTS, ListRecorder, campaign

ADVICE = "see that `ssh b true` works here without a question"
AWAY = SessionError("b", "the session ended (exit status 255)", ADVICE)


@pytest.mark.parametrize(
    ("error", "engine", "to_do"),
    [
        (AWAY, None, ADVICE),
        (SessionError("b", "it speaks another protocol"), None, ""),
        (LaunchError("b", "cannot start `ssh`", ADVICE), None, ADVICE),
        (LaunchError("b", "it is Linux riscv64"), None, ""),
        (LaunchError("b", "it is Linux riscv64"), "/opt/engine", "install an engine of version"),
    ],
)
def test_ssh_is_to_be_tried_only_where_it_may_have_failed(
    error: LaunchError | SessionError, engine: str | None, to_do: str
) -> None:
    async def connect(host: HostAccess) -> FakeSession:
        del host
        raise error

    far = replace(access("b", launch=("ssh", "b")), engine=engine)
    (check,) = asyncio.run(look_at_hosts([], {"b": far}, connect))
    assert (check.status, check.found) == ("problem", error.reason)
    assert check.advice.startswith(to_do)
    assert bool(check.advice) == bool(to_do)
    assert ("ssh" in check.advice) == (to_do == ADVICE)


def test_a_trial_whose_host_is_away_keeps_what_to_do() -> None:
    network, recorder = FakeNetwork(mishaps={("b", 1): "dies"}), ListRecorder()

    async def connect(host: HostAccess) -> FakeSession:
        if host.name == "b" and any(session.host == "b" for session in network.sessions):
            raise AWAY
        return await network.connect(host)

    conditions = Conditions(connect, Patience(0.001, 0.0))
    asyncio.run(run_campaign(campaign(2), HOSTS, recorder, conditions=conditions))
    failure = recorder.outcomes[-1].record.failure
    assert failure is not None
    assert failure.kind == "host_unreachable"
    assert failure.message == f"the session ended (exit status 255); {ADVICE}"


def test_tune_calls_a_host_what_a_person_wrote_and_keeps_what_to_do() -> None:
    with pytest.raises(SessionError) as told, _as_written({"b": "ssh:b"}):
        raise AWAY
    assert str(told.value) == f"host ssh:b: the session ended (exit status 255); {ADVICE}"
    with pytest.raises(LaunchError, match=r"^host ssh:b: no engine$"), _as_written({"b": "ssh:b"}):
        raise LaunchError("b", "no engine")
