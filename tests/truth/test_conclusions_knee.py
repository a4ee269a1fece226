"""What is concluded of knees, plateaus and declines, in campaigns of known truth and of emulated paths."""

import json
import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from truth_support import NOTES, chance, in_processes, write_result

from flowsweep.analysis.findings.direction import direction_hypotheses
from flowsweep.analysis.findings.finding import Finding
from flowsweep.analysis.findings.multiple_testing import decided
from flowsweep.analysis.findings.plateau.hypotheses import plateau_hypotheses
from flowsweep.analysis.findings.topics import findings
from flowsweep.analysis.statistics.observations import observations
from response_campaigns import SHAPES, flows_apart, holds, plateau_of_rows, recorded_rows, shoulder
from synthetic_campaigns import KIB, Grid, Row, campaign, heavy_tailed

SHOULDERS, NOTHING = 1_000, 800
CHUNK = 80
NOISES = (0.003, 0.01, 0.03)
COVERAGE, FALSE, POWER = 0.9, 0.05, 0.9
_KINDS = frozenset({"plateau", "dip", "decline", "direction", "flows"})
SUMS = tuple(KIB * size for size in (32, 64, 128, 256, 512, 1024))


@dataclass(frozen=True)
class Case:
    """Campaigns of one kind, and which findings of theirs are claims."""

    name: str
    grid: Grid
    asked: Callable[[list[Row]], list[Finding]]
    claimed: Callable[[list[Finding]], bool]
    campaigns: int = 400


def all_findings(rows: list[Row]) -> list[Finding]:
    return [each for each in findings(rows) if each.kind in _KINDS]


def of_windows(rows: list[Row]) -> list[Finding]:
    [observed] = observations(rows)
    return [each for each in decided(plateau_hypotheses(observed)) if each.axis == "window_sum_bytes"]


def of_directions(rows: list[Row]) -> list[Finding]:
    [observed] = observations(rows)
    return decided(direction_hypotheses(observed))


def any_effect(told: list[Finding]) -> bool:
    return any(each.decision == "effect" for each in told)


def any_decline(told: list[Finding]) -> bool:
    return any(each.decision == "effect" and each.kind == "decline" for each in told)


def told_apart(told: list[Finding]) -> bool:
    return sum(each.kind == "plateau" for each in told) == 2


def rising(row: Row) -> float:
    return min(0.0, math.log(row["window_sum_bytes"] / (128 * KIB)))


def unlike_round_trips(row: Row) -> float:
    return min(0.0, math.log(row["window_sum_bytes"] / (300 * KIB if row["dst"] == "b" else 200 * KIB)))


def falling(row: Row) -> float:
    """By three standard deviations, at the largest window."""
    return -0.09 if row["window_sum_bytes"] > 3000 * KIB else 0.0


def dipping(row: Row) -> float:
    return -0.3 if SUMS.index(row["window_sum_bytes"]) == 3 else 0.0


def uneven(row: Row) -> float:
    return (0.1, 0.5, 1.0, 2.0)[round(math.log2(row["window_sum_bytes"] / (512 * KIB)))]


ONE_WAY = Grid(flows=(1,), window_sums=SUMS, directions=(("a", "b"),), noise=0.03)
UNTRUE = (
    Case("nothing to find", Grid(), all_findings, any_effect, NOTHING),
    Case("nothing to find, heavy tails", Grid(draw=heavy_tailed), all_findings, any_effect, NOTHING),
    Case("nothing to find, uneven noise", Grid(noise_of=uneven), all_findings, any_effect),
    Case("a dip is no decline", replace(ONE_WAY, effect=dipping), of_windows, any_decline),
    Case("a plateau is no decline", replace(ONE_WAY, effect=rising), of_windows, any_decline),
    Case("flows alike are one", replace(ONE_WAY, flows=(1, 4), effect=rising), of_windows, told_apart),
    Case(
        "directions alike but for their round trip",
        replace(ONE_WAY, directions=(("a", "b"), ("b", "a")), effect=unlike_round_trips),
        of_directions, any_effect,
    ),
)  # fmt: skip
"""What is claimed in them is false."""
TRUE = (
    Case("decline of 3 sd, 120 trials", Grid(effect=falling), all_findings, any_decline),
    Case("four flows go further", flows_apart(), of_windows, told_apart),
)
SMALL = Case(
    "decline of 3 sd, six windows of three repeats",
    replace(ONE_WAY, effect=lambda row: -0.09 * (row["window_sum_bytes"] == SUMS[-1])),
    of_windows, any_decline,
)  # fmt: skip
"""Recorded, not required."""
CASES = (*UNTRUE, *TRUE, SMALL)


