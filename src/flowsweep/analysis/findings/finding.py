"""A finding: one conclusion about a campaign, as data and as a sentence; and the notes on its method."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

FindingKind = Literal[
    "emulation", "broken", "empty", "failures", "stalls", "order",
    "path", "available", "rate", "loss", "latency", "message_size",
    "verdict", "advice", "drops", "autotuning", "bufferbloat", "plateau",
    "share", "dip", "decline", "effect", "flows", "congestion", "direction", "drift", "step", "cycle",
    "modes", "periodicity", "outliers", "correlation", "duration", "slow_start", "theory", "variation",
]  # fmt: skip
"""What a finding is about; the most important first, where decisions are alike."""

Decision = Literal["effect", "no practical effect", "undecided", "described"]
"""Whether there is one; "described" where nothing was to be decided, as of how much goodput varied."""

FigureKind = Literal[
    "plane", "line", "repeats", "prediction", "product", "per_flow", "time_series", "ecdf", "cpu", "limits",
    "duration", "effects", "offered", "jitter", "spacing", "rate_search",
    "hop_times", "hop_capacity", "trains", "streams", "shares", "rtt_time", "rtt_ecdf", "rtt_size",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class FigureKey:
    """Which figure of a report shows why; a report without it links to nothing."""

    kind: FigureKind
    sweep: str
    mode: str | None
    direction: str | None = None
    """ "source → sink", where the figure is of one direction."""
    axis: str | None = None
    """Column of the summary, where there is one figure for each axis."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One conclusion. Numbers are null where a finding has none."""

    kind: FindingKind
    sweep: str
    mode: str | None
    """How TCP's bytes got into and out of the kernel; null for other tests."""
    direction: str | None
    """ "source → sink"; null: of all directions of the sweep."""
    axis: str | None
    """Column of the summary that was varied; null where the finding is not about one."""
    decision: Decision
    claim: str
    """The sentence, with its numbers in engineering units."""
    effect: float | None
    """The estimate, in `effect_unit`."""
    effect_unit: str | None
    """"%" (relative change of goodput), "bytes", "flows", "s", "bit/s", "ns/byte", "1" (a share or a
    coefficient)."""
    interval_low: float | None
    """Ends of the 95 % interval of `effect`."""
    interval_high: float | None
    p_value: float | None
    """Of "there is no effect", not corrected; null where nothing was tested."""
    p_adjusted: float | None
    """By Holm's correction over all hypotheses that were put to the campaign."""
    n: int
    """Trials that the finding rests on."""
    method: str
    """How it was computed, in words that name the procedure."""
    evidence: tuple[str, ...]
    """trial_id of the rows that it rests on."""
    figure: FigureKey | None


class Methods:
    """The methods of some findings, numbered from 1 in the order in which they come."""

    def __init__(self, methods: Iterable[str]) -> None:
        """Number methods, of which many are alike.

        Args:
            methods: `Finding.method` of each finding, in the order in which the findings are shown.
        """
        self._methods = tuple(dict.fromkeys(methods))

    def number(self, method: str) -> int:
        """Return the number of a method that was given."""
        return self._methods.index(method) + 1

    @property
    def notes(self) -> tuple[str, ...]:
        """What to say under each number: the method, or in what it differs from one that came before."""
        return tuple(self._note(place) for place in range(len(self._methods)))

    def _note(self, place: int) -> str:
        clauses = self._methods[place].split("; ")
        for before in range(place):
            others = self._methods[before].split("; ")
            # Clause by clause, or a reader could not tell which one a difference replaces.
            if len(others) == len(clauses) and others[0] == clauses[0]:
                own = [mine for mine, other in zip(clauses, others, strict=True) if mine != other]
                return f"as {before + 1}, but {'; '.join(own)}"
        return "; ".join(clauses)
