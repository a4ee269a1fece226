"""Which test something is of, said where a sweep has trials of several, as only what was imported may."""

from collections.abc import Sequence

from flowsweep.analysis.findings.finding import Finding
from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.wording import name_of_test, several_tests


def named_tests(findings: Sequence[Finding], trials: Sequence[TrialRow]) -> list[str]:
    """Name the test of each finding, as "TCP", where trials of its sweep are of several; else "".

    Args:
        findings: Of one campaign.
        trials: All of its rows.
    """
    by_sweep: dict[str, list[TrialRow]] = {}
    for row in trials:
        by_sweep.setdefault(row["sweep"], []).append(row)
    mixed = {sweep: rows for sweep, rows in by_sweep.items() if several_tests(rows)}
    of_trial = {row["trial_id"]: row["test"] for rows in mixed.values() for row in rows}
    return [_named_tests(one, mixed[one.sweep], of_trial) if one.sweep in mixed else "" for one in findings]


def _named_tests(finding: Finding, rows: Sequence[TrialRow], of_trial: dict[str, str]) -> str:
    tests = [of_trial[trial] for trial in finding.evidence if trial in of_trial]
    # One that rests on no trials is about all that were looked at together.
    together = tests or [row["test"] for row in rows if row["mode"] == finding.mode]
    return " and ".join(map(name_of_test, dict.fromkeys(together)))
