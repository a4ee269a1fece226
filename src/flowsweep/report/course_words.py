"""The sender's course within imported trials in words, where one mean stands for rates that are far apart."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import median

from flowsweep.analysis.sender_courses import SenderCourse
from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.wording import direction_of, format_rate

_FAR_APART = 1.5
"""Times the one third of a trial, that the other carried in each of them."""


def courses_in_words(points: Sequence[Sequence[TrialRow]], courses: Sequence[SenderCourse]) -> Iterator[str]:
    """Say of each point whose trials all went alike how the sender's rate rose or fell within them."""
    by_trial = {course["trial_id"]: course for course in courses}
    for own in points:
        if said := _course(own, by_trial):
            yield said


def _course(own: Sequence[TrialRow], courses: Mapping[str, SenderCourse]) -> str:
    found = [courses[row["trial_id"]] for row in own if row["trial_id"] in courses]
    if len(found) < len(own):
        return ""
    if all(course["first_bps"] > _FAR_APART * course["last_bps"] for course in found):
        went = "fell"
    elif all(course["last_bps"] > _FAR_APART * course["first_bps"] for course in found):
        went = "rose"
    else:
        return ""
    first_bps = median(course["first_bps"] for course in found)
    last_bps = median(course["last_bps"] for course in found)
    within, medians = ("the trial", "") if len(own) == 1 else (f"each of {len(own)} trials", " (medians)")
    rates = f"from {format_rate(first_bps)} in the first third of the time to {format_rate(last_bps)}"
    return (
        f"{direction_of(own[0])}: within {within} at that point the sender's rate {went}, {rates} in the "
        f"last{medians}; goodput is the mean over all of it."
    )
