"""`flowsweep tune` without engines: what it prints, keeps and refuses."""

import asyncio
import errno
import json
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from analysis_support import Steady, make_failed, make_outcome
from flowsweep.archive import read_archive
from flowsweep.cli import load
from flowsweep.cli.app import app
from flowsweep.cli.exit_codes import EXIT_INTERRUPTED, EXIT_TRIALS_FAILED
from flowsweep.errors import PlanError, SessionError, TuningError
from flowsweep.plan import load_plan
from flowsweep.run.events import EventListener
from flowsweep.run.outcome import Failure, Recorder, TrialOutcome
from flowsweep.schedule import Slot, Trial
from flowsweep.tuning.advise import HowToSet
from flowsweep.tuning.answer import Answer, answer
from flowsweep.tuning.places import Place
from long_tests import long_after
from rtt_support import make_rtt_outcome

pytestmark = pytest.mark.whole

FACTS = {
    "congestion_default": "cubic",
    "congestion_available": ["reno", "cubic"],
    "sysctls": {"net.ipv4.tcp_rmem": "4096 131072 6291456", "net.core.rmem_max": "212992"},
}
BUDGET = ("--budget", "80s")


def goodput_of(trial: Trial) -> int:
    """Bytes a second of a flow: eight carry four times as much as one, and only from here to there."""
    gain = min(trial.parameters.flows, 4) if trial.src == "here" else 1
    # Trials differ by up to 1 %, the same settings in other blocks by other amounts.
    drawn = (7 * trial.repeat + 3 * trial.parameters.flows) % 5
    return 1_250_000 * gain // trial.parameters.flows * (1_000 + 2 * drawn) // 1_000


def usual(trial: Trial) -> TrialOutcome:
    if trial.test == "rtt":
        return make_rtt_outcome(trial, [(10 * i, 20.0 + i % 3) for i in range(100)], echo="icmp")
    return make_outcome(trial, Steady(bytes_per_second=goodput_of(trial), stagger_ns=0, min_rtt_us=20_000))


