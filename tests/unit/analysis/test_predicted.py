"""What the model says of a campaign's trials: over the plan's links, or over a path that the trials found."""

import pytest

from analysis_support import make_campaign, write_archive
from flowsweep.analysis.predicted import PREDICTED, PREDICTED_RATE, PREDICTED_RTT, with_predictions
from flowsweep.archive import Archive, read_archive
from summary_support import archive_rows


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Archive:
    folder = tmp_path_factory.mktemp("predicted") / "archive"
    write_archive(folder, make_campaign(flows=(1, 2), window_sums=(1 << 16, 1 << 20)))
    return read_archive(folder)


def rows_with(archive: Archive, **changes: object) -> list:
    """Rows of a campaign whose trials had what they lack: their kernels told no round trip."""
    return [row | changes for row in archive_rows(archive)]


def test_a_path_is_as_fast_as_its_fastest_point_and_as_far_as_its_least_round_trip(archive: Archive) -> None:
    rows = rows_with(archive, rtt_min_ms=40.0)
    rows[0]["rtt_min_ms"] = 38.0
    ended_well = [row for row in rows if row["src"] == rows[0]["src"] and row["goodput_mean_bps"]]
    means: dict[object, list[float]] = {}
    for row in ended_well:
        point = (row["flows"], row["window_sum_bytes"])
        means.setdefault(point, []).append(row["goodput_mean_bps"])
    fastest = max(sum(own) / len(own) for own in means.values())
    found = {row["trial_id"]: row for row in with_predictions(rows, archive)}
    predicted = [found[row["trial_id"]] for row in ended_well]
    assert all(row[PREDICTED_RTT] == 38.0 for row in predicted)
    assert predicted[0][PREDICTED_RATE] == pytest.approx(fastest * 1500 / 1448, rel=0.05)
    assert all(0 < row[PREDICTED] <= fastest * 1.01 for row in predicted)


def test_round_trips_of_hosts_alone_are_no_path(archive: Archive) -> None:
    for rtt_min_ms in (None, 0.2):
        rows = with_predictions(rows_with(archive, rtt_min_ms=rtt_min_ms), archive)
        assert not any(PREDICTED in row for row in rows)


def test_trials_that_failed_find_no_path(archive: Archive) -> None:
    rows = rows_with(archive, rtt_min_ms=40.0, status="failed")
    assert not any(PREDICTED in row for row in with_predictions(rows, archive))
