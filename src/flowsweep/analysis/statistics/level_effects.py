"""How much goodput differs between the levels of one axis, everything else being equal."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from itertools import combinations

import numpy as np
import scipy

from flowsweep.analysis.statistics.blocks import blocks, is_imported
from flowsweep.analysis.statistics.design import Design, Level, both, mostly_repeated
from flowsweep.analysis.statistics.least_squares import Codes, Estimates, Fit, Floats
from flowsweep.analysis.statistics.rounded import rounded_away

PERMUTATIONS = 999
FEWEST_ARRANGEMENTS = 100
"""With fewer ways to arrange the levels, permutation cannot tell p from 0.05 well enough to judge a claim."""

_SEED = 20010829
"""A campaign says the same whenever it is asked."""

Pair = tuple[int, int]


class Incomparable(Enum):
    """Why levels cannot be compared."""

    TOO_FEW = auto()
    """No degrees of freedom are left for the noise."""
    NOT_ALIKE = auto()
    """No two levels ran at the same point of the other axes."""
    APART = auto()
    """No two levels ran in the same block, nor in blocks that others tie together: what differs between
    blocks may be all of what differs between levels."""
    ROUNDED = auto()
    """Nothing is left as noise of figures that another tool may have rounded: `all_rounded`."""


@dataclass(frozen=True, slots=True)
class LevelComparison:
    """All pairs of levels of an axis, compared where the other axes are alike. Natural logarithms."""

    axis: str
    levels: tuple[Level, ...]
    pairs: tuple[Pair, ...]
    """Numbers of two levels, the lower first, that some points have in common."""
    differences: Estimates
    """One for each pair, second − first: averaged over the points that the two levels have in common."""
    means: Floats
    """(levels,) of log goodput, as far above or below their mean as the differences say."""
    repeated: bool
    """Points ran more than once, and their repeats tell the noise; else the interaction of axes has to."""
    freedom: int
    """Degrees of freedom of the noise, over all levels."""
    points: tuple[tuple[tuple[str, Level], ...], ...]
    """Points of the other axes, those of other hosts apart: axis and level."""
    point_of: Codes
    """(units,) which of these points a unit is of."""
    common: Mapping[Pair, Codes]
    """At which of these points the levels of a pair are compared."""
    at_points: Callable[[Pair], tuple[Codes, Estimates]]
    """The difference of a pair at each point of the other axes that has both, and which points they are;
    where points ran once the model knows one difference only."""
    permuted: Callable[[], float] | None
    """The p-value of "levels do not matter" by permutation within blocks; none where too few are possible."""

    @property
    def p_value(self) -> float:
        """Of "the level does not matter": that of the most telling pair, times the number of pairs.

        Bonferroni's bound, which holds although the pairs depend on each other.
        """
        return min(1.0, float(self.differences.p_values.min()) * len(self.pairs))

    def p_of(self, pair: Pair) -> float:
        """Of "these two levels do not differ", in any order; not corrected for the number of pairs."""
        return float(self.differences.p_values[self.pairs.index((min(pair), max(pair)))])

    def difference(self, pair: Pair, *, comparisons: int = 1) -> tuple[float, float, float]:
        """Tell the difference of two levels, second − first, with its 95 % interval.

        Args:
            pair: Numbers of two levels, in any order.
            comparisons: From how many pairs this one was chosen by its difference: Bonferroni's bound.

        Returns:
            Estimate and both ends of the interval, natural logarithms.
        """
        first, second = pair
        sign = 1 if first < second else -1
        place = self.pairs.index((min(pair), max(pair)))
        value = sign * float(self.differences.value[place])
        half = float(self.differences.half_widths(comparisons)[place])
        return value, value - half, value + half


def compare_levels(design: Design, axis: str) -> LevelComparison | Incomparable:
    """Compare the levels of one axis.

    Args:
        design: Of one sweep and mode; goodput in bit/s.
        axis: One of its axes.

    Returns:
        Differences of mean log goodput between levels. Each point of the grid has a mean of its own, each
        of the `blocks`, which are the repeats of a plan, an effect of its own, and the noise is what is left
        (pure error; Box, Hunter and Hunter, Statistics for Experimenters, 2005, ch. 4), of each point its own
        (`Fit.compare`). Where points ran once, the points of the other axes are the blocks, those on each
        side of a step apart, and their interaction with this one counts as noise, too.
        Or why there are none: levels did not run under the same conditions, or nothing tells the noise.
    """
    if not design.units:
        return Incomparable.TOO_FEW
    levels = design.levels(axis)
    level = _numbered(design, axis, levels)
    other_axes = [other for other in design.axes if other != axis]
    others = design.codes(*other_axes)
    logs, strata = design.logs, both(both(design.repeats, others), design.sides)
    points = both(level, others)
    repeated = mostly_repeated(points)
    cells = points if repeated else level
    fit_blocks = blocks(design) if repeated else both(others, design.sides)
    fit = Fit(logs, cells, fit_blocks)
    cell_of = np.full((len(levels), int(others.max()) + 1), -1)
    cell_of[level, others] = cells
    tied = _tied(cells, fit_blocks)
    if not repeated and is_imported(design):
        tied = both(tied, _tied(level, blocks(design)))
    tied = tied[cell_of]
    common = _comparable(cell_of, tied)
    if isinstance(common, Incomparable):
        return common
    if fit.freedom < 1 or all_rounded(design, fit):
        return Incomparable.TOO_FEW if fit.freedom < 1 else Incomparable.ROUNDED

    def compare(contrasts: Sequence[Floats]) -> Estimates:
        return fit.compare(logs, np.array(contrasts))

    def at_points(pair: Pair) -> tuple[Codes, Estimates]:
        return common[pair], compare([_contrast(cell_of, pair, [point]) for point in common[pair]])

    differences = compare([_contrast(cell_of, pair, shared) for pair, shared in common.items()])
    return LevelComparison(
        axis=axis,
        levels=levels,
        pairs=tuple(common),
        differences=differences,
        means=_means(tuple(common), differences.value, len(levels)),
        repeated=repeated,
        freedom=fit.freedom,
        points=_points(design, others, other_axes),
        point_of=others,
        common=common,
        at_points=at_points,
        permuted=_permutation(logs, level, strata),
    )


def _numbered(design: Design, axis: str, levels: Sequence[Level]) -> Codes:
    """(units,) the place of each unit's level among all."""
    place = design.axes.index(axis)
    numbers = {level: number for number, level in enumerate(levels)}
    return np.array([numbers[unit.levels[place]] for unit in design.units], dtype=np.intp)


