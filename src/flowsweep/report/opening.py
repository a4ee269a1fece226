"""What stands first: the highest goodput, what limits it, what to do about it, and whether to trust it."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from flowsweep.analysis.background.words import background_names, background_words
from flowsweep.analysis.findings.finding import Finding
from flowsweep.analysis.findings.last_trials import tells_last_trials
from flowsweep.analysis.findings.late_trials import trusted
from flowsweep.analysis.findings.step_directions import stepped_directions, steps_of
from flowsweep.analysis.findings.verdict import limiting_words
from flowsweep.analysis.sender_courses import SenderCourse
from flowsweep.analysis.summarising.trial_row import TrialRow, known
from flowsweep.analysis.tests.file.findings import parts_hold_each_other_up
from flowsweep.analysis.tests.file.words import unseen_files
from flowsweep.analysis.verdicts import (
    APPLICATION_RATE,
    BUSY,
    CORES_BUSY,
    LOSS,
    NOT_CLEAR,
    PATH_LOSS,
    PATH_NOT_FULL,
    QUEUE,
    RECEIVER_CPU,
    SENDER_CPU,
    STAGES,
    VERDICTS,
    WINDOWS,
)
from flowsweep.defaults import FEWEST_FOR_INTERVAL
from flowsweep.grouping import grouped
from flowsweep.report.both_ends import counted_at_both_ends
from flowsweep.report.course_words import courses_in_words
from flowsweep.report.further_directions import further_directions
from flowsweep.report.headline import (
    Highest,
    emulation_marks,
    highest_goodputs,
    missed_mark,
    trials_of,
    without_uncarried,
)
from flowsweep.report.higher_rate import nothing_more, share_of_link
from flowsweep.report.imported_limit import limit_of_files
from flowsweep.report.since_steps import since_steps
from flowsweep.report.two_levels import modes_of
from flowsweep.report.unlike_repeats import unlike_repeats
from flowsweep.report.untimed import order_unknown
from flowsweep.run.outcome import Missed
from flowsweep.tests import facts_of
from flowsweep.wording import all_of, counted, direction_of, format_rate, format_share

_IDLE_CORES = 0.5
"""Below, more than half of the cores had nothing to do."""
_LITTLE = 0.5
"""Of one core, for all threads of a trial's flows at an end."""
_MEASURE_AGAIN = (
    "Measure the same points with `flowsweep run`: it records what limits each trial, and mixes their order."
)
_SINCE_THEN = "; highest goodput and limit{} are of the trials since then"


@dataclass(frozen=True, slots=True)
class Opening:
    """Sentences for somebody who reads no further."""

    lines: tuple[tuple[str, str], ...]
    """Each with the word it is found by: what no longer works, what was reached, the limit, what to do, what
    to trust."""


def opening(
    trials: Sequence[TrialRow],
    findings: Sequence[Finding],
    settings: str = "",
    missed: Sequence[Missed] = (),
    courses: Sequence[SenderCourse] = (),
) -> Opening | None:
    """Sum a campaign up in a few sentences.

    Args:
        trials: Rows of a summary.
        findings: Of the same campaign: what its hosts are advised to set is among them.
        settings: How the two settings of the campaign compare, if it has two (`settings_line`).
        missed: Times at which its sweeps were due and did not run.
        courses: How the senders' rates went on within imported trials.

    Returns:
        None where no trial that ended ok has a goodput. Those whose emulated path was late take no part, and
        are counted.
    """
    highest = highest_goodputs(trusted(trials), findings)
    of_the_path, _ = since_steps(without_uncarried(trusted(trials)), findings)
    if not highest:
        return None
    best = _both_ways(highest)
    points = [trials_of(one.point, of_the_path) for one in best]
    # In other modes and tests the same directions are none.
    beside = len({direction_of(one.point) for one in highest} - {direction_of(one.point) for one in best})
    # What a search tried beyond, and why that was not carried, is a finding.
    limited = [own for own in points if not own[0].get("rate_carried")]
    lines = [
        ("Last trials", " ".join(one.claim for one in findings if tells_last_trials(one))),
        (
            "Highest goodput",
            " ".join([*_both_reached(best, points), *further_directions(beside, highest, best)]),
        ),
        ("A against B", settings),
        ("Limit", " ".join(_limits(limited, of_the_path, are_all=not beside))),
        ("To do", " ".join(_things_to_do(limited, findings, of_the_path))),
        ("Trust", " ".join([*_trust(trials, points, findings, missed), *courses_in_words(points, courses)])),
    ]
    return Opening(tuple((name, text) for name, text in lines if text))


