"""`flowsweep summary` as a person and as a program see it."""

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from analysis_support import make_campaign, make_outcome, make_trial, write_archive
from datagram_support import Stream, make_udp_outcome, make_udp_trial
from flowsweep.archive import read_archive
from flowsweep.cli.app import app
from flowsweep.cli.summary import print_table
from flowsweep.cli.terminal import Screen
from flowsweep.errors import ArchiveError
from plan_support import plan_of
from rtt_support import make_rtt_outcome, make_rtt_trial
from summary_support import archive_rows, summed

pytestmark = pytest.mark.whole

STABLE_HEADER = (
    "trial_id,sweep,repeat,started_at,src,dst,test,flows,window_bytes,window_sum_bytes,length_bytes,congestion,"
    "duration_s,status,error,goodput_bps,goodput_p10_bps,goodput_p90_bps,coverage,bytes,retransmits,rtt_min_ms,"
    "window_granted_send_bytes,window_granted_recv_bytes,verdict,cpu_send,cpu_recv,goodput_mean_bps,goodput_method,"
    "window_usable_bytes,mode,"
)


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    campaign = make_campaign(flows=(1, 2), window_sums=(1 << 18, 1 << 20))
    return write_archive(tmp_path_factory.mktemp("summary") / "archive", campaign)


def printed(rows: list[dict[str, Any]], *, sweeps: tuple[str, ...] = ()) -> list[str]:
    """The lines of the table, below the first sweep's title."""
    out = io.StringIO()
    print_table(rows, Screen(file=out, width=1000), sweeps=sweeps)
    return [line.strip() for line in out.getvalue().splitlines() if line.strip()][1:]


def output(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["summary", *arguments], catch_exceptions=False)
    assert result.exit_code == 0
    return result.stdout


def test_csv_begins_with_the_stable_columns_and_leaves_the_unknown_empty(archive: Path) -> None:
    text = output(str(archive), "--format", "csv")
    assert text.startswith(STABLE_HEADER)
    rows = list(csv.DictReader(io.StringIO(text)))
    assert len(rows) == 8
    [failed] = [row for row in rows if row["status"] == "failed"]
    assert (failed["goodput_bps"], failed["verdict"], failed["coverage"]) == ("", "", "0.0")
    assert rows[0]["goodput_bps"] == "52428800.0"
    assert rows[0]["window_capped"] == "false"


def test_json_is_a_list_of_the_same(archive: Path) -> None:
    rows = json.loads(output(str(archive), "--format", "json"))
    assert ",".join(rows[0]).startswith(STABLE_HEADER)
    assert rows == archive_rows(read_archive(archive))


def test_the_table_shows_what_differs_and_says_what_is_the_same(archive: Path) -> None:
    text = output(str(archive))
    assert "52.4 Mbit/s" in text
    assert "congestion cubic · mode copy · duration 5 s" in text
    assert "window_clipped" not in text
    assert "failed: prepare on a: send window of 67108864 bytes asked" in text
    assert "…" not in text


@pytest.mark.parametrize("width", [24, 40, 80, 120])
def test_a_narrow_terminal_shows_fewer_columns_and_cuts_nothing(archive: Path, width: int) -> None:
    rows = archive_rows(read_archive(archive))
    out = io.StringIO()
    print_table(rows, Screen(file=out, width=width))
    lines = [line for line in out.getvalue().splitlines() if not re.search(": (prepare|run) on ", line)]
    assert max(map(len, lines)) <= width
    assert "…" not in out.getvalue()
    assert "goodput" in out.getvalue()


def test_what_limited_trials_stands_on_a_narrow_terminal_and_what_does_not_is_named() -> None:
    windows = [make_trial(flows=flows) for flows in (1, 4)]
    held = {"verdict": "congestion window: loss", "limit_cwnd_share": 0.9}
    rows = [row | held for row in summed(*map(make_outcome, windows))]
    out = io.StringIO()
    print_table(rows, Screen(file=out, width=80))
    text = " ".join(out.getvalue().split())
    assert text.count("congestion window: loss") == 2
    assert "no room for coverage, usable, " in text


def test_an_axis_that_varies_is_a_column_and_one_that_is_set_is_told() -> None:
    changes = ({"rate_bps": 10**6}, {"mss_bytes": 1200}, {"affinity": (0, 1)}, {"family": 4}, {"dscp": 0})
    outcomes = [
        make_outcome(make_trial(no_delay=True, pacing_rate_bps=10**7, **change)) for change in changes
    ]
    above, heading, *lines = printed(summed(*outcomes))
    assert above == "rate", "where each flow has a rate of its own, its name takes two lines"
    assert heading.split()[1:9] == ["per", "flow", "MSS", "asked", "DSCP", "CPUs", "IP", "version"]
    assert "status ok" in " ".join(lines), "what all trials have in common takes no column"
    for value in ("1.00 Mbit/s", "1200 B", "0+1", " 4 ", " 0 "):
        assert sum(value in line for line in lines) == 1, value
    assert (
        "duration 5 s · omitted 1 s · interval 1 s · pacing per flow 10.0 Mbit/s · no delay on"
        in " ".join(lines)
    )


