"""What to know before a comparison's shifts are believed, in sentences."""

from collections.abc import Mapping, Sequence

from flowsweep.analysis.comparing.estimates import Estimates
from flowsweep.analysis.comparing.failures import Failures
from flowsweep.analysis.comparing.points import Point, pair_of
from flowsweep.analysis.comparing.shifts import Shift
from flowsweep.analysis.findings.late_trials import trusted
from flowsweep.analysis.statistics.observations import carried
from flowsweep.analysis.statistics.serial_correlation import lag_one, too_alike
from flowsweep.analysis.summarising.trial_row import TrialRow, is_searched
from flowsweep.wording import counted, format_number, format_p

Shifts = Mapping[Point | None, Shift]
"""Of each point; the overall shift is under None."""
_LEAST_CORRELATION = 0.3
_SHOWN = tuple(map(len, ("2026-01-31T23:59", "2026-01-31T23:59:59")))
"""Characters of a time: to the minute, and to the second."""


def remarks(
    estimates: Estimates | None,
    failed: Failures,
    shifts_if_random: Shifts,
    left: Shifts,
    *,
    ran: tuple[int, int],
) -> tuple[str, ...]:
    """Say what speaks against taking the shifts for the effect of what was changed.

    Args:
        estimates: What the repeats say; None where no point is in both.
        failed: Trials that failed.
        shifts_if_random: What would be said if failures were a matter of chance.
        left: What is said.
        ran: Trials of A and of B, those included of points that the other did not run.
    """
    of_repeats = [] if estimates is None else _of_repeats(estimates)
    return tuple(of_repeats + _of_failures(failed, shifts_if_random, left, ran))


def _of_repeats(estimates: Estimates) -> list[str]:
    if estimates.rounded:
        equal = "All repeats are equal to the last digit, as figures are that another tool rounded"
        return [f"{equal}: how much they vary is not known, and nothing is decided."]
    return _of_resemblance(estimates.series)


def _of_resemblance(repeats: Sequence[Sequence[float]]) -> list[str]:
    correlation = lag_one(repeats)
    if correlation is None or correlation < _LEAST_CORRELATION:
        return []
    said = f"Neighbouring repeats resemble each other (correlation {format_number(correlation)})"
    if too_alike(repeats, correlation):
        return [f"{said}: they tell no more than two independent ones would, and nothing is decided."]
    return [f"{said}: intervals are wider by as much."]


def _of_failures(failed: Failures, shifts_if_random: Shifts, left: Shifts, ran: tuple[int, int]) -> list[str]:
    p_value = failed.p_value
    if p_value is None:
        return []
    (failed_a, trials_a), (failed_b, trials_b) = failed.totals
    counts = f"{failed_a} of {counted(trials_a, 'trial')} failed in A, {failed_b} of {trials_b} in B"
    where = "" if (trials_a, trials_b) == ran else "At the points that both ran, "
    said = [f"{where}{counts} (Fisher's exact test, if they failed independently: {format_p(p_value)})."]
    taken_back = [key for key in shifts_if_random if shifts_if_random[key].outcome != left[key].outcome]
    if not taken_back:
        return said
    what = []
    if None in taken_back:
        what.append(f'overall "{shifts_if_random[None].outcome}"')
    points = sum(key is not None for key in taken_back)
    if points:
        what.append(f"what {counted(points, 'point')} would be called")
    became = "is" if len(what) == 1 else "are"
    subject = " and ".join(what)
    why = "the trials that failed may have been the slow ones"
    return [*said, f"{subject[0].upper()}{subject[1:]} {became} taken back: {why}."]


def late_left_out(a: Sequence[TrialRow], b: Sequence[TrialRow]) -> tuple[str, ...]:
    """Say how many trials take no part since this machine could not emulate their path.

    Args:
        a: Rows of A's summary.
        b: Rows of B's.
    """
    late_a, late_b = (len(rows) - len(trusted(rows)) for rows in (a, b))
    if not late_a and not late_b:
        return ()
    counts = f"{late_a} of {counted(len(a), 'trial')} of A and {late_b} of {len(b)} of B"
    return (f"{counts} are left out: this machine could not keep up with their emulated path.",)


def searched_left_out(a: Sequence[TrialRow], b: Sequence[TrialRow]) -> tuple[str, ...]:
    """Say how many trials take no part since a search chose their point by what came before.

    Args:
        a: Rows of A's summary.
        b: Rows of B's.
    """
    of_a, of_b = (sum(map(is_searched, rows)) for rows in (a, b))
    if not of_a and not of_b:
        return ()
    counts = f"{of_a} of {counted(len(a), 'trial')} of A and {of_b} of {len(b)} of B"
    return (f"{counts} are left out: a search chose what they try by what came before.",)


def without_partner(a: Sequence[TrialRow], b: Sequence[TrialRow]) -> tuple[str, ...]:
    """Say how many trials take no part since the one beside them did not run.

    Args:
        a: Rows of A, with the `pair` they are of.
        b: Those of B.
    """
    pairs_a, pairs_b = ({pair_of(row) for row in rows} for rows in (a, b))
    alone = {"A": len(pairs_a - pairs_b), "B": len(pairs_b - pairs_a)}
    if not any(alone.values()):
        return ()
    said = " and ".join(f"{counted(trials, 'trial')} of {name}" for name, trials in alone.items() if trials)
    they = "it takes" if sum(alone.values()) == 1 else "they take"
    return (f"No partner ran for {said}: {they} no part.",)


def times_apart(a: Sequence[TrialRow], b: Sequence[TrialRow]) -> tuple[str, ...]:
    """Say what follows where one campaign was over before the other began, by the trials that take part.

    Args:
        a: Rows of the first campaign's summary.
        b: Rows of the second's.
    """
    starts_a, starts_b = (
        [row.get("started_at") for row in filter(carried, trusted(rows))] for rows in (a, b)
    )
    known_a, known_b = ([str(at) for at in starts if at is not None] for starts in (starts_a, starts_b))
    if not known_a or not known_b:
        return ()
    (first_a, last_a), (first_b, last_b) = ((min(known), max(known)) for known in (known_a, known_b))
    if first_a <= last_b and first_b <= last_a:
        return ()
    _, over, begun, _ = sorted([first_a, last_a, first_b, last_b])
    shown = next((length for length in _SHOWN if over[:length] != begun[:length]), _SHOWN[-1])
    times = [
        f"{name} from {first[:shown]} to {last[:shown]}".replace("T", " ")
        for name, first, last in (("A", first_a, last_a), ("B", first_b, last_b))
    ]
    what = "what the day or the hour changed is part of every shift, and in no interval"
    untimed = [
        f"{starts.count(None)} of {counted(len(starts), 'trial')} of {name}"
        for name, starts in (("A", starts_a), ("B", starts_b))
        if None in starts
    ]
    but = f" (no time is known of {' and '.join(untimed)})" if untimed else ""
    remark = f"{' and '.join(times)} UTC did not overlap{but}: {what}."
    # What another tool measured has no plan that Flowsweep could run.
    how = (
        "" if all(row.get("imported_from") for row in (*a, *b)) else ": flowsweep run A.toml --against B.toml"
    )
    return (f"{remark} Repeats of A and B in turn tell it apart{how}.",)
