"""The page of `flowsweep tune`: what limits, what was tried, what to set. It needs no script."""

from collections.abc import Sequence
from dataclasses import dataclass

from flowsweep.report.shell import page_text
from flowsweep.tuning.answer import Answer, Direction
from flowsweep.tuning.decide import Gain
from flowsweep.tuning.words import LOOPBACK, gain_words, goodput_is, sentences, title, tool_lines, tried_lines
from flowsweep.version import __version__
from flowsweep.wording import direction, format_milliseconds, format_rate, format_seconds, format_size

WIDTH, HEIGHT = 100, 14
"""Of the drawing of an interval, in its own units."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A gain as it is drawn: places on an axis that all gains of a direction share."""

    setting: str
    goodput: str
    words: str
    low: float
    high: float
    centre: float
    zero: float
    chosen: bool


def tuning_page(found: Answer, failures: Sequence[str] = (), left_out: Sequence[str] = ()) -> str:
    """Make the page of an answer.

    Args:
        found: The answer.
        failures: Of trials that did not end well.
        left_out: Why congestion controls were that are not allowed to everybody.
    """
    return page_text(
        "tuning.html.jinja",
        version=__version__,
        goodput_is=goodput_is(found),
        title=direction(*found.directions[0].names, simultaneous=True),
        rtt=format_milliseconds(found.rtt_ms),
        traffic=f"{format_seconds(found.traffic_s)}, {format_size(float(f'{found.traffic_bytes:.3g}'))}",
        directions=[
            {
                "title": title(one),
                "sentences": list(sentences(one)),
                "gains": intervals(one),
                "tried": list(tried_lines(one)),
                "share": _shares([mean for mean, _ in one.tried.values()], len(list(tried_lines(one)))),
                "tools": list(tool_lines(one.tools)),
            }
            for one in found.directions
        ],
        settings=found.how,
        plan=found.plan,
        failures=failures,
        left_out=left_out,
        loopback=LOOPBACK if found.is_loopback else None,
        width=WIDTH,
        height=HEIGHT,
    )


def intervals(one: Direction) -> list[Interval]:
    """Place the gains of a direction on one axis, from the lowest end of an interval to the highest.

    A setting that always failed has none.
    """
    gains = [gain for gain in one.decision.gains if gain.blocks]
    ends = [end for gain in gains for end in _ends(gain)]
    least, most = min([0.0, *ends]), max([0.0, *ends])
    span = (most - least) or 1.0

    def place(percent: float) -> float:
        return round(2 + (WIDTH - 4) * (percent - least) / span, 2)

    return [
        Interval(
            setting=gain.setting.words,
            goodput=format_rate(gain.goodput_bps),
            words=gain_words(one, gain),
            low=place(_ends(gain)[0]),
            high=place(_ends(gain)[1]),
            centre=place(gain.percent),
            zero=place(0.0),
            chosen=gain is one.decision.chosen,
        )
        for gain in gains
    ]


def _shares(means: Sequence[float], lines: int) -> list[float]:
    """Percent of the highest, of so many lines; 0 of those without a mean."""
    highest = max(means) or 1.0
    return [100 * mean / highest for mean in (*means, *[0.0] * (lines - len(means)))]


def _ends(gain: Gain) -> tuple[float, float]:
    if gain.low_percent is None or gain.high_percent is None:
        return gain.percent, gain.percent
    return gain.low_percent, gain.high_percent