def test_what_became_of_the_windows_is_marked_where_it_differs() -> None:
    rows = summed(*(make_outcome(make_trial(dscp=dscp)) for dscp in (0, 1)))
    plain, other = rows
    assert "window was" not in "".join(printed([plain, other]))
    marked = printed([plain, other | {"window_capped": True, "window_raised": True}])
    assert "window was" in marked[0]
    assert ["capped, raised" in line for line in marked[2:4]] == [False, True]
    raised = printed([row | {"window_raised": True} for row in (plain, other)])
    assert "window was raised" in " ".join(raised)


def test_a_path_that_was_not_kept_up_with_is_marked_where_it_differs() -> None:
    rows = summed(*(make_outcome(make_trial(dscp=dscp)) for dscp in (0, 1)))
    plain, other = (row | {"path_emulation": "kept up"} for row in rows)
    assert "emulation kept up" in " ".join(printed([plain, other]))
    header, _, *lines = printed([plain, other | {"path_emulation": "late"}])
    assert "emulation" in header
    assert ["late" in line for line in lines[:2]] == [False, True]


def test_background_traffic_is_told() -> None:
    rows = summed(*(make_outcome(make_trial(dscp=dscp)) for dscp in (0, 1)))
    plain, other = rows
    assert "background" not in "".join(printed([plain, other]))
    header, _, *lines = printed([plain, other | {"background": ["probe", "cross"]}])
    assert "background" in header
    assert ["probe, cross" in line for line in lines[:2]] == [False, True]


def test_sweeps_stand_as_in_the_plan_and_trials_by_their_points() -> None:
    ran = [("second", "cubic", 2), ("first", "reno", 1), ("second", "cubic", 1), ("first", "cubic", 2),
           ("first", "cubic", 1), ("first", "reno", 2)]  # fmt: skip
    outcomes = [make_outcome(make_trial(sweep=s, congestion=c, repeat=r)) for s, c, r in ran]
    # What was in use is what the trials are told apart by.
    rows = [row | {"congestion": row["congestion_asked"]} for row in summed(*outcomes)]
    found = [line.split()[0] for line in printed(rows, sweeps=("first", "second"))]
    ids = {outcome.record.trial_id: wanted for outcome, wanted in zip(outcomes, ran, strict=True)}
    assert [ids[word] for word in found if word in ids] == sorted(ran)


def test_a_campaign_that_has_just_begun(tmp_path: Path) -> None:
    folder = write_archive(tmp_path / "archive", [])
    assert output(str(folder)) == "No trial has finished yet.\n"
    assert output(str(folder), "--format", "json") == "[]\n"
    assert output(str(folder), "--format", "csv").startswith(STABLE_HEADER)


@pytest.mark.parametrize(("repeats", "last"), [(1, ""), (2, "1 of 2 trials have finished.")])
def test_a_campaign_that_was_interrupted_says_how_far_it_came(
    tmp_path: Path, repeats: int, last: str
) -> None:
    plan = plan_of("", f"repeats = {repeats}")
    campaign = make_campaign(flows=(1,), window_sums=(1 << 18,), with_failures=False)[:1]
    folder = write_archive(tmp_path / "archive", campaign, plan_json=plan.model_dump_json())
    assert output(str(folder)).splitlines()[-1] == last


def test_what_is_no_archive_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ArchiveError, match="not an archive: the folder is empty"):
        output(str(tmp_path))


def test_datagrams_have_no_mode_and_no_windows_that_tune_themselves() -> None:
    outcome = make_udp_outcome(make_udp_trial(), [Stream(lost=10)])
    (row,) = summed(outcome)
    text = " ".join(printed([row]))
    assert row["mode"] is None
    assert "lost" in text
    for word in ("mode", "window", "usable", "retransmits", "minimum RTT"):
        assert word not in text, word


def test_questions_for_the_round_trip_time_are_no_flows() -> None:
    outcome = make_rtt_outcome(make_rtt_trial(), [(0, 20.0), (10, 21.0), (20, 22.0)])
    (row,) = summed(outcome)
    text = " ".join(printed([row]))
    assert row["mode"] is None
    assert "21 ms" in text
    assert "round trip" in text
    for word in ("mode", "window", "flows", "goodput", "coverage"):
        assert word not in text, word


def test_where_no_table_fits_each_trial_has_lines_with_all_that_is_known(archive: Path) -> None:
    rows = archive_rows(read_archive(archive))
    out = io.StringIO()
    print_table(rows, Screen(file=out, width=40))
    said = out.getvalue()
    assert all(f"\n{row['trial_id']}\n  path {row['src']} → {row['dst']} · flows " in said for row in rows)
    words = " ".join(said.split())
    assert "flows 1 · window sum 256 KiB · window per flow 256 KiB · status ok" in words
    assert "mean goodput 52.4 Mbit/s" in words
    assert words.count("interval 1 s · repeat 1") == 1, "what all have in common is said once"
    assert "no room" not in words
