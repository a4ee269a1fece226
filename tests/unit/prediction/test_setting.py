"""In which settings the model is taken to be as good as where it was compared."""

from dataclasses import replace
from typing import Any

import pytest

from flowsweep.prediction.setting import QUIC_COMPARED, FlowSetting, PathModel

PATH = PathModel(rate_bps=100e6, rtt_s=0.04, queue_bytes=500_000)
SETTING = FlowSetting(PATH, 4, "cubic", None, None, 1448, duration_s=10, omit_s=2)


@pytest.mark.parametrize(
    ("path", "changes"),
    [
        ({"rate_bps": 500e6}, {}),
        ({"rtt_s": 0.2}, {}),
        ({"rtt_s": 0.0}, {}),
        ({"loss": 0.01}, {}),
        ({"queue_bytes": 15_000}, {}),
        ({"queue_bytes": 5_000_000}, {}),
        ({}, {"flows": 9}),
        ({}, {"duration_s": 600}),
        ({}, {"duration_s": 2}),
    ],
)
def test_what_nobody_compared_is_told_apart(path: dict[str, Any], changes: dict[str, Any]) -> None:
    assert SETTING.was_compared
    assert not replace(SETTING, path=replace(PATH, **path), **changes).was_compared


@pytest.mark.parametrize("queue_bytes", [125_000, 1_000_000, 1_001_000])
def test_queues_from_a_quarter_to_twice_the_product_were_compared(queue_bytes: int) -> None:
    assert replace(SETTING, path=replace(PATH, queue_bytes=queue_bytes)).was_compared


def test_less_was_compared_of_quic() -> None:
    quic = replace(SETTING, compared=QUIC_COMPARED)
    assert quic.was_compared
    assert not replace(quic, flows=5).was_compared
    assert not replace(quic, path=replace(PATH, loss=0.001)).was_compared
    assert not replace(quic, path=replace(PATH, rate_bps=200e6, queue_bytes=1_000_000)).was_compared


def test_it_is_said_in_words() -> None:
    assert QUIC_COMPARED.words == (
        "10 to 100 Mbit/s, 10 to 150 ms, queues of 0.25 to 2 times bandwidth × delay, up to 0.0100 % "
        "lost at random, up to 4 flows, trials of 5 to 20 s"
    )