def test_conclusions_of_knees() -> None:
    paths = of_emulated_paths()
    shoulders = of_shoulders()
    cases = {case.name: count(place) / case.campaigns for place, case in enumerate(CASES)}
    write_result(
        "conclusions-knee", "intervals of the knee, plateaus that differ, declines, directions",
        {"emulated paths": paths, "shoulders": shoulders, "claims, share of campaigns": cases},
    )  # fmt: skip
    assert paths["usable holds the truth"] >= COVERAGE * paths["settings"]
    assert paths["requested holds the truth"] >= COVERAGE * paths["settings"]
    assert paths["an end at or below an insufficient level"] == 0
    assert all(told["held"] >= COVERAGE * told["campaigns"] for told in shoulders.values()), shoulders
    at_most = {case.name: FALSE + chance(FALSE, case.campaigns) / case.campaigns for case in UNTRUE}
    assert all(cases[name] <= most for name, most in at_most.items()), cases
    assert all(cases[case.name] >= POWER for case in TRUE), cases


def of_emulated_paths() -> dict[str, int]:
    """Count of the settings in plateau.toml what ten windows between theirs, measured apart, bear out."""
    coarse, dense = (
        json.loads((NOTES / f"{name}.json").read_text(encoding="utf-8"))["settings"]
        for name in ("plateau", "knee-between")
    )
    told: Counter[str] = Counter(settings=len(coarse))
    for setting, between in zip(coarse, dense, strict=True):
        plateau = plateau_of_rows(recorded_rows(setting))
        knee = plateau.knee
        assert knee is not None
        lower, upper = knee.usable_low or 0.0, knee.usable_high or math.inf
        told["usable holds the truth"] += lower <= between["enough_usable_bytes"] <= upper
        requested = between["enough_requested_bytes"]
        told["requested holds the truth"] += (knee.low or 0.0) <= requested <= (knee.high or math.inf)
        told["usable holds bandwidth × delay"] += lower <= setting["product_bytes"] <= upper
        told["bandwidth × delay is not enough"] += setting["product_bytes"] < between["enough_usable_bytes"]
        told["with an upper end"] += knee.high is not None
        below = plateau.found.earliest - 1
        told["an end at or below an insufficient level"] += (
            below >= 0 and (knee.low or 0.0) <= plateau.means.levels[below]
        )
    return dict(told)


def of_shoulders() -> dict[str, dict[str, int]]:
    told = {}
    for shape in SHAPES:
        starts = range(0, SHOULDERS // len(SHAPES), CHUNK)
        told[shape] = dict(sum(in_processes(partial(some_shoulders, shape), starts), Counter()))
    return told


def some_shoulders(shape: str, start: int) -> Counter[str]:
    told: Counter[str] = Counter()
    for seed in range(start, start + CHUNK):
        rows, truth = shoulder(SHAPES[shape], seed, noise=NOISES[seed % len(NOISES)])
        plateau = plateau_of_rows(rows)
        told["campaigns"] += 1
        told["held"] += holds(plateau, truth)
        told["with an upper end"] += plateau.knee is not None and plateau.knee.high is not None
        told["estimate within 10 %"] += (
            plateau.knee is not None and abs(plateau.knee.requested / truth - 1) <= 0.1
        )
    return told


def count(place: int) -> int:
    starts = range(0, CASES[place].campaigns, CHUNK)
    return sum(in_processes(partial(count_some, place), starts))


def count_some(place: int, start: int) -> int:
    case = CASES[place]
    return sum(
        case.claimed(case.asked(campaign(case.grid, (place, seed)))) for seed in range(start, start + CHUNK)
    )
