"""Waiting for what nothing announces."""

import time
from collections.abc import Callable

LOOKS_EVERY_S = 0.01


def wait_until(condition: Callable[[], bool], *, timeout_s: float = 180) -> None:
    """Poll until something outside this process has happened; fail after a while."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(LOOKS_EVERY_S)
