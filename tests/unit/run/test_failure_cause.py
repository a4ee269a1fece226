"""Which of the failures that two ends tell of is the cause of the others."""

from types import SimpleNamespace
from typing import Any

import pytest

from flowsweep.run.failure_cause import cause_of
from flowsweep.run.outcome import Failure


def broken(host: str, message: str) -> Failure:
    return Failure(phase="run", host=host, kind="broken", message=message)


@pytest.mark.parametrize("error", ["Broken pipe (os error 32)", "Connection reset by peer (os error 104)"])
@pytest.mark.parametrize("first", ["left", "right", None])
def test_a_connection_whose_other_end_is_gone_does_not_say_why(error: str, first: str | None) -> None:
    failures = {
        "left": broken("left", f"flow 0 broke after 9 B: {error}"),
        "right": broken("right", "flow 0 broke after 9 B: cannot write file 0: No space left (os error 28)"),
    }
    ends = [SimpleNamespace(trouble=None, incomplete=failure) for failure in failures.values()]
    pairs: list[Any] = [SimpleNamespace(ends=ends)]
    assert cause_of(None if first is None else failures[first], pairs) is failures["right"]


def test_it_is_the_cause_where_nobody_says_more() -> None:
    failure = broken("left", "flow 0 broke after 9 B: Broken pipe (os error 32)")
    end = SimpleNamespace(trouble=None, incomplete=failure)
    pairs: list[Any] = [SimpleNamespace(ends=[end])]
    assert cause_of(None, pairs) is failure
