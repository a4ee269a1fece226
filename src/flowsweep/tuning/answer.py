"""What a search comes to: for people, programs and pages alike."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from flowsweep.analysis.findings.host_settings import HostFacts
from flowsweep.analysis.findings.verdict import limiting_words
from flowsweep.analysis.verdicts import NOT_CLEAR
from flowsweep.defaults import SECOND_NS
from flowsweep.tuning.advise import HowToSet, SystemSetting, how_to_set, system_settings
from flowsweep.tuning.allowed import asked_limits, not_loaded, restricted
from flowsweep.tuning.decide import Decision, Gain, decide, goodput_bps, latency_ms
from flowsweep.tuning.places import Means, Place, names_of
from flowsweep.tuning.plans import Ends, recommended_plan
from flowsweep.tuning.rounds import Round, Stage, Timing, Tried, of_way
from flowsweep.tuning.settings import TODAY, Setting, Way
from flowsweep.tuning.tools import Known, ToolAdvice, tools


@dataclass(frozen=True, slots=True)
class Direction:
    """What one direction came to."""

    src: str
    """As plans call it."""
    dst: str
    names: tuple[str, str]
    """Of both, as sentences call them."""
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
    """Mean goodput (bit/s) and trials of each setting that worked, the best first."""
    failed: Mapping[Setting, int]
    """Trials of each setting that failed, of those that have any."""
    tools: tuple[ToolAdvice, ...]
    verified: Gain | None = None
    """Measured once more, after the choice; absent, too, where none of its trials ended well then."""
    withdrawn: Gain | None = None
    """What was chosen, where that was measured once more and did not hold."""
    not_loaded: str | None = None
    """The most promising congestion control, where the sender has it not loaded: it was not tried."""
    loads: str = "there"
    """Where root may load it."""
    finals: Round | None = None
    """How gains were measured; absent where that is not known."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What both directions came to."""

    rtt_ms: float
    """Of the idle path, median."""
    directions: tuple[Direction, ...]
    system: tuple[SystemSetting, ...]
    how: tuple[HowToSet, ...]
    """The same by host, as a person sets it."""
    plan: str | None
    """Repeats the recommendation beside today's setting; absent if there is none."""
    traffic_s: float
    traffic_bytes: int
    names: Mapping[str, str]
    """What sentences call hosts, by what plans do."""
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
    rounds: Sequence[Round] = (),
    forbidden: Collection[tuple[Way, str]] = (),
    is_loopback: bool = False,
    places: Mapping[str, Place] | None = None,
) -> Answer:
    """Decide on each direction, and say what follows.

    Args:
        tried: All trials of a search, finals included.
        rtt_ms: Round trip of the idle path.
        hosts: What was recorded of the hosts.
        ends: Source and sink of each direction.
        hosts_text: The `[hosts]` tables of a plan.
        spent: Seconds and bytes of traffic.
        rounds: That were measured; without them only trials tell how many were to be.
        forbidden: Congestion controls that rounds saw to be: settings with one do not count as tried.
        is_loopback: Both ends are this machine.
        places: Where hosts are; on a machine of their name, if absent.
    """
    first = {way: _decided(way, tried, rounds, "finals") for way in ends}
    again = {way: _verified(first[way], tried, rounds) for way in ends}
    finals = {way: _round_of(way, rounds, "finals") for way in ends}
    decisions = {way: _held(first[way], measured_again=again[way][0], again=again[way][1]) for way in ends}
    asked = {way: _asked(rounds, way, forbidden) for way in ends}
    verified = {way: again[way][1] for way in ends}
    found = {host: (places or {}).get(host, Place(host)) for host in next(iter(ends.values()))}
    names = names_of(found)
    # The verification is told apart: all else is of what was measured before it. What carried nothing failed.
    before = [one for one in tried if one.stage != "verification" and one.goodput_bps > 0]
    system = () if is_loopback else system_settings(decisions, before, hosts, ends, asked, verified, names)
    return Answer(
        rtt_ms,
        tuple(
            replace(
                _direction(decisions[way], of_way(before, way), asked[way], ends[way], hosts, found, rtt_ms),
                verified=verified[way],
                withdrawn=None if decisions[way].chosen else first[way].chosen,
                finals=finals[way],
            )
            for way in ends
        ),
        system,
        how_to_set(system, found, hosts),
        recommended_plan(decisions, hosts_text, ends, finals),
        *spent,
        names,
        is_loopback=is_loopback,
    )


def _decided(way: Way, tried: Sequence[Tried], rounds: Sequence[Round], stage: Stage) -> Decision:
    asked = _round_of(way, rounds, stage)
    own = of_way(tried, way, stage)
    if asked is None:
        return decide(way, own)
    # Of a verification in which all trials failed something else is said (`_verified`).
    return decide(way, own, asked.blocks, asked.settings[way] if stage == "finals" else ())


def _round_of(way: Way, rounds: Sequence[Round], stage: Stage) -> Round | None:
    return next((one for one in rounds if one.stage == stage and way in one.settings), None)


