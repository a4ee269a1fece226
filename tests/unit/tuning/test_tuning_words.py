"""What an answer says limits a transfer, for each verdict that a trial of it can have."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import pytest

from flowsweep.analysis.verdicts import LOSS, NOT_CLEAR, QUEUE
from flowsweep.tuning.answer import Direction, answer
from flowsweep.tuning.settings import TODAY, Setting, Way
from flowsweep.tuning.words import now_sentence, sentences
from tuned_paths import ENDS, PATHS, tried

if TYPE_CHECKING:
    from flowsweep.analysis.summarising.trial_row import TrialRow


def direction(*verdicts: str, **more: Any) -> Direction:
    made = []
    for way in Way:
        for block, verdict in enumerate(verdicts):
            for setting in (TODAY, Setting(2)):
                one = tried(way, setting, 1e8, PATHS[0], block=block)
                row = {**one.row, "verdict": verdict, "congestion": "cubic", **more}
                made.append(replace(one, row=cast("TrialRow", row)))
    found = answer(made, rtt_ms=20.0, hosts={}, ends=ENDS, hosts_text="", spent=(1.0, 1))
    return found.directions[0]


@pytest.mark.parametrize(
    ("verdict", "said"),
    [
        ("send window", "the send window limits it"),
        ("receive window", "the receive window limits it"),
        (LOSS, "the congestion window, held down by loss, limits it"),
        (QUEUE, "the path itself limits it"),
        ("sender CPU", "the sender's CPU limits it"),
        ("receiver CPU", "the receiver's CPU limits it"),
        ("application rate", "the rate that --budget leaves limits it"),
        ("host drops", "what the hosts drop limits it"),
        (NOT_CLEAR, "it is not clear what limits it"),
    ],
)
def test_each_verdict_has_a_sentence(verdict: str, said: str) -> None:
    assert now_sentence(direction(verdict)) == f"Today 1 flow (cubic) carries 100 Mbit/s; {said}."


def test_losses_are_not_put_on_a_congestion_window_that_was_not_full() -> None:
    assert now_sentence(direction(LOSS, limit_cwnd_share=0.0)).endswith("; loss limits it.")


def test_nothing_to_gain_is_said_of_what_was_tried() -> None:
    told = list(sentences(direction("receive window", "receive window", "receive window")))[-1]
    assert told == (
        "Nothing to set: nothing is to be gained. Measured again, the only other setting gained "
        "nothing (95 %)."
    )


def test_what_does_not_limit_all_trials_is_said_of_those_that_it_does() -> None:
    told = now_sentence(direction("receive window", "receive window", NOT_CLEAR))
    assert told.endswith("; the receive window limits it in 2 of 3 trials.")