def _both_ways(highest: Sequence[Highest]) -> list[Highest]:
    """The direction with the highest goodput of all, and the one back."""
    first = max(highest, key=lambda one: known(one.point["goodput_median_bps"]))
    back = {**_way(first), "src": first.point["dst"], "dst": first.point["src"]}
    return [first, *(one for one in highest if one is not first and _way(one) == back)]


def _way(one: Highest) -> dict[str, object]:
    return {name: one.point.get(name) for name in ("src", "dst", "simultaneous", "mode")} | {"test": one.test}


def _both_reached(best: Sequence[Highest], points: Sequence[Sequence[TrialRow]]) -> list[str]:
    """What was reached in each direction; said once for two that are alike."""
    reached = [_reached(one, own) for one, own in zip(best, points, strict=True)]
    if len(reached) > 1 and len(set(reached)) == 1:
        return [f"{best[0].direction}, and back: {reached[0]}"]
    return [f"{one.direction}: {text}" for one, text in zip(best, reached, strict=True)]


def _reached(one: Highest, own: Sequence[TrialRow]) -> str:
    text = f"{one.number} {one.unit} {one.meant}"
    lost = median(row.get("loss") or 0.0 for row in own)
    if lost > 0:
        text += f", with {format_share(lost)} lost" + (" in the median" if len(own) > 1 else "")
    rivals = (
        f"; at {counted(one.rivals, 'other point')} a repeat reached as much or more" if one.rivals else ""
    )
    return f"{text}, at {one.place} ({one.spread}{rivals})."


def _limits(points: Sequence[Sequence[TrialRow]], trials: Sequence[TrialRow], *, are_all: bool) -> list[str]:
    """What limits there, said once for directions that are alike; `are_all`: the campaign has no others."""
    by_limit = grouped(points, lambda own: _limit(own, trials))
    if len(points) > 1 and len(by_limit) == 1:
        where = "There, in both directions," if are_all else "There, in these two directions,"
        return [f"{where} {limit}." for limit in by_limit]
    return [
        f"{' and '.join(direction_of(own[0]) for own in alike)}: {limit}."
        for limit, alike in by_limit.items()
    ]


def _limit(own: Sequence[TrialRow], trials: Sequence[TrialRow]) -> str:
    verdict, count = _verdict(own)
    if verdict is not None and 2 * count <= len(own):
        return f"what limits differs between trials: {_each(own)}{_said_of_path(own)}"
    many = "" if count == len(own) else f" in {count} of {counted(len(own), 'trial')}"
    if verdict is None and _imported(own):
        return f"{limit_of_files(own, trials)}{_said_of_path(own)}"
    if verdict in (None, NOT_CLEAR):
        return f"what limits is not clear{_said_of_path(own)}"
    words = limiting_words(verdict, [row for row in own if row.get("verdict") == verdict])
    if verdict in STAGES:
        return f"the other stages waited for {words}{many}{_said_of_path(own)}"
    return f"{words} limits{many}{_said_of_path(own)}"


def _imported(own: Sequence[TrialRow]) -> bool:
    return all(row.get("imported_from") for row in own)


def _each(own: Sequence[TrialRow]) -> str:
    """What limits, and in how many trials."""
    said = []
    for verdict, alike in grouped(own, lambda row: row.get("verdict") or NOT_CLEAR).items():
        words = "it is not clear" if verdict == NOT_CLEAR else limiting_words(verdict, alike)
        said.append(f"{words} in {len(alike)}")
    return ", ".join(said)


def _verdict(own: Sequence[TrialRow]) -> tuple[str | None, int]:
    """The most frequent verdict, and of how many trials it is."""
    return Counter(row.get("verdict") for row in own).most_common(1)[0]


def _said_of_path(own: Sequence[TrialRow]) -> str:
    """What part of an emulated link that is, and what background traffic there was."""
    background = background_words(own)
    beside = f", {background}" if background else ""
    share, link_bps = share_of_link(own), own[0].get("link_payload_bps")
    if share is None or link_bps is None:
        return beside
    carried = format_rate(link_bps)
    return f", at {format_share(share)} of the {carried} that the link carries in the long run{beside}"


