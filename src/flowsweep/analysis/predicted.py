"""What the fluid model predicts for the trials of a campaign, beside what their summaries say."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any, cast

from flowsweep.analysis.findings.advice import window_in_force
from flowsweep.analysis.summarising.trial_row import TrialRow
from flowsweep.defaults import SECOND_NS
from flowsweep.prediction.paths import KnownPath
from flowsweep.prediction.points import point_id, predicted_trials
from flowsweep.prediction.setting import Prediction
from flowsweep.prediction.tests.registry import PREDICTED_TESTS
from flowsweep.prediction.tests.row import segments_on_path
from flowsweep.run.outcome import TrialRecord
from flowsweep.schedule import Trial, planned_links

if TYPE_CHECKING:
    from flowsweep.archive import Archive

PREDICTED = "predicted_goodput_bps"
"""Of a row: the model's mean goodput; absent where it says nothing of the trial."""
BEYOND_COMPARED = "predicted_beyond_compared"
"""Of a row: 1 where nobody compared the model with measurements of such a path; absent elsewhere."""
PREDICTED_RATE, PREDICTED_RTT = "predicted_path_rate_bps", "predicted_path_rtt_ms"
"""Of a row: the path that it is predicted for, where no plan says it, but the trials themselves do."""
PATH_RTT_MS = 1.0
"""Below, a round trip is what hosts take over their packets, and not a path's (docs/truth/presets.md)."""


def with_predictions(rows: Sequence[TrialRow], archive: "Archive") -> list[TrialRow]:
    """Add what is predicted to the rows of an archive's trials.

    Over emulated links for the path of the plan. Over real paths for the one that the trials of a direction
    found: its rate is the highest mean goodput of a point whose flows share one (with headers), its round
    trip the least of these.
    """
    records = {record.trial_id: record for record in archive.records.values()}
    links = planned_links(archive.campaign.plan)
    if links:
        return _with(rows, predicted_trials(_as_they_ran(rows, records), links), {})
    found: dict[str, Prediction] = {}
    paths: dict[str, KnownPath] = {}
    for direction in dict.fromkeys((row["src"], row["dst"]) for row in rows):
        own = [row for row in rows if (row["src"], row["dst"]) == direction and row["trial_id"] in records]
        path = _measured_path(own, records)
        if path is not None:
            of_direction = predicted_trials(_as_they_ran(own, records), (), path)
            found |= of_direction
            paths |= dict.fromkeys(of_direction, path)
    return _with(rows, found, paths)


def _as_they_ran(rows: Sequence[TrialRow], records: Mapping[str, TrialRecord]) -> dict[str, Trial]:
    """Trials by trial_id, each with what it had in place of what it was asked for.

    That is the congestion control that hosts used where the plan named none, windows as they were granted
    where they were clipped, and of a trial that may end early when it did, and from when on it counts. Such
    repeats of a point differ, and so may what is predicted for them. One that does not say when it ended is
    left out.
    """
    ran = {}
    for row in rows:
        record = records.get(row["trial_id"])
        if record is not None and (trial := _as_it_ran(row, record)) is not None:
            ran[row["trial_id"]] = trial
    return ran


def _as_it_ran(row: TrialRow, record: TrialRecord) -> Trial | None:
    parameters, decided = record.trial.parameters, record.decided
    had: dict[str, Any] = {
        "congestion": row["congestion"],
        "window_send_bytes": window_in_force(row, "send"),
        "window_recv_bytes": window_in_force(row, "receive"),
    }
    fields = type(parameters).model_fields
    changes = {name: value for name, value in had.items() if name in fields}
    if getattr(parameters, "until", None) is not None:
        if decided is None:
            return None
        changes |= {"duration_ns": decided.ended_ns, "omit_ns": decided.counted_from_ns}
    return record.trial.model_copy(update={"parameters": parameters.model_copy(update=changes)})


def _with(
    rows: Sequence[TrialRow], predicted: dict[str, Prediction], paths: dict[str, KnownPath]
) -> list[TrialRow]:
    added = []
    for row in rows:
        more: dict[str, float] = {}
        if (found := predicted.get(row["trial_id"])) is not None:
            more[PREDICTED] = found.goodput_bps
            if not found.was_compared:
                more[BEYOND_COMPARED] = 1.0
        if (path := paths.get(row["trial_id"])) is not None:
            more |= {PREDICTED_RATE: path.rate_bps, PREDICTED_RTT: path.rtt_ns * 1_000 / SECOND_NS}
        added.append(cast("TrialRow", {**row, **more}))
    return added


def _measured_path(rows: Sequence[TrialRow], records: Mapping[str, TrialRecord]) -> KnownPath | None:
    """The path as the trials of one direction found it; None if they did not.

    Where flows take several, what they reach together is no path's.
    """
    ended_well = [row for row in rows if row["status"] == "ok" and _share_a_path(records[row["trial_id"]])]
    rtts_ms = [rtt_ms for row in ended_well if row["goodput_mean_bps"] and (rtt_ms := row["rtt_min_ms"])]
    rtt_min_ms = min(rtts_ms, default=0.0)
    if rtt_min_ms < PATH_RTT_MS:
        return None
    points: dict[str, list[float]] = {}
    for row in ended_well:
        record = records[row["trial_id"]]
        rate_bps = _on_path_bps(row, record)
        if rate_bps is not None and rate_bps > 0:
            points.setdefault(point_id(record.trial), []).append(rate_bps)
    if not points:
        return None
    return KnownPath(max(map(fmean, points.values())), rtt_min_ms * SECOND_NS / 1_000)


def _share_a_path(record: TrialRecord) -> bool:
    return record.trial.parameters.paths == 1 and len(record.trial.pairs) == 1


def _on_path_bps(row: TrialRow, record: TrialRecord) -> float | None:
    """What a trial's mean goodput is with headers and what encryption adds; None if that is not known."""
    test = PREDICTED_TESTS.get(row["test"])
    mss_bytes = min((end.mss_bytes for end in record.sources if end.mss_bytes), default=None)
    on_path = segments_on_path if test is None else test.on_path
    try:
        more = on_path(record.trial.parameters, row["family"] or 4, mss_bytes)
    except ArithmeticError:  # An archive from a stranger may have numbers that no plan can have.
        return None
    return None if more is None else (row["goodput_mean_bps"] or 0.0) * more
