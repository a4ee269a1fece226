"""The sentences of an answer."""

from collections.abc import Iterator, Sequence

from flowsweep.analysis.verdicts import APPLICATION_RATE
from flowsweep.tuning.answer import Answer, Direction
from flowsweep.tuning.decide import WORTH, Gain
from flowsweep.tuning.rounds import Timing
from flowsweep.tuning.settings import TODAY
from flowsweep.tuning.tools import ToolAdvice
from flowsweep.wording import (
    all_of,
    counted,
    direction,
    format_duration,
    format_margin,
    format_milliseconds,
    format_percent,
    format_rate,
)

_ARRIVED = (
    "of what arrived at the other host: what its application reads waits behind lost packets, and may come "
    "to more than a link carries."
)
_BUDGET_LIMITS = "the rate that --budget leaves"
"""No plan of the reader's sets one; trials under a budget of bytes are held below a multiple of the best."""
LOOPBACK = (
    "Both ends are this machine: what is fast here need not be so over a network, so no setting of the "
    "system is named."
)


def goodput_is(found: Answer) -> str:
    """Say of what goodput is the mean; after slow start only where that was left out."""
    finals = found.directions[0].finals
    if finals is None or not finals.timing.has_growth:
        return f"Goodput is the mean after slow start, {_ARRIVED}"
    lasts, omitted = (format_duration(ns) for ns in (finals.timing.duration_ns, finals.timing.omit_ns))
    return f"Goodput is the mean of transfers of {lasts} without their first {omitted}, {_ARRIVED}"


def title(one: Direction) -> str:
    """Name a direction."""
    return direction(*one.names)


def sentences(one: Direction) -> Iterator[str]:
    """Say what limits a direction now, what to set, what came of that once more, and what was not tried."""
    yield now_sentence(one)
    yield from set_sentences(one)
    if (again := verified_sentence(one)) is not None:
        yield again
    if (name := one.not_loaded) is not None:
        src, _ = one.names
        yield f"{name} was not tried: it is not loaded on {src} (`modprobe tcp_{name}` as root {one.loads})."


def now_sentence(one: Direction) -> str:
    """Say what a transfer gets that asks for nothing, and what limits it."""
    asked = TODAY.words if one.congestion is None else f"{TODAY.words} ({one.congestion})"
    return f"Today {asked} carries {format_rate(one.today_bps)}; {_limits(one)}."


def _limits(one: Direction) -> str:
    """What limits today's transfer, and in how many of its trials where that is not all of them."""
    if not one.limiting:
        return "it is not clear what limits it"
    limiting = _BUDGET_LIMITS if one.verdict == APPLICATION_RATE else one.limiting
    if one.limited_trials == one.today_trials:
        return f"{limiting} limits it"
    return f"{limiting} limits it in {one.limited_trials} of {counted(one.today_trials, 'trial')}"


def set_sentences(one: Direction) -> Iterator[str]:
    """Say what to set, what it gains and costs; or that there is nothing to gain, and how sure that is."""
    chosen = one.decision.chosen
    if chosen is None:
        yield _nothing(one)
        return
    yield f"Set {chosen.setting.words}: {format_rate(chosen.goodput_bps)}, {gain_words(one, chosen)}."
    if one.finals is not None and one.finals.timing.has_growth:
        yield _growth(one.finals.timing)
    if (cost := _latency(one)) is not None:
        yield cost


def gain_words(one: Direction, gain: Gain) -> str:
    """Say how much goodput changes, and how that is known.

    "a gain of 41.0 % [39.0, 43.0] over today's setting beside it, in 5 comparisons of 1.50 s".
    """
    failed = f"; it failed in {gain.failed} of {gain.asked}" if gain.failed else ""
    if not gain.blocks:
        return f"no comparison{failed}"
    lasts = "" if one.finals is None else f" of {format_duration(one.finals.timing.duration_ns)}"
    few = ": too few for an interval" if gain.low_percent is None else ""
    return f"{gain.words}, in {counted(gain.blocks, 'comparison')}{lasts}{few}{failed}"


def verified_sentence(one: Direction) -> str | None:
    """Say whether the gain was there once more; None where it was not measured again."""
    gain = one.verified
    if gain is None:
        return None if one.withdrawn is None else "Measured again: not decided, since all its trials failed."
    if gain.low_percent is None or gain.high_percent is None:
        return f"Measured again: not decided, since trials failed ({gain_words(one, gain)})."
    if gain.low_percent > 0 and gain.fails:
        said = "it gains, but fails too often"
    elif gain.shown:
        said = "the gain is real"
    elif gain.low_percent > 0:
        said = "there is a gain, but it may be smaller than it seemed"
    elif gain.high_percent < 0:
        said = "it is a loss"
    else:
        said = "the gain did not show again"
    return f"Measured again, before and after in random order: {said}, {gain_words(one, gain)}."