def _things_to_do(
    points: Sequence[Sequence[TrialRow]], findings: Sequence[Finding], trials: Sequence[TrialRow]
) -> Iterator[str]:
    yield from dict.fromkeys(said for own in points if (said := _to_do(own, findings, trials)))


def _to_do(own: Sequence[TrialRow], findings: Sequence[Finding], trials: Sequence[TrialRow]) -> str:
    verdict, count = _verdict(own)
    if 2 * count <= len(own):
        return ""
    if verdict is None:
        return _MEASURE_AGAIN if _imported(own) else ""
    if verdict in WINDOWS:
        return _window_advised(own[0], verdict, findings, trials)
    if verdict in STAGES and (_stages_together(own, findings, trials) or any(map(unseen_files, own))):
        return ""
    share = share_of_link(own)
    if verdict == QUEUE and (share is None or share < PATH_NOT_FULL):
        return ""
    if verdict == LOSS and share is not None and share >= PATH_NOT_FULL:
        return ""
    if verdict == APPLICATION_RATE and nothing_more(own, trials):
        return ""
    if core := _one_core(own, verdict):
        return core
    link_bps, offered_bps = own[0].get("path_rate_bps"), own[0].get("rate_sum_bps")
    above = offered_bps is not None and link_bps is not None and offered_bps > link_bps
    if verdict == PATH_LOSS and link_bps and above and not _lost_below(link_bps, own, trials):
        carried = f"the link's {format_rate(link_bps)}, headers included"
        return f"Offer less than {carried}: what is beyond is lost."
    hint = VERDICTS[verdict].hint.format(source=own[0]["src"], sink=own[0]["dst"])
    return " ".join(filter(None, (hint, _shorter_round_trips(own, findings)))) if verdict == QUEUE else hint


def _window_advised(
    first: TrialRow, verdict: str, findings: Sequence[Finding], trials: Sequence[TrialRow]
) -> str:
    """What is advised where a window limits; `first`: one of the trials of the highest goodput."""
    if facts_of(first["test"]).datagrams:
        return ""
    limited = {row["trial_id"] for row in trials if _as_limited(row, first, verdict)}
    advice = (one for one in findings if one.kind == "advice" and not limited.isdisjoint(one.evidence))
    return next((one.claim for one in advice), "")


def _one_core(own: Sequence[TrialRow], verdict: str | None) -> str:
    """What to do where threads are full and most cores are not; nothing where a quota or interrupts limit."""
    first = own[0]
    if verdict == SENDER_CPU:
        end, host = "sender", first["src"]
        shares = [(row.get("thread_busy_send"), row.get("cores_busy_send")) for row in own]
    elif verdict == RECEIVER_CPU:
        end, host = "receiver", first["dst"]
        shares = [(row.get("thread_busy_recv"), row.get("cores_busy_recv")) for row in own]
    else:
        return ""
    known_shares = [(thread, cores) for thread, cores in shares if thread is not None and cores is not None]
    if len(known_shares) < len(own):
        return ""
    threads, cores = (median(part) for part in zip(*known_shares, strict=True))
    if threads < BUSY or cores >= _IDLE_CORES:
        return ""
    return (
        f"Use more flows: the {end}'s threads ran all of the time ({host}), and of all its cores "
        f"{format_share(cores)} was in use."
    )


def _shorter_round_trips(own: Sequence[TrialRow], findings: Sequence[Finding]) -> str:
    """Which congestion control has shorter round trips under load, at no loss of goodput."""
    trials = {row["trial_id"] for row in own}
    shorter = (
        one.claim
        for one in findings
        if (one.kind, one.axis, one.decision) == ("latency", "congestion_asked", "effect")
        and not trials.isdisjoint(one.evidence)
    )
    return next(shorter, "")


def _as_limited(row: TrialRow, other: TrialRow, verdict: str | None) -> bool:
    """Whether the same limits a trial of the same sweep and way."""
    alike = all(row.get(name) == other.get(name) for name in ("sweep", "src", "dst"))
    return alike and row.get("verdict") == verdict


def _lost_below(link_bps: float, own: Sequence[TrialRow], trials: Sequence[TrialRow]) -> bool:
    """Whether the path lost datagrams of that way at less than its link's rate, too."""
    way = (own[0]["src"], own[0]["dst"])
    return any(
        (row["src"], row["dst"]) == way
        and row.get("verdict") == PATH_LOSS
        and (row.get("rate_sum_bps") or link_bps) < link_bps
        for row in trials
    )


