"""What the model says of a campaign's trials: over the plan's links, or over a path that the trials found."""

from dataclasses import replace
from pathlib import Path

import pytest

from analysis_support import SECOND_NS, Steady, make_campaign, make_outcome, make_trial, write_archive
from datagram_support import Stream, make_udp_outcome, make_udp_trial
from flowsweep.analysis.predicted import (
    BEYOND_COMPARED,
    PREDICTED,
    PREDICTED_RATE,
    PREDICTED_RTT,
    with_predictions,
)
from flowsweep.archive import Archive, read_archive
from flowsweep.plan.until.model import Until
from flowsweep.prediction.paths import KnownPath
from flowsweep.prediction.points import predicted_trials
from flowsweep.run.outcome import Decided, TrialOutcome
from mptcp_support import make_mptcp_outcome, make_mptcp_trial
from quic_support import make_quic_outcome, make_quic_trial
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


RTT = 100.0
UNTIL = Until(share=0.02, at_least_ns=SECOND_NS)


def test_trials_that_ended_early_are_compared_with_what_they_counted(tmp_path: Path) -> None:
    """Of the same point: one ended after 2 s and counts its last half second, one lasted for its 10 s."""
    ends = {1: (1_500_000_000, 2 * SECOND_NS), 2: (3 * SECOND_NS, 10 * SECOND_NS), 3: None}
    outcomes = []
    for repeat, end in ends.items():
        trial = make_trial(repeat=repeat, duration_ns=10 * SECOND_NS, omit_ns=0, until=UNTIL)
        decided = end and Decided(
            counted_from_ns=end[0], ended_ns=end[1], half_width_share=0.01, held_by=None
        )
        outcome = make_outcome(trial, Steady(min_rtt_us=20_000))
        outcomes.append(replace(outcome, record=outcome.record.model_copy(update={"decided": decided})))
    archive = read_archive(write_archive(tmp_path / "archive", outcomes))
    rows = [row | {"rtt_min_ms": 20.0, "status": "ok"} for row in archive_rows(archive)]
    found = {row["repeat"]: row for row in with_predictions(rows, archive)}
    asked = {
        repeat: make_trial(repeat=repeat, duration_ns=end[1], omit_ns=end[0])
        for repeat, end in ends.items()
        if end
    }
    path = KnownPath(found[1][PREDICTED_RATE], 20_000_000)
    for repeat, trial in asked.items():
        expected = predicted_trials({"t": trial}, (), path)["t"]
        assert found[repeat][PREDICTED] == expected.goodput_bps
        assert (BEYOND_COMPARED in found[repeat]) == (not expected.was_compared)
    assert PREDICTED not in found[3], "it does not say when it ended"
    assert found[1][PREDICTED] != found[2][PREDICTED]


def test_windows_that_were_clipped_are_predicted_as_they_were_granted(tmp_path: Path) -> None:
    asked = [make_trial(repeat=repeat, window_bytes=4 << 20, clip_allowed=True) for repeat in (1, 2)]
    archive = read_archive(write_archive(tmp_path / "archive", map(make_outcome, asked)))
    clipped = {
        "window_clipped": True,
        "window_granted_send_bytes": 1 << 18,
        "window_granted_recv_bytes": 1 << 18,
    }
    rows = [row | {"rtt_min_ms": RTT} for row in archive_rows(archive)]
    rows[0] |= clipped
    found = {row["trial_id"]: row for row in with_predictions(rows, archive)}
    less, whole = (found[rows[place]["trial_id"]][PREDICTED] for place in (0, 1))
    path = KnownPath(found[rows[0]["trial_id"]][PREDICTED_RATE], 100_000_000)
    assert less == predicted_trials({"t": make_trial(window_bytes=1 << 17)}, (), path)["t"].goodput_bps
    assert whole > 2 * less


def with_records(outcome: TrialOutcome, **changes: object) -> TrialOutcome:
    sources = tuple(end.model_copy(update=changes) for end in outcome.record.sources)
    return replace(outcome, record=outcome.record.model_copy(update={"sources": sources}))


@pytest.mark.parametrize(
    ("test", "factor"),
    [
        ("tcp", 1 + 52 / 1448),
        ("udp", 1028 / 1000),
        ("quic", 1480 / 1417),
        ("tls", (1 + 52 / 1448) * (8192 + 22) / 8192),
    ],
)
def test_a_path_is_as_fast_as_the_fastest_test_found_it_with_its_own_headers(
    tmp_path: Path, test: str, factor: float
) -> None:
    """UDP and QUIC have no segments, and UDP sees no round trips."""
    outcomes = {
        "tcp": make_outcome(make_trial(repeat=1)),
        "tls": make_outcome(make_trial(sweep="tls", encryption="tls")),
        "udp": with_records(make_udp_outcome(make_udp_trial(), [Stream()]), mss_bytes=None),
        "quic": with_records(make_quic_outcome(make_quic_trial()), mss_bytes=None),
    }
    archive = read_archive(write_archive(tmp_path / "archive", outcomes.values()))
    fastest = outcomes[test].record.trial_id
    rows = [
        row
        | {
            "rtt_min_ms": None if row["test"] == "udp" else 40.0,
            "goodput_mean_bps": 50e6 if row["trial_id"] == fastest else 20e6,
            "status": "ok",
        }
        for row in archive_rows(archive)
    ]
    found = with_predictions(rows, archive)
    [rate_bps] = {row[PREDICTED_RATE] for row in found}
    assert rate_bps == pytest.approx(50e6 * factor)
    assert {row["test"] for row in found if PREDICTED in row} == {"tcp", "udp", "quic"}


@pytest.mark.parametrize("several", ["paths", "pairs"])
def test_what_flows_reach_over_several_paths_is_no_path(tmp_path: Path, several: str) -> None:
    """One path of 100 Mbit/s and 40 ms, another of 20 ms, and both together."""
    one = make_outcome(make_trial(repeat=1))
    both = (
        make_mptcp_outcome(make_mptcp_trial(), [1_000_000, 1_000_000])
        if several == "paths"
        else make_outcome(make_trial(sweep="pairs", sources=("a", "c"), sinks=("b", "d")))
    )
    archive = read_archive(write_archive(tmp_path / "archive", [one, both]))
    rows = [
        row
        | {
            "rtt_min_ms": 40.0 if row["trial_id"] == one.record.trial_id else 20.0,
            "goodput_mean_bps": 95e6 if row["trial_id"] == one.record.trial_id else 190e6,
            "status": "ok",
        }
        for row in archive_rows(archive)
    ]
    assert len(rows) == 2
    [found] = [row for row in with_predictions(rows, archive) if PREDICTED in row]
    assert found["trial_id"] == one.record.trial_id
    assert found[PREDICTED_RATE] == pytest.approx(100e6, rel=0.02)
    assert found[PREDICTED_RTT] == 40.0


def test_mptcp_of_one_subflow_finds_a_path(tmp_path: Path) -> None:
    outcomes = [make_outcome(make_trial()), make_mptcp_outcome(make_mptcp_trial(subflows=1), [1_000_000])]
    archive = read_archive(write_archive(tmp_path / "archive", outcomes))
    rows = [
        row
        | {
            "rtt_min_ms": 40.0,
            "goodput_mean_bps": 50e6 if row["test"] == "mptcp" else 20e6,
            "status": "ok",
        }
        for row in archive_rows(archive)
    ]
    [rate_bps] = {row[PREDICTED_RATE] for row in with_predictions(rows, archive) if PREDICTED in row}
    assert rate_bps > 50e6
