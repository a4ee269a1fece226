"""Which of a test's parameters `make test` tries; `make long` tries the others."""

from collections.abc import Iterable
from typing import Any

import pytest


def long_but_for(*short: str, of: Iterable[str]) -> list[Any]:
    """Parameters, of which all but some are marked long."""
    return [pytest.param(name, marks=[] if name in short else pytest.mark.long) for name in of]


def long_after(count: int, *, of: Iterable[Any]) -> list[Any]:
    """Parameters, of which all but the first few are marked long."""
    return [pytest.param(one, marks=[] if at < count else pytest.mark.long) for at, one in enumerate(of)]