def _stages_together(
    own: Sequence[TrialRow], findings: Sequence[Finding], trials: Sequence[TrialRow]
) -> bool:
    """Whether stages of a point's files carry less together than any alone: a faster one gains nothing."""
    points = (set(one.evidence) for one in findings if one.kind == "bounds")
    of_point = [point for point in points if any(row["trial_id"] in point for row in own)]
    return any(
        parts_hold_each_other_up([row for row in trials if row["trial_id"] in point]) for point in of_point
    )


def _trust(
    trials: Sequence[TrialRow],
    points: Sequence[Sequence[TrialRow]],
    findings: Sequence[Finding],
    missed: Sequence[Missed],
) -> list[str]:
    """What speaks against the numbers; that nothing does."""
    bad = sum(row["status"] != "ok" for row in trials)
    said = [f"{mark}." for mark in (*emulation_marks(trials), missed_mark(missed)) if mark]
    if bad:
        said.append(f"{bad} of {counted(len(trials), 'trial')} did not end ok, and are left out.")
    said += unlike_repeats(trials, points, findings)
    said += counted_at_both_ends(points)
    said += _busy_with_others(trials)
    fewest = min(map(len, points))
    if fewest < FEWEST_FOR_INTERVAL:
        rests = counted(fewest, "trial")
        if len(points) > 1:
            alike = len(set(map(len, points))) == 1
            rests = f"{rests} each way" if alike else f"only {rests} one way"
        its = "its" if fewest == 1 and not rests.endswith("each way") else "their"
        said.append(f"The highest goodput rests on {rests}, too few for a confidence interval of {its} own.")
    said += [one.claim for one in findings if one.kind == "order"]
    shown = {row["trial_id"] for own in points for row in own}
    said += [one.claim for one in modes_of(findings) if not shown.isdisjoint(one.evidence)]
    ways = {None, *(direction_of(own[0]) for own in points)}
    said += [one.claim for one in findings if one.kind == "days" and one.direction in ways]
    said += order_unknown(trials)
    said += [f"{step.claim[:-1]}{_since_then(step, trials)}." for step in steps_of(findings)]
    ended = "are imported" if _imported(trials) else "ended ok"
    where = "at each of these points" if len(points) > 1 else "at this point"
    every = all_of(len(trials), "trial")
    return said or [f"{every[0].upper()}{every[1:]} {ended}; {counted(fewest, 'trial')} or more {where}."]


def _busy_with_others(trials: Sequence[TrialRow]) -> Iterator[str]:
    """Say which hosts had no core left, though the threads that measured there needed little of them."""
    found = [
        (host, row["trial_id"])
        for row in trials
        if _ran_alone(row)
        for host, thread in _busy_end(row)
        if thread is not None and thread * (row["flows"] or 1) < _LITTLE
    ]
    if not found:
        return
    hosts = " and ".join(dict.fromkeys(host for host, _ in found))
    count = len({trial for _, trial in found})
    yield (
        f"All cores of {hosts} were busy in {count} of {counted(len(trials), 'trial')}; of these the test's "
        "own threads needed less than half of one."
    )


def _ran_alone(row: TrialRow) -> bool:
    """Whether no work at its ends was the campaign's own: other traffic, or the emulated path."""
    is_emulated = any(row.get(name) is not None for name in ("path_emulation", "link_payload_bps"))
    return not (is_emulated or row.get("simultaneous") or background_names(row))


def _busy_end(row: TrialRow) -> Iterator[tuple[str, float | None]]:
    """The one host of a trial's that had no core left, and the busiest thread there.

    None where both ends had none: they may be one machine, and then the other end's threads are that work.
    """
    send = (row.get("cores_busy_send") or 0.0) >= CORES_BUSY
    recv = (row.get("cores_busy_recv") or 0.0) >= CORES_BUSY
    if send and not recv and (row.get("sources") or 1) == 1:
        yield row["src"], row.get("thread_busy_send")
    if recv and not send and (row.get("sinks") or 1) == 1:
        yield row["dst"], row.get("thread_busy_recv")


def _since_then(step: Finding, trials: Sequence[TrialRow]) -> str:
    """What is of the trials since a step; of which directions, where others do not show it themselves."""
    stepped, others = stepped_directions(without_uncarried(trusted(trials)), step)
    if not stepped:
        return ", which no direction shows by itself"
    return _SINCE_THEN.format(f" of {' and '.join(stepped)}" if others else "")