def tried_lines(one: Direction) -> Iterator[tuple[str, str, str]]:
    """List what was tried, the best first, and what failed always: setting, mean goodput, trials."""
    for setting, (mean_bps, trials) in one.tried.items():
        failed = one.failed.get(setting, 0)
        more = f", {failed} more failed" if failed else ""
        yield setting.words, format_rate(mean_bps), f"{counted(trials, 'trial')}{more}"
    for setting, failed in one.failed.items():
        if setting not in one.tried:
            yield setting.words, "", f"{counted(failed, 'trial')}, all failed"


def tool_lines(listed: Sequence[ToolAdvice]) -> Iterator[tuple[str, str, str]]:
    """List what to type, tool by tool, and what cannot be set; tools that can set nothing share a line."""
    for tool in listed:
        if tool.write is not None or tool.notes:
            yield tool.tool, tool.write or "", _beside(tool)
    without = [tool for tool in listed if tool.write is None and not tool.notes]
    if without:
        yield ", ".join(tool.tool for tool in without), "", _cannot(without[0].cannot)


def _beside(tool: ToolAdvice) -> str:
    """What a tool cannot set, and what else to know of it."""
    return "; ".join(filter(None, (_cannot(tool.cannot), *tool.notes)))


def _cannot(things: Sequence[str]) -> str:
    return f"cannot set {' and '.join(things)}" if things else ""


def _nothing(one: Direction) -> str:
    most = one.decision.most_percent
    others = len({*one.tried, *one.failed} - {TODAY})
    tried = counted(others, "other setting")
    if one.withdrawn is not None:
        gained = f"{one.withdrawn.setting.words} had {gain_words(one, one.withdrawn)}"
        failed = one.verified is not None and (one.verified.low_percent or 0.0) > 0
        but = "it failed too often" if failed else "it was not shown to gain"
        return f"Nothing to set: {gained}, but {but} when it was measured again."
    if one.decision.outcome == "failing":
        gain = next(gain for gain in one.decision.gains if gain.shown)
        return (
            f"Nothing to set: {gain.setting.words} had {gain_words(one, gain)}, "
            f"today's in {gain.today_failed}: what fails so often is not advised."
        )
    lost = next((gain for gain in one.decision.gains if not gain.blocks and gain.fails), None)
    if most is None and lost is not None:
        return (
            f"Nothing to set: {lost.setting.words} failed in {lost.failed} of {lost.asked} trials when it "
            f"was measured again, today's in {lost.today_failed}: what it gains is not known ({tried} tried)."
        )
    if most is None:
        return f"Nothing to set: too few trials ended well to know of a gain ({tried} tried)."
    upto = format_percent(max(0.0, most))
    if one.decision.outcome == "nothing":
        again = f"Measured again, {_finalists(one, others)}"
        gained = f"gained at most {upto}" if round(most, 1) > 0 else "gained nothing"
        nothing = f"of what was tried, nothing gains more than {format_margin(WORTH)}"
        return f"Nothing to set: {nothing}. {again} {gained} (95 %)."
    narrows = (
        "; a larger --budget narrows that" if one.finals is not None and one.finals.held_by_budget else ""
    )
    return (
        f"Nothing to set: of {tried}, none was shown to gain more than {format_margin(WORTH)}. Trials vary "
        f"so much that up to {upto} cannot be ruled out{narrows}."
    )


def _growth(lasts: Timing) -> str:
    return (
        f"In transfers of {format_duration(lasts.duration_ns)} one flow may still have been growing: in "
        "longer ones the gain may be smaller. A larger --budget has longer ones."
    )


def _finalists(one: Direction, others: int) -> str:
    """Name the settings that were measured again, of those that were tried (`finalists`)."""
    count = len(one.decision.gains)
    if count == others:
        return all_of(others, "other setting")
    of_all = counted(others, "other setting")
    if one.finals is None:
        return f"{count} of {of_all}"
    if count == 1:
        return f"the best of {of_all}, or one within {format_margin(WORTH)} of it,"
    return f"{count} of {of_all}, the best among them,"


def _latency(one: Direction) -> str | None:
    """What it costs in latency."""
    if one.latency_chosen_ms is None or None in (*one.latency_chosen_ms, *one.latency_today_ms):
        return None
    today, chosen = (
        [format_milliseconds(value or 0.0) for value in both]
        for both in (one.latency_today_ms, one.latency_chosen_ms)
    )
    return (
        f"The round trip under load goes from {today[0]} to {chosen[0]}, its 95th percentile from {today[1]} "
        f"to {chosen[1]}."
    )
