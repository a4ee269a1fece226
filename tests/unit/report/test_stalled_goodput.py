"""A trial that loses 3.8 % of its time to a stall reads as damaged wherever its goodput stands."""

import io
from pathlib import Path

import pytest

from analysis_support import write_archive
from flowsweep.cli.campaign_end import print_end
from flowsweep.cli.summary import print_table
from flowsweep.cli.tcp_summary import print_summary as print_tcp
from flowsweep.cli.terminal import Screen
from flowsweep.report.answers import result_words
from flowsweep.report.goodput_words import GOODPUT_COMPARED, goodput_compared, shown_goodput
from flowsweep.report.headline import goodput_meant, highest_goodputs
from flowsweep.report.opening import opening
from flowsweep.report.render import render
from flowsweep.report.trial_table import trial_lines
from report_support import Row, make_report_data, make_row
from summary_support import summed, uneven

WHOLE, STALLED = [6_250_000] * 26, [6_250_000] * 12 + [0] + [6_250_000] * 13
WORDS = (
    "48.1 Mbit/s over the whole trial, 3.85 % less than the 50.0 Mbit/s in the median interval, "
    "below half of the median interval for 3.85 % of the time"
)


@pytest.fixture(scope="module")
def row() -> Row:
    [found] = summed(uneven(STALLED))
    assert (found["goodput_bps"], found["status"]) == (50e6, "ok"), (
        "the median of intervals knows nothing of it"
    )
    return found


def test_the_answer_of_one_trial(row: Row, capsys: pytest.CaptureFixture[str]) -> None:
    print_tcp(row)
    told = capsys.readouterr().out
    assert f"goodput               {WORDS}\n" in told
    assert "intervals             p10 50.0 Mbit/s, p90 50.0 Mbit/s\n" in told


@pytest.mark.parametrize("width", [80, 1000])
def test_the_row_of_the_summary(row: Row, width: int) -> None:
    out = io.StringIO()
    print_table([row], Screen(file=out, width=width))
    heading, values = (line for line in out.getvalue().splitlines() if "stalled" in line or "48.1" in line)
    assert heading.index("mean goodput") < heading.index("stalled")
    assert "48.1 Mbit/s" in values
    assert "3.85 %" in values


def test_the_headline_of_the_report(row: Row) -> None:
    (found,) = highest_goodputs([row])
    assert f"{found.number} {found.unit} {found.meant}" == WORDS
    page = render(make_report_data([make_row(goodput_mean_bps=0.9e9, stalled_share=0.1)]))
    assert (
        "over the whole trial, 10.0 % less than the 1.00 Gbit/s in the median interval, below half of "
        "the median interval for 10.0 %" in page.partition('class="highest__meant"')[2][:200]
    )


def test_the_opening(row: Row) -> None:
    told = opening([row], ())
    assert told is not None
    assert dict(told.lines)["Highest goodput"] == f"a → b: {WORDS}, at 1 flow, window auto (1 repeat)."


