"""From a comparison's data to the text of its page."""

from collections.abc import Sequence
from dataclasses import dataclass

from flowsweep.analysis.comparing.comparison import PointShift
from flowsweep.analysis.comparing.point_names import place, telling
from flowsweep.analysis.comparing.words import (
    cautions,
    change,
    nothing_missing,
    only_in,
    outcome,
)
from flowsweep.figures.comparing.overlay import STYLES
from flowsweep.figures.comparing.points import compared_points
from flowsweep.report.comparison.data import ComparisonData, Side
from flowsweep.report.comparison.gallery import comparing_galleries, paired_galleries
from flowsweep.report.headline import when_measured
from flowsweep.report.shell import page_text
from flowsweep.wording import counted, format_rate


@dataclass(frozen=True, slots=True)
class SideLine:
    """A, or B, as the page introduces it."""

    letter: str
    name: str
    colour: str
    measured: str


@dataclass(frozen=True, slots=True)
class PointLine:
    """One point in the table."""

    place: str
    trials_a: int
    goodput_a: str
    trials_b: int
    goodput_b: str
    shift: str
    outcome: str

    @property
    def differs(self) -> bool:
        """Whether B is decided to be another one than A."""
        return self.outcome in ("faster", "slower")


def comparison_page(data: ComparisonData) -> str:
    """Make the page of a comparison of which some points are in both.

    Raises:
        ValueError: No point is in both: there is nothing to show.
    """
    comparison = data.comparison
    if comparison.overall is None:
        raise ValueError("no point is in both")
    names = tuple(f"{letter}: {side.name}" for letter, side in zip("AB", data.sides, strict=True))
    points = compared_points(comparison, (names[0], names[1]), data.sides[0].cells, data.sides[1].cells)
    return page_text(
        "comparison.html.jinja",
        data=data,
        version=data.flowsweep_version,
        sides=_side_lines(data.sides),
        outcome=outcome(comparison, comparison.overall),
        cautions=cautions(comparison) or (nothing_missing(comparison),),
        only=only_in(comparison),
        points=_point_lines(comparison.points),
        compared=comparing_galleries(points),
        paired=paired_galleries(points, data),
    )


def _side_lines(sides: Sequence[Side]) -> tuple[SideLine, ...]:
    return tuple(
        SideLine(letter, side.name, style[0], _measured(side))
        for letter, side, style in zip("AB", sides, STYLES, strict=True)
    )


def _measured(side: Side) -> str:
    where = f" on {', '.join(side.hosts)}" if side.hosts else ""
    return f"{when_measured(side.trials, side.created_at)}{where}; {counted(len(side.trials), 'trial')}"


def _point_lines(points: Sequence[PointShift]) -> tuple[PointLine, ...]:
    names = telling([one.point for one in points])
    return tuple(
        PointLine(
            place(one.point, names),
            one.shift.repeats_a,
            format_rate(one.goodput_a_bps),
            one.shift.repeats_b,
            format_rate(one.goodput_b_bps),
            change(one.shift),
            one.shift.outcome,
        )
        for one in points
    )
