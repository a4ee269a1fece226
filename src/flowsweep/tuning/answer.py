"""What a search comes to: for people, programs and pages alike."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from flowsweep.analysis.findings.advice import HostFacts
from flowsweep.analysis.findings.verdict import limiting_words
from flowsweep.analysis.verdicts import NOT_CLEAR
from flowsweep.tuning.advise import SystemSetting, sysctl_files, system_settings
from flowsweep.tuning.decide import Decision, Gain, decide, goodput_bps, latency_ms
from flowsweep.tuning.plans import Ends, recommended_plan
from flowsweep.tuning.rounds import Tried, of_way
from flowsweep.tuning.settings import TODAY, Setting
from flowsweep.tuning.tools import ToolAdvice, tools


@dataclass(frozen=True, slots=True)
class Direction:
    """What one direction came to."""

    src: str
    dst: str
    decision: Decision
    today_bps: float
    """Mean of all trials of today's setting."""
    congestion: str | None
    """That they had."""
    best_bps: float
    """Mean of the best setting of the finals: what the path is known to carry."""
    verdict: str
    """What limited most of today's trials."""
    limiting: str
    """The same, as exactly as these trials tell, before "limits it"; empty where it is not clear."""
    limited_trials: int
    """How many of today's trials that is said of."""
    today_trials: int
    latency_today_ms: tuple[float | None, float | None]
    """Median and 95th percentile of the round trip under load, in the last round."""
    latency_chosen_ms: tuple[float | None, float | None] | None
    tried: Mapping[Setting, tuple[float, int]]
    """Mean goodput (bit/s) and trials of each setting, the best first."""
    tools: tuple[ToolAdvice, ...]
    verified: Gain | None = None
    """Measured once more, after the choice."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What both directions came to."""

    rtt_ms: float
    """Of the idle path, median."""
    directions: tuple[Direction, ...]
    system: tuple[SystemSetting, ...]
    plan: str | None
    """Repeats the recommendation beside today's setting; absent if there is none."""
    traffic_s: float
    traffic_bytes: int
    is_loopback: bool = False
    """Both ends are this machine: no setting of a system follows from that."""


def answer(
    tried: Sequence[Tried],
    *,
    rtt_ms: float,
    hosts: HostFacts,
    ends: Ends,
    hosts_text: str,
    spent: tuple[float, int],
    is_loopback: bool = False,
) -> Answer:
    """Decide on each direction, and say what follows.

    Args:
        tried: All trials of a search, finals included.
        rtt_ms: Round trip of the idle path.
        hosts: What was recorded of the hosts.
        ends: Source and sink of each direction.
        hosts_text: The `[hosts]` tables of a plan.
        spent: Seconds and bytes of traffic.
        is_loopback: Both ends are this machine.
    """
    decisions = {way: decide(way, of_way(tried, way, "finals")) for way in ends}
    return Answer(
        rtt_ms,
        tuple(_direction(decisions[way], of_way(tried, way), ends[way]) for way in ends),
        () if is_loopback else system_settings(decisions, tried, hosts, ends),
        recommended_plan(decisions, hosts_text, ends),
        *spent,
        is_loopback=is_loopback,
    )


def as_json(found: Answer) -> dict[str, Any]:
    """The answer as JSON has it; units are in the names."""
    return {
        "rtt_ms": found.rtt_ms,
        "traffic_s": found.traffic_s,
        "traffic_bytes": found.traffic_bytes,
        "directions": [_direction_json(one) for one in found.directions],
        "system_settings": [asdict(one) for one in found.system],
        "sysctl_d": sysctl_files(found.system),
        "is_loopback": found.is_loopback,
        "plan": found.plan,
    }


def _direction(decision: Decision, tried: Sequence[Tried], ends: tuple[str, str]) -> Direction:
    finals = [one for one in tried if one.stage == "finals"]
    means = goodput_bps(one for one in tried if one.stage != "verification")
    counts = Counter(one.setting for one in tried if one.stage != "verification")
    today = [one.row for one in tried if one.setting == TODAY]
    verdict, limited = Counter(row["verdict"] or NOT_CLEAR for row in today).most_common(1)[0]
    own = [row for row in today if row["verdict"] == verdict]
    chosen = None if decision.chosen is None else decision.chosen.setting
    again = decide(decision.way, [one for one in tried if one.stage == "verification"]).gains
    return Direction(
        *ends,
        decision,
        means[TODAY],
        next((one.row["congestion"] for one in tried if one.setting == TODAY), None),
        max(goodput_bps(finals).values(), default=means[TODAY]),
        verdict,
        "" if verdict == NOT_CLEAR else limiting_words(verdict, own),
        limited,
        len(today),
        latency_ms(finals, TODAY),
        None if chosen is None else latency_ms(finals, chosen),
        {
            setting: (means[setting], counts[setting])
            for setting in sorted(means, key=means.__getitem__, reverse=True)
        },
        () if chosen is None else tools(chosen, decision.way),
        next(iter(again), None),
    )


def _direction_json(one: Direction) -> dict[str, Any]:
    chosen = one.decision.chosen
    return {
        "from": one.src,
        "to": one.dst,
        "outcome": one.decision.outcome,
        "today": {
            "goodput_bps": one.today_bps,
            "congestion": one.congestion,
            "verdict": one.verdict,
            "rtt_loaded_median_ms": one.latency_today_ms[0],
            "rtt_loaded_p95_ms": one.latency_today_ms[1],
        },
        "best_seen_bps": one.best_bps,
        "set": None if chosen is None else _gain_json(chosen),
        "rtt_loaded_median_ms": one.latency_chosen_ms and one.latency_chosen_ms[0],
        "rtt_loaded_p95_ms": one.latency_chosen_ms and one.latency_chosen_ms[1],
        "compared": [_gain_json(gain) for gain in one.decision.gains],
        "tried": [
            {**asdict(setting), "goodput_bps": mean, "trials": trials}
            for setting, (mean, trials) in one.tried.items()
        ],
        "tools": [asdict(tool) for tool in one.tools],
        "verified": None if one.verified is None else _gain_json(one.verified),
    }


def _gain_json(gain: Gain) -> dict[str, Any]:
    return {
        **asdict(gain.setting),
        "goodput_bps": gain.goodput_bps,
        "gain_percent": gain.percent,
        "gain_low_percent": gain.low_percent,
        "gain_high_percent": gain.high_percent,
        "blocks": gain.blocks,
    }
