"""What an agent answers to the question for its interfaces is bounded, however it answers."""

import asyncio
from typing import Any

import pytest

from flowsweep.monitors import snmp_agent
from flowsweep.monitors.quantities import IF_NAME
from snmp_support import AGENT

ENOUGH = 5000


def indices(
    monkeypatch: pytest.MonkeyPatch, *answers: list[int], wanted: tuple[str, ...] = ("et0",)
) -> tuple[dict[str, int], int]:
    """The numbers of interfaces that a client finds; the last of the answers is given again and again."""
    asked = 0
    agent = AGENT.model_copy(update={"interfaces": wanted})

    async def bulk_cmd(*_: object, **__: object) -> tuple[Any, Any, Any, Any]:
        nonlocal asked
        asked += 1
        assert asked < ENOUGH, "it is asked for ever"
        numbers = answers[min(asked, len(answers)) - 1]
        rows = [(f"{IF_NAME}.{number}", snmp_agent.snmp.OctetString(f"et{number}")) for number in numbers]
        return None, 0, 0, rows

    async def found() -> dict[str, int]:
        return await snmp_agent.SnmpClient(agent)._found(lambda: None)

    monkeypatch.setattr(snmp_agent.snmp, "bulk_cmd", bulk_cmd)
    return asyncio.run(found()), asked


@pytest.mark.parametrize("answers", [([1, 2], [1, 2]), ([1, 2], [4, 3], [5, 4]), ([2, 1],), ([7],)], ids=repr)
def test_an_agent_whose_numbers_do_not_increase_is_not_asked_for_ever(
    answers: tuple[list[int], ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(snmp_agent.AgentSilentError, match="its OIDs do not increase"):
        indices(monkeypatch, *answers)


def test_an_agent_that_is_at_its_end_is_not_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    assert indices(monkeypatch, [0, 9], [10], [], wanted=("et0", "et10")) == ({"et0": 0, "et10": 10}, 2)
    with pytest.raises(snmp_agent.AgentSilentError, match="has no interface et3; it has et0, et9"):
        indices(monkeypatch, [0, 9], [], [11], wanted=("et3",))


def test_what_is_not_among_the_first_interfaces_is_not_said_to_be_absent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    many = [list(range(start, start + 25)) for start in range(0, 5000, 25)]
    said = "has no interface et4999 among its first 4100: no more are looked through"
    with pytest.raises(snmp_agent.AgentSilentError, match=said):
        indices(monkeypatch, *many, wanted=("et0", "et4999"))


def test_an_agent_is_asked_until_all_interfaces_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    many = [list(range(start, start + 25)) for start in range(0, 1000, 25)]
    assert indices(monkeypatch, *many, wanted=("et60", "et3")) == ({"et60": 60, "et3": 3}, 3)
