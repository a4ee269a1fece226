"""What tcp, udp, rtt and path say at their end: summaries in words, what limited, and columns as JSON."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from typer.testing import Result

from file_support import make_file_outcome
from flowsweep.cli import load
from flowsweep.cli.exit_codes import EXIT_TRIALS_FAILED
from flowsweep.cli.file_summary import print_summary as print_file
from flowsweep.cli.path_summary import _available as available_in_words
from flowsweep.cli.quic_summary import print_summary as print_quic
from flowsweep.cli.summary_rows import ONE_TRIAL_COLUMNS
from flowsweep.cli.tcp_summary import print_summary as print_tcp
from flowsweep.defaults import SECOND_NS
from flowsweep.errors import LaunchError, PlanError
from flowsweep.run.events import EventListener, TrialProbing
from flowsweep.run.outcome import Failure, Recorder, TrialOutcome
from flowsweep.schedule import Slot
from flowsweep.schedule.tests.file import FileParameters
from invoked import invoke
from path_support import Way, path_outcome
from rtt_support import make_rtt_outcome

MBIT = 1e6
Outcome = Callable[[Slot], TrialOutcome]


def measuring(patch: pytest.MonkeyPatch, outcome: Outcome) -> None:
    """Lets a command's trial come to this."""

    async def run_campaign(
        slots: Sequence[Slot], _: object, recorder: Recorder, *, events: EventListener
    ) -> None:
        events(TrialProbing(slots[0].trials[0], 1_000_000_000, 6_400))
        recorder.finished(outcome(slots[0]))

    load(["tcp"])
    patch.setattr("flowsweep.cli.one_trial.run_campaign", run_campaign)


def line(result: Result, name: str) -> str:
    """What stands behind a name."""
    return next(line for line in result.stdout.splitlines() if line.startswith(name))[22:]


def last(result: Result) -> str:
    return result.stdout.splitlines()[-1]


def probed(slot: Slot) -> TrialOutcome:
    questions = [(10 * i, None if i == 3 else 60.0 if i == 7 else 20.0 + i / 100) for i in range(120)]
    return make_rtt_outcome(slot.trials[0], questions, echo="icmp")


def test_rtt_tells_spread_loss_and_order_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    measuring(monkeypatch, probed)
    result = invoke("rtt", "local", "--duration", "2s")
    assert result.exit_code == 0, result.output
    assert "   1.0 s  6.40 KB of probes sent\n" in result.stdout
    assert line(result, "probes") == "120 of 64 B, every 10 ms; lost after 1 s"
    assert line(result, "round trip") == "min 20 ms, median 20.6 ms, p95 21.1 ms, max 60 ms"
    assert line(result, "lost") == "1 of 120 probes, 0.833 %"
    assert line(result, "reordered") == "1 response"
    assert line(result, "duplicates").startswith("not counted")
    assert "kernel" in line(result, "clock")
    assert last(result).startswith("limited by            not known: the median is ")


def test_rtt_without_a_response_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def unanswered(slot: Slot) -> TrialOutcome:
        failure = Failure(phase="run", host="there", kind="no_answer", message="none of 2 probes")
        lost = make_rtt_outcome(slot.trials[0], [(0, None), (10, None)])
        return replace(
            lost, record=lost.record.model_copy(update={"status": "incomplete", "failure": failure})
        )

    measuring(monkeypatch, unanswered)
    result = invoke("rtt", "local")
    assert result.exit_code == EXIT_TRIALS_FAILED
    assert "round trip" not in result.stdout
    assert "none of 2 probes" in line(result, "incomplete")
    assert last(result) == "limited by            not known: no probe was answered"


def of_trial(slot: Slot, made: TrialOutcome) -> TrialOutcome:
    trial = slot.trials[0]
    update = {"trial": trial, "trial_id": trial.trial_id}
    return replace(made, record=made.record.model_copy(update=update))


def path_of(way: Way, capacity_bps: float) -> Outcome:
    def outcome(slot: Slot) -> TrialOutcome:
        made = path_outcome(way.hop_rows(), way.train_rows() + way.stream_rows(capacity_bps))
        return of_trial(slot, made)

    return outcome


def test_path_tells_hops_capacity_and_window_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    measuring(monkeypatch, path_of(Way([100 * MBIT, 10 * MBIT, 45 * MBIT]), 10 * MBIT))
    result = invoke("path", "local")
    assert result.exit_code == 0, result.output
    assert result.stdout.count("\nhop ") == 3
    assert line(result, "hops") == "3"
    assert line(result, "narrow hop") == "2 of 3"
    assert line(result, "capacity").endswith(", by trains of packets that nothing held up")
    assert line(result, "dispersion rate").startswith("10.0 Mbit/s of trains: between what is available")
    assert line(result, "available").startswith("all of it, 10.0 Mbit/s")
    assert "fill the path" in line(result, "window")
    assert last(result).startswith("limited by            hop 2, the narrowest link: 10.0 Mbit/s [")