def all_rounded(design: Design, fit: Fit) -> bool:
    """As `rounded_away`, of the trials of a design."""
    return rounded_away((row for unit in design.units for row in unit.rows), fit.residuals)


def _points(design: Design, others: Codes, axes: Sequence[str]) -> tuple[tuple[tuple[str, Level], ...], ...]:
    """Axis and level of each point of the other axes, in the order of their numbers."""
    places = [(axis, design.axes.index(axis)) for axis in axes]
    found = dict(zip(others.tolist(), design.units, strict=True))
    return tuple(
        tuple((axis, found[number].levels[place]) for axis, place in places) for number in range(len(found))
    )


def _comparable(cell_of: Codes, tied: Codes) -> dict[Pair, Codes] | Incomparable:
    """Points of the other axes at which two levels ran, in blocks that are tied together."""
    pairs = list(combinations(range(len(cell_of)), 2))
    alike = {pair: np.flatnonzero((cell_of[pair[0]] >= 0) & (cell_of[pair[1]] >= 0)) for pair in pairs}
    common = {
        (low, high): shared
        for (low, high), both in alike.items()
        if len(shared := both[tied[low, both] == tied[high, both]])
    }
    if common:
        return common
    return Incomparable.APART if any(map(len, alike.values())) else Incomparable.NOT_ALIKE


def _tied(cells: Codes, blocks: Codes) -> Codes:
    """Number what blocks tie together, for each cell: only of such cells least squares knows a difference."""
    count = int(cells.max()) + 1
    size = count + int(blocks.max()) + 1
    edges = scipy.sparse.coo_array((np.ones(len(cells)), (cells, count + blocks)), shape=(size, size))
    _, numbers = scipy.sparse.csgraph.connected_components(edges, directed=False)
    return np.asarray(numbers[:count], dtype=np.intp)


def _contrast(cell_of: Codes, pair: Pair, points: Sequence[int] | Codes) -> Floats:
    """What each cell of the fit counts in the mean difference of two levels over some points."""
    row = np.zeros(int(cell_of.max()) + 1)
    # In the additive model a cell is a level and comes up once for each point.
    np.add.at(row, cell_of[pair[1], points], 1 / len(points))
    np.add.at(row, cell_of[pair[0], points], -1 / len(points))
    return row


def _means(pairs: Sequence[Pair], differences: Floats, count: int) -> Floats:
    """The means that agree best with all differences, which agree with each other but for missing points."""
    signs = np.zeros((len(pairs), count))
    for row, (low, high) in enumerate(pairs):
        signs[row, low], signs[row, high] = -1, 1
    return np.asarray(np.linalg.lstsq(signs, differences, rcond=None)[0])


def _permutation(logs: Floats, level: Codes, strata: Codes) -> Callable[[], float] | None:
    """Prepare to shuffle levels within each repeat of each point of the other axes (Good 2005)."""
    count = int(level.max()) + 1
    table = np.full((count, int(strata.max()) + 1), np.nan)
    table[level, strata] = logs
    whole = table[:, ~np.isnan(table).any(axis=0)]
    # Arrangements that only rename levels give the same statistic.
    possible = math.factorial(count) ** max(whole.shape[1] - 1, 0)
    if possible < FEWEST_ARRANGEMENTS:
        return None
    return lambda: permutation_p(whole - whole.mean(axis=0))


def permutation_p(samples: Floats) -> float:
    """Test by permutation within blocks whether samples differ in their mean.

    Args:
        samples: (samples, blocks) of any unit.

    Returns:
        The share of arrangements, of all or of 999 drawn with a fixed seed, in which the variance between
        the samples' means is as large as found (Good, Permutation, Parametric, and Bootstrap Tests of
        Hypotheses, 2005).
    """

    def spread(*values: Floats, axis: int) -> Floats:
        return np.asarray(np.var(np.stack([value.mean(axis=axis) for value in values]), axis=0))

    result = scipy.stats.permutation_test(
        tuple(samples), spread, permutation_type="samples", vectorized=True,
        n_resamples=PERMUTATIONS, alternative="greater", rng=np.random.default_rng(_SEED),
    )  # fmt: skip
    return float(result.pvalue)
