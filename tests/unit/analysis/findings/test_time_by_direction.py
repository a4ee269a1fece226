"""What time did to goodput, where it is told by direction, or directions ran apart."""

import math
from collections.abc import Callable, Sequence
from datetime import timedelta

import numpy as np

from analysis_support import STARTED_AT
from flowsweep.analysis.findings.finding import Finding
from flowsweep.analysis.findings.topics import findings
from synthetic_campaigns import Grid, Row, campaign

MIB = 1 << 20
WINDOWS = (1 * MIB, 2 * MIB, 4 * MIB, 8 * MIB)
Trial = tuple[str, int, int]
"""Source, window and repeat."""


def ran(
    trials: Sequence[Trial],
    *,
    noise: float,
    drift: float = 0.0,
    gap: timedelta = timedelta(minutes=1),
    imported: str | None = "iperf3 x.json",
    seed: int = 1,
    effect: Callable[[Trial, int], float] = lambda *_: 0.0,
) -> list[Row]:
    """Trials in that order; log goodput changes by `drift` from each to the next."""
    windows = tuple(sorted({window for _, window, _ in trials}))
    repeats = max(repeat for _, _, repeat in trials)
    made = campaign(Grid(flows=(1,), window_sums=windows, repeats=repeats, noise=0, block=0), 1)
    of = {(row["src"], row["window_sum_bytes"], row["repeat"]): row for row in made}
    deviations = noise * np.random.default_rng(seed).standard_normal(len(trials))
    rows = []
    for number, (trial, deviation) in enumerate(zip(trials, deviations, strict=True)):
        goodput_bps = 6e8 * math.exp(drift * number + deviation + effect(trial, number))
        rows.append(
            of[trial]
            | {"order_index": number, "trial_id": f"{number:012x}", "imported_from": imported}
            | {"started_at": (STARTED_AT + number * gap).isoformat()}
            | dict.fromkeys(("goodput_bps", "goodput_mean_bps"), goodput_bps)
        )
    return rows


def of_kind(rows: list[Row], *kinds: str) -> list[Finding]:
    return [one for one in findings(rows) if one.kind in kinds]


def test_drifts_that_are_told_by_direction_are_no_effect_of_what_ran_later() -> None:
    """From 20 repeats on a direction is asked by itself; its drift then counted for nothing."""
    trials = [(src, MIB, repeat) for repeat in range(1, 41) for src in "ab"]
    rows = ran(trials, noise=0.02, drift=0.004)
    for number, row in enumerate(rows):
        row.update(dict.fromkeys(("congestion", "congestion_asked"), "cubic" if number < 40 else "bbr"))
        row["repeat"] = number // 2 % 20 + 1
    assert {one.direction for one in of_kind(rows, "drift")} == {"a → b", "b → a"}
    [found] = of_kind(rows, "congestion")
    assert found.decision == "undecided"
    assert "goodput changes by up to" in found.claim


def test_passes_of_directions_that_ran_apart_are_passes() -> None:
    """Each rose from 1 to 8 MiB while goodput drifted: that was "1 MiB did not suffice"."""
    trials = [(src, window, repeat) for src in "ab" for repeat in range(1, 5) for window in WINDOWS]
    found = of_kind(ran(trials, noise=0.003, drift=0.012), "effect", "plateau")
    assert len(found) == 3
    assert {one.decision for one in found} == {"undecided"}


def test_levels_of_which_one_lacks_a_direction_ran_with_all_else_alike() -> None:
    trials = [
        (src, window, repeat)
        for repeat in range(1, 6)
        for window in (MIB, 4 * MIB)
        for src in "ab"
        if (src, window) != ("b", 4 * MIB)
    ]
    rows = ran(trials, noise=0.02, imported=None, effect=lambda trial, _: 0.5 * (trial[1] > MIB))
    [found] = of_kind(rows, "effect")
    assert "is undecided: only one of its levels has trials of both directions that ended well" in found.claim


def test_an_order_of_trials_without_a_counterpart_is_told() -> None:
    trials = [("a", window, repeat) for window in WINDOWS for repeat in range(1, 5)]
    trials += [("b", MIB, repeat) for repeat in range(1, 5)]
    rows = ran(trials, noise=0.003, drift=0.015)
    assert [one.axis for one in of_kind(rows, "order")] == ["window_sum_bytes"]
    for plateau in of_kind(rows, "plateau"):
        assert plateau.decision == "undecided" or "A change over time" in plateau.claim


def test_trials_of_a_direction_on_its_bad_day_are_not_slow_as_well() -> None:
    trials = [(src, window, repeat) for repeat in range(1, 10) for window in WINDOWS[:3] for src in "ab"]
    gap = timedelta(days=1) / 18

    def bad(trial: Trial, number: int) -> float:
        day = (STARTED_AT + number * gap).date() - STARTED_AT.date()
        return math.log(0.48) * (trial[0] == "a" and day == timedelta(days=1))

    rows = ran(trials, noise=0.01, gap=gap, imported=None, effect=bad)
    [day] = of_kind(rows, "days")
    assert day.claim.startswith("a → b: on ")
    assert not of_kind(rows, "stalls")