def test_the_end_of_a_campaign(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    print_end(write_archive(tmp_path / "archive", [uneven(STALLED)]))
    assert f"  a → b: best point {WORDS}, at 1 flow, window auto\n" in capsys.readouterr().out


def test_the_page_and_the_table_of_trials(row: Row) -> None:
    assert result_words(row) == WORDS
    columns, (line,) = trial_lines([row])
    told = dict(zip([column.title for column in columns], line.cells, strict=True))
    assert [told[name].text for name in ("Mean goodput", "Stalled", "Median goodput")] == [
        "48.1 Mbit/s", "3.85 %", "50.0 Mbit/s",
    ]  # fmt: skip


def test_a_trial_without_a_stall_says_nothing_of_one() -> None:
    [row] = summed(uneven(WHOLE))
    assert result_words(row) == "50.0 Mbit/s over the whole trial and in the median interval"


def test_a_stall_within_an_interval_shows_in_the_mean() -> None:
    [row] = summed(uneven([100, 100, 62, 100, 100, 100, 100, 100, 100, 100]))
    assert row["stalled_share"] == 0.0
    assert result_words(row).endswith("3.80 % less than the 800 bit/s in the median interval")


def test_repeats_that_stalled_unlike_are_told_at_most() -> None:
    rows = [make_row(goodput_bps=1e9, stalled_share=share) for share in (0.0, 0.01, 0.02)]
    found = shown_goodput(rows)
    assert found is not None
    assert found.meant.endswith(
        "in the median interval, below half of the median interval for up to 2.00 % of the time"
    )


def test_nothing_is_below_half_of_a_median_of_0() -> None:
    empty = make_row(goodput_bps=0.0, goodput_p10_bps=0.0) | {"goodput_mean_bps": 766_840.0}
    empty |= {"stalled_share": 2 / 3}
    words = (
        "767 kbit/s over the whole trial, 0 bit/s in the median interval, without a byte for 66.7 % of the"
    )
    assert result_words(empty) == f"{words} time"
    found = shown_goodput([empty, make_row(goodput_bps=1e9, stalled_share=0.1)])
    assert found is not None
    assert "below half of the median interval or without a byte for up to 66.7 % of the time" in found.meant


def test_the_share_that_stalled_is_explained_as_it_is_made() -> None:
    assert "(stalled_share has intervals below half of the median, or without a byte)" in GOODPUT_COMPARED
    columns, _ = trial_lines([make_row(stalled_share=0.1)])
    (note,) = [column.note for column in columns if column.title == "Stalled"]
    assert note == "share of the time in intervals below half of the median, or without a byte"


def test_a_direction_in_which_nothing_arrived_has_a_goodput_of_0() -> None:
    """Three whole trials with all datagrams lost were said to have no goodput, and without a limit."""
    nothing = {"goodput_bps": 0.0, "goodput_p10_bps": 0.0, "goodput_p90_bps": 0.0, "test": "udp", "loss": 1.0}
    there = [make_row(repeat=repeat, mode=None, **nothing) for repeat in (1, 2, 3)]
    (found,) = highest_goodputs(there)
    assert (found.number, found.unit) == ("0", "bit/s")
    assert found.meant == "over the whole trial and in the median interval"
    told = opening(there, ())
    assert told is not None
    assert [name for name, _ in told.lines] == ["Highest goodput", "Limit", "Trust"]
    assert "No trial that ended ok has a goodput" not in render(make_report_data(there))
    back = make_row(src="sara", dst="starlight", test="udp", mode=None, loss=0.0)
    assert [one.number for one in highest_goodputs([*there, back])] == ["0", "990"]


def test_trials_without_a_goodput_are_not_counted_as_goodputs() -> None:
    job = make_row(test="file", goodput_method="job_mean")
    probes = [make_row(test="rtt", goodput_bps=None, repeat=repeat) for repeat in (1, 2)]
    assert goodput_meant([job, *probes]) == goodput_meant([job])
    assert goodput_compared([job, *probes]) == goodput_compared([job])
    page = render(make_report_data([job, *probes]))
    assert "are of median intervals" not in page
    assert "are of median intervals where there are any, unless they say mean" in render(
        make_report_data([make_row()])
    )


def test_the_point_with_the_highest_mean_is_the_highest() -> None:
    stalling = make_row(flows=2, goodput_bps=2e9, goodput_mean_bps=1e9, stalled_share=0.5)
    (found,) = highest_goodputs([stalling, make_row(flows=4, goodput_bps=1.5e9)])
    assert (found.number, found.place) == ("1.50", "4 flows, window sum 1 MiB")


def test_files_that_say_one_figure_have_one() -> None:
    mean = make_row(goodput_bps=1e9, goodput_method="sender_mean")
    median = make_row(goodput_bps=1e9, goodput_mean_bps=None, goodput_method="sender_median")
    assert result_words(mean) == "1.00 Gbit/s over the whole trial"
    assert result_words(median) == "1.00 Gbit/s in the median interval"
    assert shown_goodput([make_row(goodput_bps=None)]) is None
    assert goodput_meant([mean]) == "the mean that the sender reports"


_SENT = {"goodput_method": "sender_median", "goodput_bps": 30e6, "goodput_mean_bps": None, "elapsed_s": 10.0}


def test_repeats_are_put_together_by_the_figure_that_all_of_them_have() -> None:
    """The mean of one file and the median interval of the other gave a median of 23.2 Mbit/s of both."""
    mean = make_row(goodput_method="sender_mean", goodput_bps=16e6, bytes_sent=20_000_000, elapsed_s=10.0)
    whole = make_row(**_SENT, bytes_sent=35_000_000)
    (found,) = highest_goodputs([mean, whole])
    assert (found.number, found.meant) == ("22.0", "over the whole trial")
    assert found.spread == "median of 2 repeats, 16.0 to 28.0 Mbit/s"
    (both,) = highest_goodputs([whole, whole])
    assert both.meant == "over the whole trial, 6.67 % less than the 30.0 Mbit/s in the median interval"


def test_a_median_of_intervals_beside_means_is_called_what_it_is() -> None:
    mean = make_row(goodput_method="sender_mean", goodput_bps=16e6, bytes_sent=20_000_000)
    median = make_row(**_SENT, bytes_sent=None)
    (found,) = highest_goodputs([mean, median])
    assert (found.number, found.meant) == (
        "23.0", "in the median interval or, of trials without intervals, on average",
    )  # fmt: skip
    sampled = make_row(goodput_bps=20e6, goodput_mean_bps=10e6)
    (found,) = highest_goodputs([sampled, median])
    assert (found.number, found.meant) == ("25.0", "in the median interval")


def test_what_is_compared_is_the_mean_where_a_file_has_no_intervals() -> None:
    sampled, imported = make_row(), make_row(goodput_method="sender_mean")
    assert goodput_compared([sampled, sampled]) == GOODPUT_COMPARED
    told = goodput_compared([imported])
    assert told.startswith("Goodput of a trial is the mean that one end reports: ")
    # Of the other end there may be intervals, as of an iperf3 client that sent.
    assert ": of that end there are no exact intervals, or too few, so a stall" in goodput_compared(
        [imported]
    )
    mixed = goodput_compared([sampled, imported, imported])
    assert mixed.startswith(f"{GOODPUT_COMPARED}. Of 2 trials it is the mean that one end reports: ")
