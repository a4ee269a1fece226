"""The last line of every command of one trial: what limited it, or why that is not known."""

from flowsweep.analysis.summarising.trial_row import TrialRow, quantity_of
from flowsweep.analysis.tests.tcp.columns import LIMITS
from flowsweep.analysis.verdict_words import PATH_ITSELF, THE_PATH, limit_words
from flowsweep.analysis.verdicts import BUSY, CORES_BUSY, NOT_CLEAR, RECEIVER_CPU, SENDER_CPU
from flowsweep.wording import format_share

LIMITED_BY = "limited by"


def limited_by(row: TrialRow, *, unclear: str, unknown: str) -> str:
    """Say what limited a trial that sent for a time.

    Args:
        row: Of the summary.
        unclear: What is said where the verdict is that the cause is not clear.
        unknown: Why there is no verdict, of a trial that is whole.
    """
    verdict = row["verdict"]
    if verdict == NOT_CLEAR:
        return f"not known: {unclear}"
    if verdict is not None:
        name, sentences = limit_words(row)
        meaning = sentences.removesuffix(".")
        if name == PATH_ITSELF:
            return f"{name}, which{meaning.removeprefix(THE_PATH)}"
        return f"{name}: {meaning[0].lower()}{meaning[1:]}{_beside_others(row, verdict)}"
    return not_known(row, unknown)


def _beside_others(row: TrialRow, verdict: str) -> str:
    """Say how much CPU time the trial itself had, where its threads waited for their turn."""
    own, cores = {
        SENDER_CPU: (row.get("cpu_send"), row.get("cores_busy_send")),
        RECEIVER_CPU: (row.get("cpu_recv"), row.get("cores_busy_recv")),
    }.get(verdict, (None, None))
    if own is None or cores is None or own >= BUSY or cores < CORES_BUSY:
        return ""
    return (
        f"; all of its cores were in use, of which the trial's busiest thread had {format_share(own)} of one"
    )


def no_verdict(row: TrialRow, otherwise: str) -> str:
    """Say why a trial that is whole has no verdict: it has no goodput, or else what its test says."""
    return "there are too few whole intervals for a goodput" if row["goodput_bps"] is None else otherwise


def not_known(row: TrialRow, reason: str) -> str:
    """Say why it is not known; of a trial that failed, because it did."""
    return f"not known: {reason if row['status'] != 'failed' else 'the trial failed'}"


def windows_full(row: TrialRow) -> str:
    """Say for which share of the time each window was full, the most frequent first."""
    names = LIMITS | {"none": "no window"}
    shares = ((quantity_of(row, f"limit_{key}_share"), name) for key, name in names.items())
    known = sorted(((share, name) for share, name in shares if share), reverse=True)
    text = ", ".join(f"{name} {format_share(share)}" for share, name in known)
    return f"full, by share of the time: {text}"