def _verified(first: Decision, tried: Sequence[Tried], rounds: Sequence[Round]) -> tuple[bool, Gain | None]:
    """Whether what was chosen in a direction was measured again, and its gain, if any trial ended well."""
    stages = {one.stage for one in rounds if first.way in one.settings}
    stages |= {one.stage for one in of_way(tried, first.way)}
    if first.chosen is None or "verification" not in stages:
        return False, None
    gains = _decided(first.way, tried, rounds, "verification").gains
    return True, next((gain for gain in gains if gain.setting == first.chosen.setting), None)


def _held(first: Decision, *, measured_again: bool, again: Gain | None) -> Decision:
    """What is decided once it was measured again: nothing is chosen that then is not above 0, or fails."""
    if not measured_again or (again is not None and (again.low_percent or 0.0) > 0 and not again.fails):
        return first
    return replace(first, outcome="not held", chosen=None)


def as_json(found: Answer) -> dict[str, Any]:
    """The answer as JSON has it; units are in the names."""
    return {
        "rtt_ms": found.rtt_ms,
        "hosts": dict(found.names),
        "traffic_s": found.traffic_s,
        "traffic_bytes": found.traffic_bytes,
        "directions": [_direction_json(one) for one in found.directions],
        "system_settings": [_system_json(one) for one in found.system],
        "how": {one.host: one.how for one in found.how},
        **{
            means.value: {one.host: one.text for one in found.how if one.place.means is means}
            for means in Means
        },
        "is_loopback": found.is_loopback,
        "plan": found.plan,
    }


def _direction(
    decision: Decision,
    tried: Sequence[Tried],
    asked: Mapping[Setting, int],
    ends: tuple[str, str],
    hosts: HostFacts,
    places: Mapping[str, Place],
    rtt_ms: float,
) -> Direction:
    names = names_of(places)
    finals = [one for one in tried if one.stage == "finals"]
    means, counts = goodput_bps(tried), Counter(one.setting for one in tried)
    today = [one.row for one in tried if one.setting == TODAY]
    verdict, limited = Counter(row["verdict"] or NOT_CLEAR for row in today).most_common(1)[0]
    own = [row for row in today if row["verdict"] == verdict]
    chosen = None if decision.chosen is None else decision.chosen.setting
    congestion = next((one.row["congestion"] for one in tried if one.setting == TODAY), None)
    called = names[ends[0]], names[ends[1]]
    told = {names.get(host, host): facts for host, facts in hosts.items()}
    loaded = tuple(told.get(called[1], {}).get("congestion_available", ()))
    called_places = {names[host]: place for host, place in places.items()}
    refusing = restricted(told, called, None if chosen is None else chosen.congestion, called_places)
    known = Known(
        means,
        congestion,
        rtt_ms,
        called[1],
        loaded,
        places[ends[1]].loads,
        asked_limits(told, called),
        refusing,
        verdict,
    )
    return Direction(
        *ends,
        called,
        decision,
        means[TODAY],
        congestion,
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
        {setting: trials - counts[setting] for setting, trials in asked.items() if trials > counts[setting]},
        () if chosen is None else tools(chosen, decision.way, known),
        not_loaded=not_loaded(told, called[0]),
        loads=places[ends[0]].loads,
    )


def _asked(rounds: Sequence[Round], way: Way, forbidden: Collection[tuple[Way, str]]) -> dict[Setting, int]:
    """How many trials of each setting of a direction there were to be, but for the verification."""
    asked: Counter[Setting] = Counter()
    for one in rounds:
        if one.stage != "verification":
            settings = [
                setting for setting in one.settings.get(way, ()) if (way, setting.congestion) not in forbidden
            ]
            asked.update(dict.fromkeys(settings, one.blocks))
    return asked


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
            {**asdict(setting), "goodput_bps": mean, "trials": trials, "failed": one.failed.get(setting, 0)}
            for setting, (mean, trials) in one.tried.items()
        ]
        + [
            {**asdict(setting), "goodput_bps": None, "trials": 0, "failed": failed}
            for setting, failed in one.failed.items()
            if setting not in one.tried
        ],
        "tools": [asdict(tool) for tool in one.tools],
        "verified": None if one.verified is None else _gain_json(one.verified),
        "withdrawn": None if one.withdrawn is None else _gain_json(one.withdrawn),
        "not_loaded": one.not_loaded,
        "trials": None if one.finals is None else _trials_json(one.finals.timing),
    }


def _system_json(setting: SystemSetting) -> dict[str, Any]:
    src, dst = setting.ends or (None, None)
    told = {name: value for name, value in asdict(setting).items() if name != "ends"}
    return {**told, "from": src, "to": dst}


def _trials_json(lasts: Timing) -> dict[str, Any]:
    """How long each trial of the finals lasted, and whether one flow may still have grown when it counted."""
    return {
        "duration_s": lasts.duration_ns / SECOND_NS,
        "omitted_s": lasts.omit_ns / SECOND_NS,
        "has_growth": lasts.has_growth,
    }


def _gain_json(gain: Gain) -> dict[str, Any]:
    # Of one that always failed nothing was measured.
    return {
        **asdict(gain.setting),
        "goodput_bps": gain.goodput_bps if gain.blocks else None,
        "gain_percent": gain.percent if gain.blocks else None,
        "gain_low_percent": gain.low_percent,
        "gain_high_percent": gain.high_percent,
        "blocks": gain.blocks,
        "failed": gain.failed,
    }