@pytest.fixture
def tune(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """The command, with trials that come to what they are said to."""

    def invoke(
        *words: str | Path,
        outcome: Callable[[Trial], TrialOutcome] = usual,
        facts: Mapping[str, object] = FACTS,
    ) -> Result:
        async def run_campaign(
            slots: Sequence[Slot], _: object, recorder: Recorder, *, events: EventListener, **__: Any
        ) -> None:
            recorder.hosts({name: dict(facts) for name in ("here", "there")})
            for slot in slots:
                for trial in slot.trials:
                    recorder.finished(outcome(trial))

        arguments = ["tune", *map(str, words)]
        load(arguments)
        monkeypatch.setattr("flowsweep.cli.tune_rounds.run_campaign", run_campaign)
        return CliRunner().invoke(app, arguments)

    return invoke


def test_a_gain_is_told_and_nothing_where_there_is_none(tune: Callable[..., Result], tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    result = tune("local", *BUDGET, "--verify", "--save", tmp_path / "kept", "--report", page)
    assert result.exit_code == 0, result.output
    there, back = result.stdout.split("here → there")[1].split("there → here")
    assert "Today 1 flow (cubic) carries 10" in there
    assert "Set 4 flows: 40" in there
    assert " Mbit/s, 4.0" in there
    assert "what today's setting carried beside it, in " in there
    assert " comparisons of 1.50 s." in there
    assert "Measured again, before and after in random order: the gain is real" in there
    assert "iperf3 -c SERVER -P 4" in there
    assert "Nothing to set: of what was tried, nothing gains more than 3 %." in back
    assert "Measured again, before" not in back
    kept = sorted(path.name for path in (tmp_path / "kept").iterdir())
    assert kept[:4] == ["1-round-trip", "2-first-look", "3-screening", "4-finals"]
    assert kept[4:] == ["5-verification", "plan.toml"]
    assert f"flowsweep report {tmp_path}/kept/5-verification" in result.stdout
    with read_archive(tmp_path / "kept" / "4-finals") as archive:
        assert {one.trial.sweep for one in archive.state.records.values()} >= {"out-1-flow", "out-4-flows"}
    plan = load_plan(tmp_path / "kept" / "plan.toml", {})
    assert [sweep.name for sweep in plan.sweeps] == ["out-1-flow", "out-4-flows"]
    text = page.read_text(encoding="utf-8")
    assert "Set 4 flows: 40" in text.replace("\u00a0", " ")
    assert "<script" not in text
    assert text.count("<svg") >= 2


def test_the_same_for_programs(tune: Callable[..., Result]) -> None:
    result = tune("local", *BUDGET, "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    out, back = found["directions"]
    assert (out["outcome"], back["outcome"]) == ("gain", "nothing")
    assert out["set"]["flows"] == 4
    assert out["set"]["gain_low_percent"] < 300 < out["set"]["gain_high_percent"]
    assert (out["rtt_loaded_median_ms"], out["today"]["rtt_loaded_p95_ms"]) == (20.1, 20.1)
    assert back["set"] is None
    assert back["tools"] == []
    assert found["system_settings"] == []
    assert found["failures"] == []
    assert 0 < found["traffic_s"] <= 80


@pytest.mark.long
def test_the_answer_is_told_where_its_files_cannot_be_written(
    tune: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_text = Path.write_text

    def full(path: Path, *given: Any, **named: Any) -> int:
        if path.name == "plan.toml":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        return write_text(path, *given, **named)

    monkeypatch.setattr(Path, "write_text", full)
    page = tmp_path / "page.html"
    result = tune("local", *BUDGET, "--save", tmp_path / "kept", "--report", page)
    assert "Set 4 flows: 40" in result.stdout
    assert f"{tmp_path}/kept/plan.toml: No space left on device" in result.stderr
    assert page.exists(), "one that cannot be written costs no other"
    assert result.exit_code == EXIT_TRIALS_FAILED
    absent = tmp_path / "absent"
    absent.mkdir()

    def without_folder(trial: Trial) -> TrialOutcome:
        """The folder is gone before the page is written."""
        if absent.exists():
            absent.rmdir()
        return usual(trial)

    result = tune("local", *BUDGET, "--json", "--report", absent / "page.html", outcome=without_folder)
    assert json.loads(result.stdout)["directions"][0]["outcome"] == "gain"
    assert "absent/page.html: the page cannot be written: No such file or directory" in result.stderr
    assert result.exit_code == EXIT_TRIALS_FAILED


@pytest.mark.long
def test_one_host_costs_no_other_its_file_nor_the_plan(
    tune: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two names that leave the same in a file's, and the first of the files cannot be written."""

    def answered(*given: Any, **named: Any) -> Answer:
        hosts = [
            HowToSet(name, Place(f"ssh:{name}"), "", f"of = {name}\n")
            for name in ("\u00e4", "\u00f6", "\u00fc")
        ]
        return replace(answer(*given, **named), how=tuple(hosts))

    kept = tmp_path / "kept"
    load(["tune"])
    monkeypatch.setattr("flowsweep.cli.tune_search.answer", answered)
    page = tmp_path / "page.html"
    made = tune("local", *BUDGET, "--save", kept, "--report", page, outcome=lambda trial: _taken(kept, trial))
    assert made.exit_code == EXIT_TRIALS_FAILED
    assert "sysctl-ssh.conf: Is a directory" in made.stderr
    assert (kept / "plan.toml").exists()
    assert (kept / "sysctl-ssh-2.conf").read_text(encoding="utf-8") == "# ssh:\u00f6\nof = \u00f6\n"
    assert (kept / "sysctl-ssh-3.conf").read_text(encoding="utf-8") == "# ssh:\u00fc\nof = \u00fc\n"
    assert page.exists()


@pytest.mark.parametrize("way", long_after(1, of=["say_json", "print_answer"]))
def test_an_answer_that_standard_output_does_not_take_is_no_wrong_command_line(
    tune: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    """The exit code would be that of a search in which nothing was tried."""

    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    load(["tune"])
    monkeypatch.setattr(f"flowsweep.cli.tune_search.{way}", full)
    kept = tmp_path / "kept"
    words = ("--json",) if way == "say_json" else ()
    result = tune("local", *BUDGET, *words, "--save", kept)
    assert result.exit_code == EXIT_TRIALS_FAILED, result.exception
    assert "error: cannot go on: No space left on device\n" in result.stderr
    assert (kept / "plan.toml").exists()


@pytest.mark.parametrize("answered", [False, True])
def test_what_is_kept_is_said_where_something_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, answered: bool
) -> None:
    async def run_campaign(_: object, __: object, recorder: Recorder, **___: object) -> None:
        if answered:
            recorder.hosts({name: dict(FACTS) for name in ("here", "there")})
        signal.raise_signal(signal.SIGINT)
        await asyncio.sleep(60)

    kept = tmp_path / "kept"
    load(["tune"])
    monkeypatch.setattr("flowsweep.cli.tune_rounds.run_campaign", run_campaign)
    result = CliRunner().invoke(app, ["tune", "local", "--save", str(kept)])
    assert result.exit_code == EXIT_INTERRUPTED
    assert (f"; 0 rounds kept in {kept}\n" in result.stderr) is kept.exists() is answered


def _taken(kept: Path, trial: Trial) -> TrialOutcome:
    (kept / "sysctl-ssh.conf").mkdir(exist_ok=True)
    return usual(trial)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("--budget", "much"), "--budget: "),
        (("--budget", "-5GB"), '--budget: "-5GB" is negative: a size is 0 or more'),
        (("--budget", "5 gb"), '--budget: "gb" is not a unit of a size: did you mean "5GB"?'),
        (("--budget", "9999999TB"), '--budget: "9999999TB" is too large'),
        (("--budget", "5m"), '--budget: "m" is not a unit of a duration: did you mean "5min"?'),
        (("--budget", "0s"), '--budget: found "0s", expected 24s or more'),
        (("--budget", "23s"), '--budget: found "23s", expected 24s or more'),
        (("--budget", "0B"), '--budget: found "0B", expected 100KB or more'),
        (("--report", "absent/page.html"), 'found "absent/page.html", and absent is no folder'),
        (("--report", "page.txt"), "expected a name that ends in .html"),
        (("--from", "nonsense", "--address", "::1"), "--from: found 'nonsense', expected local, ssh:"),
        (("--from", "exec:true"), "--address: missing: write the name or IP address by which exec:true"),
        (("--address", "a/b"), '--address: found "a/b", expected a host name or an IP address'),
        (("--from", "exec:''", "--address", "::1"), "--from: "),
    ],
)
def test_what_is_written_wrong_is_said(
    tune: Callable[..., Result], words: tuple[str, ...], expected: str
) -> None:
    result = tune("local", *words)
    assert isinstance(result.exception, PlanError)
    assert expected in str(result.exception)


def test_a_budget_that_is_too_small_is_said_before_any_transfer(tune: Callable[..., Result]) -> None:
    def far(trial: Trial) -> TrialOutcome:
        return make_rtt_outcome(trial, [(10 * i, 80.0) for i in range(100)], echo="icmp")

    result = tune("local", "--budget", "25s", outcome=far)
    assert isinstance(result.exception, TuningError)
    assert "too small for a round trip of 80 ms: expected 43s or more" in str(result.exception)


def test_a_page_in_the_place_of_a_folder_is_refused_before_any_transfer(
    tune: Callable[..., Result], tmp_path: Path
) -> None:
    (tmp_path / "page.html").mkdir()
    result = tune("local", "--report", tmp_path / "page.html")
    assert isinstance(result.exception, PlanError)
    assert "which is a folder, expected a file" in str(result.exception)


def verification_seen() -> Callable[[Trial], bool]:
    """Whether a trial is of the verification, or after it began."""
    seen: set[tuple[str, int]] = set()
    again: list[str] = []

    def is_again(trial: Trial) -> bool:
        """A trial that comes once more begins the next round: the third time, the verification."""
        if (trial.sweep, trial.repeat) in seen:
            seen.clear()
            again.append(trial.sweep)
        seen.add((trial.sweep, trial.repeat))
        return len(again) >= 3

    return is_again


@pytest.mark.parametrize(
    ("is_lost", "exit_code", "said"),
    [
        (False, EXIT_INTERRUPTED, "interrupted"),
        (True, EXIT_TRIALS_FAILED, "host local: the connection was l"),
    ],
)
def test_a_verification_that_does_not_end_costs_no_answer(
    tune: Callable[..., Result], tmp_path: Path, *, is_lost: bool, exit_code: int, said: str
) -> None:
    is_again = verification_seen()

    def outcome(trial: Trial) -> TrialOutcome:
        if is_again(trial):
            if is_lost:
                raise SessionError("there", "the connection was lost", "")
            signal.raise_signal(signal.SIGINT)
        return usual(trial)

    kept, page = tmp_path / "kept", tmp_path / "page.html"
    words = (*BUDGET, "--verify", "--save", kept, "--report", page)
    result = tune("local", *words, outcome=outcome)
    assert result.exit_code == exit_code, result.output
    assert "Set 4 flows: 40" in result.stdout
    assert "Measured again, before and after" not in result.stdout
    assert f"failed: the verification did not end: {said}" in result.stdout
    assert (kept / "plan.toml").exists()
    assert page.exists()


@pytest.mark.long
def test_what_is_a_loss_once_more_is_neither_advised_nor_kept(
    tune: Callable[..., Result], tmp_path: Path
) -> None:
    is_again = verification_seen()

    def outcome(trial: Trial) -> TrialOutcome:
        if not is_again(trial) or trial.parameters.flows == 1:
            return usual(trial)
        return make_outcome(trial, Steady(bytes_per_second=100_000, stagger_ns=0, min_rtt_us=20_000))

    kept = tmp_path / "kept"
    result = tune("local", *BUDGET, "--verify", "--save", kept, outcome=outcome)
    assert result.exit_code == 0, result.output
    there = result.stdout.split("here → there")[1].split("there → here")[0]
    assert "Nothing to set: 4 flows had 4.0" in there
    assert "Measured again, before and after in random order: it is a loss" in there
    assert "what to type" not in there
    assert sorted(path.name for path in kept.iterdir())[4:] == ["5-verification"]


def test_a_setting_that_fails_is_named_and_the_search_goes_on(tune: Callable[..., Result]) -> None:
    def outcome(trial: Trial) -> TrialOutcome:
        fails = trial.test == "tcp" and trial.parameters.flows == 8
        return make_failed(trial) if fails else usual(trial)

    result = tune("local", *BUDGET, outcome=outcome)
    assert result.exit_code == EXIT_TRIALS_FAILED
    assert "failed: out-8-flows: prepare on here: send window" in result.stdout
    assert "Set 4 flows: 40" in result.stdout


def test_a_congestion_control_that_is_forbidden_is_left_out_after_the_first_look(
    tune: Callable[..., Result],
) -> None:
    asked: list[str] = []

    def outcome(trial: Trial) -> TrialOutcome:
        if trial.test == "rtt" or trial.parameters.congestion is None:
            return usual(trial)
        asked.append(trial.sweep)
        made = make_failed(trial)
        failure = Failure(
            phase="prepare", host=trial.src, kind="congestion_forbidden", message="htcp is not for everybody"
        )
        return replace(made, record=made.record.model_copy(update={"failure": failure}))

    facts = FACTS | {"congestion_available": ["cubic", "htcp"]}
    result = tune("local", *BUDGET, outcome=outcome, facts=facts)
    assert sorted(asked) == ["back-8-flows-htcp", "out-8-flows-htcp"]
    assert result.exit_code == 0
    assert "failed:" not in result.stdout
    assert "left out: on here, htcp is not for everybody\n" in result.stdout
    assert "all failed" not in result.stdout
    result = tune("local", *BUDGET, "--json", outcome=outcome, facts=facts)
    found = json.loads(result.stdout)
    assert (len(found["failures"]), len(found["left_out"])) == (0, 2)
    for direction in found["directions"]:
        assert {one["congestion"] for one in direction["tried"]} == {None}


def test_where_nothing_runs_as_it_is_today_the_search_ends(tune: Callable[..., Result]) -> None:
    def outcome(trial: Trial) -> TrialOutcome:
        return usual(trial) if trial.test == "rtt" else make_failed(trial)

    result = tune("local", *BUDGET, outcome=outcome)
    assert result.exit_code == EXIT_TRIALS_FAILED
    assert "send window of 67108864 bytes asked" in result.stderr
    assert "could not be measured" in result.stderr
