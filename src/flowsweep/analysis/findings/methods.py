"""The methods of findings, as numbered notes below them."""

from collections.abc import Iterable

COMMON = (
    "The test for a decline at large windows uses the mean over a trial, and what is called alike may not "
    "lose more in that mean, at any point. Where a method does not name red noise, its interval and p-value "
    "take trials as independent, once points and repeats are taken out; if trials resemble their neighbours "
    "in time, they hold in a random order only"
)
"""What holds for many findings: the goodput that they use, what they assume of the noise."""


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
