"""Findings as the page shows them: conclusions first, then the questions that the data leave open."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from flowsweep.analysis.findings.finding import FigureKey, Finding
from flowsweep.analysis.findings.methods import Methods
from flowsweep.analysis.findings.plateau.sentences import CLOSE_LEVELS
from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.defaults import SECOND_NS
from flowsweep.report.interval_words import between_levels, interval_words
from flowsweep.report.tests_apart import named_tests
from flowsweep.units import SIZE_UNITS
from flowsweep.wording import (
    counted,
    format_duration,
    format_mode,
    format_number,
    format_p,
    format_rate,
    format_size,
    format_sizes,
    modes_differ,
    units_kept,
)

_KIB = SIZE_UNITS["KiB"]
_P_VALUE = "p: probability of data at least this extreme, "
_NO_EFFECT = "were there no effect"
_OF_KIND = {"plateau": "did goodput not rise above the lowest level"}
"""What p-values of a kind are against, where that is not an effect."""
MOST_AT_ONCE = 10
"""Conclusions that are shown at once; the others are behind a line that unfolds."""


@dataclass(frozen=True, slots=True)
class FindingLine:
    """One finding."""

    anchor: str
    decision: str
    claim: Markup
    where: str
    """Sweep, test and mode, where the campaign has several; empty where there is nothing to tell apart."""
    figure: str | None
    """Anchor of the card that shows why."""
    facts: tuple[tuple[str, str], ...]
    """What stands behind it, each with its name: trials, estimate, probability."""
    method: int
    """Number of the note that says how it was computed."""
    evidence: tuple[str, ...]
    """trial_id of the trials that it rests on."""


@dataclass(frozen=True, slots=True)
class FindingsList:
    """All findings, the most important first within each part."""

    shown: tuple[FindingLine, ...]
    folded: tuple[FindingLine, ...]
    undecided: tuple[FindingLine, ...]
    methods: tuple[str, ...]
    """How findings were computed: the notes that their numbers mean, from 1."""

    @property
    def count(self) -> int:
        """How many there are in all."""
        return len(self.shown) + len(self.folded) + len(self.undecided)


def findings_list(
    findings: Sequence[Finding],
    card_of: Callable[[FigureKey | None], str | None],
    trials: Sequence[TrialRow] = (),
) -> FindingsList:
    """Put findings, which come with the most important first, into the parts that a reader meets.

    `card_of`: the anchor of the card that a figure is on, absent if the report has no such figure.
    `trials`: of the campaign.
    """
    several_sweeps = len({one.sweep for one in findings}) > 1
    several_modes = modes_differ([one.mode for one in findings])
    in_order = sorted(findings, key=lambda one: one.decision == "undecided")
    methods = Methods(one.method for one in in_order)
    confidences = {row["trial_id"]: row.get("search_confidence") for row in trials}
    lines = []
    for number, (one, test) in enumerate(zip(findings, named_tests(findings, trials), strict=True), start=1):
        words = [f"sweep {one.sweep}"] if several_sweeps else []
        words += [test] if test else []
        words += [format_mode(one.mode)] if several_modes and one.mode is not None else []
        lines.append(
            FindingLine(
                f"finding-{number}",
                one.decision,
                written(one.claim),
                " · ".join(words),
                card_of(one.figure),
                tuple(_facts(one, next(map(confidences.get, one.evidence), None))),
                methods.number(one.method),
                one.evidence,
            )
        )
    conclusions = [line for line in lines if line.decision != "undecided"]
    return FindingsList(
        tuple(conclusions[:MOST_AT_ONCE]),
        tuple(conclusions[MOST_AT_ONCE:]),
        tuple(line for line in lines if line.decision == "undecided"),
        methods.notes,
    )


def written(claim: str) -> Markup:
    """Write a sentence as HTML: commands between backticks as code; numbers stay with their units."""
    parts = [Markup.escape(part) for part in units_kept(claim).split("`")]
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if place % 2 else part for place, part in enumerate(parts)
    )


def _facts(finding: Finding, confidence: float | None) -> list[tuple[str, str]]:
    """`confidence`: that its search was asked for, if it is of one."""
    facts = [("Rests on", counted(finding.n, "trial"))]
    if finding.effect is not None and not _is_guess(finding):
        facts.append(("Estimate", _estimate(finding, confidence).replace("-", "−")))
    # That an effect is small rests on its interval; p would be of no effect at all.
    if finding.p_value is not None and finding.decision != "no practical effect":
        facts.append((_P_VALUE + _OF_KIND.get(finding.kind, _NO_EFFECT), _probability(finding)))
    return facts


def _is_guess(finding: Finding) -> bool:
    """Whether an estimate is a point between tested levels without bounds: its sentence names a level."""
    bounded = (finding.interval_low, finding.interval_high) != (None, None)
    return between_levels(finding) and not bounded and finding.decision == "undecided"


def _estimate(finding: Finding, confidence: float | None) -> str:
    """The effect and its interval, in the unit of the finding."""
    write = _WRITERS.get(finding.effect_unit or "", format_number)
    low, high = finding.interval_low, finding.interval_high
    if low is None and high is None:
        return write(finding.effect or 0.0)
    interval = interval_words(finding, confidence)
    if between_levels(finding) and finding.effect_unit == "bytes":
        return _between_sizes(finding.effect or 0.0, low, high, interval)
    ends = ("" if low is None else write(low), "" if high is None else write(high))
    return f"{write(finding.effect or 0.0)}, {interval} {_from_to(*ends)}"


def _from_to(low: str, high: str) -> str:
    if low and high:
        return f"from {low} to {high}"
    return f"up to {high}" if high else f"from {low} on"


def _between_sizes(effect: float, low: float | None, high: float | None, interval: str) -> str:
    """A window between tested ones, in their unit; one byte above a tested one is "above" that."""
    above = low is not None and (round(low) - 1) % _KIB == 0 and low > _KIB
    ends = [round(end) for end in (low, high) if end is not None]
    if above:
        ends[0] -= 1
    text, *words = format_sizes(round(effect), *ends, binary=all(end % _KIB == 0 for end in ends))
    close = low is not None and high is not None and high <= CLOSE_LEVELS * low
    if above:
        words[0] = f"above {words[0]}"
    least = words.pop(0) if low is not None else ""
    between = f"{interval} {_from_to(least, words[0] if words else '')}"
    return f"{text}, {between}" if close or not (words or least) else between


def _probability(finding: Finding) -> str:
    text = _p(finding.p_value or 0.0)
    if finding.p_adjusted is None:
        return text
    return f"{text} with all that it was chosen from; {_p(finding.p_adjusted)} over all hypotheses (Holm)"


def _p(value: float) -> str:
    """A corrected p-value ends at 1, which is no evidence that there is no effect."""
    return "p = 1 (upper bound)" if value >= 1 else format_p(value)


_WRITERS: Mapping[str, Callable[[float], str]] = {
    "ns/byte": lambda value: f"{format_number(value)} ns/byte",
    "%": lambda value: f"{format_number(value)} %",
    "bytes": format_size,
    "flows": lambda value: f"{format_number(value)} flows",
    "s/GB": lambda value: f"{format_number(value)} s/GB",
    "s": lambda value: format_duration(value * SECOND_NS),
    "bit/s": format_rate,
}
