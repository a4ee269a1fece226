"""How long a campaign waits for hosts that are away."""

import asyncio
from collections.abc import Mapping

import pytest

from fake_engine import FakeNetwork, access
from flowsweep.errors import LaunchError
from flowsweep.hosts.messages import HostFacts
from flowsweep.run.sessions import Patience, Sessions
from virtual_time import VirtualTimeLoop


def test_hosts_that_were_away_at_the_start_are_tried_once_by_each_trial() -> None:
    """Each was waited for at its first slot, one after the other, while slots of all others were due."""
    network = FakeNetwork(unreachable={"b": 2, "c": 100})

    async def nothing(_: Mapping[str, HostFacts]) -> None:
        pass

    async def waited() -> float:
        accesses = {name: access(name) for name in "abc"}
        sessions = Sessions(accesses, network.connect, lambda _: None, Patience(), nothing)
        away = await sessions.open_all(enough=lambda hosts: "a" in hosts)
        assert [one.host for one in away] == ["b", "c"]
        begun_s = asyncio.get_running_loop().time()
        for host in "bcc":
            with pytest.raises(LaunchError, match=f"host {host}"):
                await sessions.session_with(host)
        assert network.log == ["open a"]
        assert (await sessions.session_with("b")).engine is network.sessions[-1]
        return asyncio.get_running_loop().time() - begun_s

    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        assert runner.run(waited()) == 0.0
    assert network.unreachable == {"b": 0, "c": 97}