def test_a_capacity_without_trains_is_that_of_the_narrow_hop(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_trains(slot: Slot) -> TrialOutcome:
        return of_trial(slot, path_outcome(Way([100 * MBIT, 10 * MBIT]).hop_rows(), []))

    measuring(monkeypatch, no_trains)
    result = invoke("path", "local")
    assert line(result, "capacity").endswith("], by the probes of the narrow hop")
    assert last(result).startswith("limited by            hop 2, the narrowest link: ")


@pytest.mark.parametrize(
    ("capacity", "low", "high", "expected"),
    [
        (10 * MBIT, 4 * MBIT, 6 * MBIT, "4.00 Mbit/s to 6.00 Mbit/s while it was measured"),
        (10 * MBIT, 10 * MBIT, 10 * MBIT, "all of it, 10.0 Mbit/s: delays did not grow up to that rate"),
        (None, 4 * MBIT, 6 * MBIT, "4.00 Mbit/s to 6.00 Mbit/s while it was measured"),
        (None, 4 * MBIT, None, "at least 4.00 Mbit/s"),
        (None, 0.0, None, "undecided: not even of the lowest rate it is known"),
        (10 * MBIT, None, None, "undecided: no rate is known at which delays grow or do not"),
    ],
)
def test_what_is_available_is_bounded_only_as_far_as_is_known(
    capacity: float | None, low: float | None, high: float | None, expected: str
) -> None:
    row = {"path_capacity_bps": capacity, "path_available_low_bps": low, "path_available_high_bps": high}
    assert available_in_words(row) == expected


def test_path_calls_undecided_what_is(monkeypatch: pytest.MonkeyPatch) -> None:
    def silent(slot: Slot) -> TrialOutcome:
        way = Way([100 * MBIT, 10 * MBIT])
        made = path_outcome(way.hop_rows(silent=(1, 2)), way.train_rows())
        return of_trial(slot, made)

    measuring(monkeypatch, silent)
    result = invoke("path", "local")
    assert result.exit_code == 0, result.output
    for name in ("hops", "narrow hop", "available", "minimum RTT", "window"):
        assert line(result, name).startswith("undecided: "), name
    assert line(result, "capacity").startswith("10.0 Mbit/s")
    assert last(result).startswith("limited by            not known: the path carries 10.0 Mbit/s")


@pytest.mark.parametrize(
    ("test", "outcome"), [("rtt", probed), ("path", path_of(Way([10 * MBIT]), 10 * MBIT))]
)
def test_json_is_one_object_with_the_columns_of_the_test(
    test: str, outcome: Outcome, monkeypatch: pytest.MonkeyPatch
) -> None:
    measuring(monkeypatch, outcome)
    result = invoke(test, "local", "--json", "--reverse")
    row = json.loads(result.stdout)
    assert tuple(row) == ONE_TRIAL_COLUMNS[test]
    assert (row["src"], row["dst"], row["test"]) == ("there", "here", test)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["rtt", "local", "--echo", "ping"], '--echo: found "ping", expected'),
        (["rtt", "local", "--every", "soon"], "--every: "),
        (["rtt", "local", "--duration", "0s"], "--duration: "),
        (["path", "local", "--duration", "x"], "--duration: "),
        (["path", "local", "--set", "sweep.flows=2"], "sweep.flows"),
        (["file", "local", "--read", "/data", "--size", "1GiB"], "--size: found together with `read`"),
        (["file", "local", "--read", "data"], '--read: found "data", expected an absolute path'),
        (["tcp", "local", "--duration", "50ms"], "--duration: "),
        (["tcp", "local", "--set", "sweep.duration=50ms"], "--set sweep.duration=50ms: "),
        (
            ["tcp", "local", "--window", "[64KiB]"],
            "line: 1 problem\n  --window=[64KiB]: no list as TOML has it",
        ),
        (["file", "local", "--folder", "/tmp:rel"], '--folder: found "rel", expected an absolute path'),
        (["file", "local", "--folder", "here"], '--folder: found "here", expected an absolute path'),
    ],
)
def test_a_wrong_option_is_named_as_it_was_written(words: list[str], expected: str) -> None:
    error = invoke(*words).exception
    assert isinstance(error, PlanError)
    assert expected in str(error)


