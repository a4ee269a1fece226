"""A trial that carries nothing failed, in each line of an answer."""

from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import pytest

from flowsweep.tuning.answer import Answer, answer, as_json
from flowsweep.tuning.rounds import Round, Tried, timing
from flowsweep.tuning.settings import TODAY, Setting, Way
from flowsweep.tuning.words import now_sentence, sentences, tried_lines
from tuned_paths import ENDS, PATHS, tried

if TYPE_CHECKING:
    from flowsweep.analysis.summarising.trial_row import TrialRow

BLOCKS = 12
EIGHT = Setting(8)


def told(stalled: Collection[tuple[Setting, int]]) -> Answer:
    """Eight flows carry four times as much; some trials carry nothing, and end well."""
    made: list[Tried] = []
    for way in Way:
        for block in range(BLOCKS):
            for setting, bps in ((TODAY, 1e8), (EIGHT, 4e8)):
                stalls = (setting, block) in stalled
                one = tried(way, setting, 0.0 if stalls else bps * (1 + block / 1e4), PATHS[0], block=block)
                row = {
                    **one.row,
                    "congestion": "cubic",
                    "verdict": "host drops" if stalls else "receive window",
                }
                made.append(replace(one, row=cast("TrialRow", row)))
    finals = Round("finals", dict.fromkeys(Way, (TODAY, EIGHT)), BLOCKS, timing(1_500_000_000, 20.0))
    common: dict[str, Any] = {"hosts": {}, "ends": ENDS, "hosts_text": "", "spent": (1.0, 1)}
    return answer(made, rtt_ms=20.0, rounds=[finals], **common)


def test_a_stalled_trial_of_a_setting_has_failed_in_all_lines() -> None:
    one = told([(EIGHT, 3)]).directions[0]
    assert "it failed in 1 of 12." in list(sentences(one))[1]
    assert next(iter(tried_lines(one))) == ("8 flows", "400 Mbit/s", "11 trials, 1 more failed")
    (eight, today) = as_json(told([(EIGHT, 3)]))["directions"][0]["tried"]
    assert (eight["trials"], eight["failed"]) == (11, 1)
    assert eight["goodput_bps"] == pytest.approx(4e8, rel=0.01)
    assert (today["trials"], today["failed"]) == (12, 0)


def test_a_stalled_trial_of_today_is_none_that_anything_limits() -> None:
    one = told([(TODAY, 0), (TODAY, 5)]).directions[0]
    assert now_sentence(one) == "Today 1 flow (cubic) carries 100 Mbit/s; the receive window limits it."
    assert (one.today_trials, one.failed) == (10, {TODAY: 2})
    assert list(tried_lines(one))[1] == ("1 flow", "100 Mbit/s", "10 trials, 2 more failed")