@pytest.mark.parametrize(
    "duration", [["--duration", "2s"], ["--set", "sweep.duration=2s"], ["--set", 'sweep.duration=["2s"]']]
)
def test_a_short_duration_has_short_intervals_however_it_was_written(
    monkeypatch: pytest.MonkeyPatch, duration: list[str]
) -> None:
    slots: list[Slot] = []

    def refused(slot: Slot) -> TrialOutcome:
        slots.append(slot)
        raise LaunchError("there", "no route to host")

    measuring(monkeypatch, refused)
    assert isinstance(invoke("tcp", "local", "--json", *duration).exception, LaunchError)
    parameters = slots[0].trials[0].parameters
    assert (parameters.duration_ns, parameters.interval_ns) == (2 * SECOND_NS, SECOND_NS // 2)


TCP_ROW = dict.fromkeys(ONE_TRIAL_COLUMNS["udp"]) | {
    "status": "ok", "mode": "copy", "goodput_bps": 1e6, "goodput_p10_bps": 1e6, "goodput_p90_bps": 1e6,
    "failure_kind": None, "limit_cwnd_share": 0.4, "limit_rwnd_share": 0.35,
    "limit_send_buffer_share": 0.25, "limit_none_share": 0.0, "loss": 0.0, "lost": 0, "datagrams_sent": 100,
}  # fmt: skip

PACED = {
    "limit_cwnd_share": 0.01, "limit_rwnd_share": 0.01, "limit_send_buffer_share": 0.0,
    "limit_none_share": 0.98, "sender_idle_share": 0.0, "rtt_min_ms": None, "rtt_median_ms": None,
    "goodput_bps": 1e8, "goodput_mean_bps": 1e8, "link_payload_bps": None, "share": None,
}  # fmt: skip
PATH_ITSELF = (
    "the path itself, which carried no more (congestion control kept to the rate that it found). No window "
    "was full for 98.0 % of the time; the congestion window was full for 1.00 %"
)
UNCLEAR = (
    "not known: no cause accounts for enough of the trial; full, by share of the time: "
    "congestion window 40.0 %, receive window 35.0 %, send buffer 25.0 %"
)
AT_FULL_WINDOWS = (
    "not known: windows were full for 60.0 % of the time, and round trips 5 ms longer than the minimum: "
    "windows beyond what the path carries, which fill a queue, or round trips that vary by themselves; full, "
    "by share of the time: receive window 35.0 %, send buffer 25.0 %, congestion window 25.0 %"
)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"verdict": "send window"}, "send window: the source's send buffer was full of what the sink"),
        (
            {"verdict": "congestion window: queue"},
            "the path itself, which carried no more, as it was full, a queue stood in it",
        ),
        (
            # BBR: the share of the congestion window is next to 0.
            {"verdict": "congestion window: queue", **PACED},
            PATH_ITSELF,
        ),
        (
            {"verdict": "congestion window: queue", **PACED, "rtt_min_ms": 20.0, "rtt_median_ms": 45.0},
            "the path itself, which carried no more (a queue made round trips 25 ms longer than the",
        ),
        (
            {"verdict": "congestion window: loss", **PACED},
            "loss: packets were lost, and congestion control slowed down for it. No window was full for 98.0",
        ),
        ({"verdict": "application rate"}, "application rate: goodput came to the rate that was asked for"),
        (
            {"verdict": "not clear"},
            UNCLEAR,
        ),
        (
            {"verdict": "not clear", "rtt_min_ms": 8.0, "rtt_median_ms": 13.0, "limit_cwnd_share": 0.25},
            AT_FULL_WINDOWS,
        ),
        # The congestion window was what was full, or the queue may be that of other traffic.
        ({"verdict": "not clear", "rtt_min_ms": 8.0, "rtt_median_ms": 13.0}, UNCLEAR),
        (
            {"verdict": "not clear", "rtt_min_ms": 8.0, "rtt_median_ms": 13.0, "limit_cwnd_share": 0.25}
            | {"background": "1 flow of cubic"},
            "not known: no cause accounts for enough of the trial",
        ),
        ({"verdict": None, "limit_none_share": None}, "not known: the source's kernel does not say"),
        ({"verdict": None, "goodput_bps": None}, "not known: there are too few whole intervals"),
        ({"verdict": None, "goodput_bps": None, "status": "failed"}, "not known: the trial failed"),
    ],
)
def test_tcp_ends_with_what_limited_it(
    changes: dict[str, object], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    print_tcp(TCP_ROW | changes)
    assert capsys.readouterr().out.splitlines()[-1].startswith(f"limited by            {expected}")


def test_tcp_says_the_latency_that_a_probe_measured(capsys: pytest.CaptureFixture[str]) -> None:
    probed = {"rtt_idle_ms": 20.0, "rtt_loaded_ms": 61.5, "rtt_loaded_p99_ms": 80.0, "rtt_after_ms": 20.1}
    print_tcp(TCP_ROW | {"verdict": "send window"} | probed | {"rtt_loaded_loss": 0.25})
    expected = (
        "latency               20 ms idle, 61.5 ms under load, 20.1 ms after, 99 % under load within 80 ms, "
        "25.0 % of the probes under load lost"
    )
    assert expected in capsys.readouterr().out.splitlines()


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (
            {"verdict": "not clear", "congestion_limited_share": 0.983, "packets_lost": 3},
            "congestion control, for 98.3 % of the time: it slows down for a full path as for packets lost",
        ),
        (
            # A second over 200 ms is slow start throughout; BBR keeps to its own pace.
            {"verdict": "not clear", "congestion_limited_share": 0.983, "packets_lost": 0},
            "congestion control, for 98.3 % of the time: no packet was lost; its window may still have been",
        ),
        (
            {"verdict": "not clear", "congestion_limited_share": 0.983, "thread_busy_send": 0.95},
            "not known: no cause accounts for enough of the trial",
        ),
        ({"verdict": "not clear"}, "not known: no cause accounts for enough of the trial"),
    ],
)
def test_quic_ends_with_what_limited_it(
    changes: dict[str, object], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    shares = ("congestion_limited_share", "flow_control_limited_share", "application_limited_share")
    print_quic(TCP_ROW | dict.fromkeys((*shares, "packets_lost", "quic_overhead_percent")) | changes)
    assert capsys.readouterr().out.splitlines()[-1].startswith(f"limited by            {expected}")


APART = (
    "no single stage: they wait for each other, or share a disk or a CPU; the slowest part alone, the sink "
    "storage, is 3.00 times as fast as all together, as far as one trial of each tells (by who waited for "
    "whom: sink disk)"
)


@pytest.mark.parametrize(
    ("asked", "files", "existing"),
    [
        (["--read", "/data/recordings"], None, "/data/recordings"),
        (["--set", 'sweep.read="/data/recordings"'], None, "/data/recordings"),
        (["--read", "/data/recordings", "--files", "3"], 3, "/data/recordings"),
        (["--read", '/data/"é📦".tar'], None, '/data/"é📦".tar'),
    ],
)
def test_files_that_are_there_are_sent(
    asked: list[str], files: int | None, existing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    slots: list[Slot] = []

    def outcome(slot: Slot) -> TrialOutcome:
        slots.append(slot)
        return make_file_outcome(slot.trials[0])

    measuring(monkeypatch, outcome)
    invoke("file", "local", "--set", 'sweep.part=["whole"]', *asked)
    parameters = slots[0].trials[0].parameters
    assert isinstance(parameters, FileParameters)
    assert (parameters.existing, parameters.file_size_bytes, parameters.files) == (
        existing,
        None,
        files,
    )


@pytest.mark.parametrize(
    ("whole_bps", "cores", "expected"),
    [
        (1e9, 0.5, APART),
        (
            1e9,
            0.99,
            "no single stage: all cores of a host were in use; the slowest part alone, the sink storage, ",
        ),
        (2.5e9, 0.5, "sink disk: receiving waited for the sink's disk to write"),
    ],
)
def test_no_stage_is_named_that_alone_carries_far_more_than_the_whole(
    whole_bps: float, cores: float, expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    row = dict.fromkeys(ONE_TRIAL_COLUMNS["file"]) | {
        "status": "ok", "goodput_bps": whole_bps, "goodput_mean_bps": whole_bps, "mode": "whole",
        "goodput_method": "job_mean", "verdict": "sink disk", "cores_busy_send": cores,
        "cores_busy_recv": 0.2,
    }  # fmt: skip
    alone = {"read": 8e9, "network": 5e9, "write": 3e9}
    parts = [{"mode": part, "goodput_bps": rate_bps, "error": None} for part, rate_bps in alone.items()]
    print_file(row, parts)
    last_line = capsys.readouterr().out.splitlines()[-1]
    assert last_line.startswith(f"limited by            {expected}")
    print_file(row, parts[:2])
    assert capsys.readouterr().out.splitlines()[-1].startswith("limited by            sink disk: "), (
        "the part that was not measured may be the slow one"
    )
