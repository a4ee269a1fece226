"""The commands run, tcp and demo, as far as they go without traffic."""

import errno
import io
import re
import socket
import tomllib
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest

from analysis_support import make_record, make_trial
from flowsweep.archive import create_archive
from flowsweep.cli import load
from flowsweep.cli.demo import QUICK, free_folder, plan_text, usable_congestion
from flowsweep.cli.exit_codes import EXIT_TRIALS_FAILED
from flowsweep.cli.far_host import far_host
from flowsweep.cli.progress import Bar, Lines, progress_view, what_runs
from flowsweep.cli.terminal import Screen
from flowsweep.errors import ArchiveError, LaunchError, PlanError, SessionError
from flowsweep.plan import load_plan, parse_plan
from flowsweep.run.events import (
    CampaignStarted,
    PointBusy,
    SessionLost,
    SessionRegained,
    TrialFinished,
    TrialRunning,
    TrialStarted,
)
from flowsweep.run.outcome import Failure, Recorder, TrialOutcome
from flowsweep.run.tables import FLOWS_SCHEMA
from flowsweep.schedule import Slot, estimate, schedule
from invoked import invoke
from plan_support import plan_of

SECOND_NS = 1_000_000_000
STOCK_WINDOW_BYTES = 212_992
FLOOR_OF_A_SEND_WINDOW_BYTES = 2_304
LOOPBACK_PLAN = """
[hosts.a]
[hosts.b]
[[sweep]]
test = "tcp"
paths = [{ from = "a", to = "b" }]
duration = "4s"
"""


TRIAL = make_trial(flows=4, window_bytes=262_144)
FAILURE = Failure(phase="run", host="b", kind="session_lost", message="[gone]")
EVENTS = (
    CampaignStarted(trials=3, done=1, left_ns=20 * SECOND_NS),
    TrialStarted(2, TRIAL, 1, 20 * SECOND_NS),
    TrialRunning(TRIAL, SECOND_NS, 193e6),
    TrialFinished(make_record(TRIAL)),
    TrialStarted(3, TRIAL, 1, 10 * SECOND_NS),
    TrialFinished(make_record(TRIAL, status="failed", failure=FAILURE)),
    SessionLost("b", "the session ended (exit status 1)"),
    SessionRegained("b"),
    PointBusy("b", "busy with alice"),
)


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    path = tmp_path / "plan.toml"
    path.write_text(LOOPBACK_PLAN)
    return path


def test_nothing_is_resumed_where_nothing_is(plan: Path, tmp_path: Path) -> None:
    result = invoke("run", plan, "--archive", tmp_path / "none", "--resume")
    assert isinstance(result.exception, ArchiveError)
    assert "leave --resume out" in str(result.exception)
    assert not (tmp_path / "none").exists()


def test_an_archive_is_not_overwritten(plan: Path, tmp_path: Path) -> None:
    create_archive(tmp_path / "archive", plan_json=load_plan(plan).model_dump_json(), seed=1).close()
    result = invoke("run", plan, "--archive", tmp_path / "archive")
    assert isinstance(result.exception, ArchiveError)
    assert "--resume" in str(result.exception)


def test_an_edited_plan_is_not_resumed(plan: Path, tmp_path: Path) -> None:
    archive = tmp_path / "archive"
    create_archive(archive, plan_json=load_plan(plan).model_dump_json(), seed=1).close()
    result = invoke("run", plan, "--archive", archive, "--resume", "--set", "sweep.duration=5s")
    assert isinstance(result.exception, ArchiveError)
    first, *differences = str(result.exception).splitlines()
    assert first.startswith(f"{plan}: is not the plan that {archive} was begun with")
    assert differences == ["  sweep.sweep-1.duration: 4s then, 5s now"]


def test_a_plan_that_another_version_wrote_is_not_resumed(
    plan: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("flowsweep.archive.writer.__version__", "9.9.9")
    create_archive(tmp_path / "archive", plan_json='{"sweeps": "of the future"}', seed=1).close()
    for _ in range(2):
        result = invoke("run", plan, "--archive", tmp_path / "archive", "--resume")
        assert isinstance(result.exception, ArchiveError)
        assert "was begun by flowsweep 9.9.9" in str(result.exception)
        assert "go on with Flowsweep 9.9.9, or" in str(result.exception)


def test_imported_results_are_not_resumed(plan: Path, tmp_path: Path) -> None:
    archive, results = tmp_path / "archive", Path(__file__).parents[2] / "contract" / "imported"
    assert invoke("import", next(results.glob("iperf-2.0.5-udp*")), "--archive", archive).exit_code == 0
    result = invoke("run", plan, "--archive", archive, "--resume")
    assert isinstance(result.exception, ArchiveError)
    assert str(result.exception).startswith(f"{archive}: was imported and has no plan, so there is nothing")


def test_what_comes_next_can_be_typed(plan: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def run_campaign(*_: object, **__: object) -> None: ...

    load(["run"])
    monkeypatch.setattr("flowsweep.cli.campaign.run_campaign", run_campaign)
    said = invoke("run", plan, "--archive", tmp_path / "my results").stdout
    assert f"next: flowsweep report '{tmp_path}/my results' -o report.html\n" in said
    results = Path(__file__).parents[2] / "contract" / "imported"
    said = invoke("import", next(results.glob("iperf-2.0.5-udp*")), "--archive", tmp_path / "my own").stdout
    assert f"next: flowsweep report '{tmp_path}/my own' -o report.html\n" in said


def campaign_that_ends(patch: pytest.MonkeyPatch, error: BaseException, *, begun: int) -> None:
    """Lets a command's campaign begin some trials, and raise."""

    async def run_campaign(slots: Sequence[Slot], _: object, recorder: Recorder, **__: object) -> None:
        for slot in slots[:begun]:
            recorder.started(slot.trials[0].trial_id, 1, datetime.now(UTC))
        raise error

    patch.setattr("flowsweep.cli.campaign.run_campaign", run_campaign)


def test_an_error_after_trials_ran_does_not_leave_as_if_nothing_had(
    plan: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign_that_ends(monkeypatch, ArchiveError("journal: no space left"), begun=1)
    archive = tmp_path / "an archive"
    result = invoke("run", plan, "--archive", archive, "--set", "sweep.flows=2")
    assert result.exit_code == EXIT_TRIALS_FAILED
    assert "error: journal: no space left" in result.stderr
    assert f"0 finished trials kept in {archive}" in result.stderr
    again = f"flowsweep run {plan} --archive '{archive}' --resume --set sweep.flows=2"
    assert f"to go on: {again}\n" in result.stderr


def test_an_error_before_any_trial_is_left_to_the_command_line(
    plan: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign_that_ends(monkeypatch, ArchiveError("journal: no space left"), begun=0)
    assert isinstance(invoke("run", plan, "--archive", tmp_path / "archive").exception, ArchiveError)
    assert (tmp_path / "archive").exists(), "what a disk holds that takes nothing is left alone"


def test_a_campaign_that_could_not_begin_is_in_nobodys_way(plan: Path, tmp_path: Path) -> None:
    archive = tmp_path / "archive"
    hosts = '[hosts.a]\nlaunch = ["false"]\n[hosts.b]\naddress = "192.0.2.1"'
    plan.write_text(LOOPBACK_PLAN.replace("[hosts.a]\n[hosts.b]", hosts))
    for _ in range(2):
        assert isinstance(invoke("run", plan, "--archive", archive).exception, SessionError)
        assert not archive.exists()
    create_archive(archive, plan_json=load_plan(plan).model_dump_json(), seed=1).close()
    result = invoke("run", plan, "--archive", archive, "--resume")
    assert isinstance(result.exception, SessionError)
    assert (archive / "campaign.json").exists(), "it was not made by the command that failed"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["elsewhere"], "found 'elsewhere', expected local, ssh:DESTINATION, netns:NAME or exec:COMMAND"),
        (
            ["elsewhere"],
            "; for another machine: ssh:elsewhere (Flowsweep starts its engine there through ssh)",
        ),
        (["2001:db8::7"], "; for another machine: ssh:2001:db8::7 ("),
        (["server:5201"], "expected local, ssh:DESTINATION, netns:NAME or exec:COMMAND"),
        (["ssh:-p 22"], "found 'ssh:-p 22', expected local, ssh:DESTINATION"),
        (["netns:"], "found 'netns:', expected"),
        (["exec: "], "found 'exec: ', expected"),
        (['ssh:-x "a'], "which no shell understands: No closing quotation"),
        (["netns:left"], "--address: missing: write the name or IP address by which this machine reaches"),
        (["exec:sudo -u x"], "--address: missing"),
        (["ssh:far", "--address", "a b"], '--address: found "a b", expected a host name'),
        (["local", "--window", "64"], '64 has no unit: write "64KiB"'),
        (["local", "--flows", "0"], "  --flows: found 0, expected a whole number from 1"),
        (["local", "--set", "sweep.flows=0"], "--set sweep.flows=0: found 0"),
        (
            ["local", "--flows", "2", "--set", "sweep.flows=4"],
            "--flows and --set sweep.flows say the same twice: leave one of them out",
        ),
        (["local", "--duration", "soon"], "  --duration: "),
        (["local", "--duration", "100ms"], "  --duration: found 100ms, which holds 1 whole interval"),
        (["local", "--set", "sweep.flows=[1, 2]"], "asks for 2 trials"),
    ],
)
def test_a_wrong_question_is_answered_with_what_is_expected(arguments: list[str], expected: str) -> None:
    result = invoke("tcp", *arguments)
    assert isinstance(result.exception, PlanError)
    assert expected in str(result.exception)


@pytest.mark.parametrize(("address", "expected"), [("", "which names no host"), ("a b", "HOST: found")])
def test_a_destination_that_ssh_makes_nothing_of_is_named_as_what_it_is(
    address: str, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("flowsweep.cli.far_host.host_name", lambda _: address)
    error = invoke("tcp", "ssh:x@").exception
    assert isinstance(error, PlanError)
    assert error.source == "command line"
    assert expected in str(error)


@pytest.mark.parametrize("kind", [LaunchError, SessionError])
def test_a_far_host_that_cannot_be_had_is_named_as_it_was_written(
    kind: type[LaunchError | SessionError], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def run_campaign(*_: object, **__: object) -> None:
        raise kind("there", "no such host")

    load(["tcp"])
    monkeypatch.setattr("flowsweep.cli.one_trial.run_campaign", run_campaign)
    error = invoke("tcp", "ssh:-p 22 far", "--address", "192.0.2.7").exception
    assert isinstance(error, kind)
    assert str(error) == "host ssh:-p 22 far: no such host"


@pytest.mark.parametrize(("kind", "hinted"), [("window_clipped", True), ("connect_timeout", False)])
def test_tcp_says_how_clipping_is_allowed_where_there_is_no_plan(
    kind: str, *, hinted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def run_campaign(slots: Sequence[Slot], _: object, recorder: Recorder, **__: object) -> None:
        failure = Failure(phase="prepare", host="there", kind=kind, message="it is so")
        record = make_record(slots[0].trials[0], status="failed", failure=failure)
        recorder.finished(TrialOutcome(record, pa.table({}), FLOWS_SCHEMA.empty_table()))

    load(["tcp"])
    monkeypatch.setattr("flowsweep.cli.one_trial.run_campaign", run_campaign)
    result = invoke("tcp", "local")
    assert result.exit_code == EXIT_TRIALS_FAILED
    assert ("--set sweep.clip=allow" in result.stdout) == hinted


@pytest.mark.parametrize(
    ("host", "launch"),
    [
        ("local", []),
        ("netns:left", ["ip", "netns", "exec", "left"]),
        ("ssh:-p 22 far", ["ssh", "-p", "22", "far"]),
        ("exec:kubectl exec -i pod --", ["kubectl", "exec", "-i", "pod", "--"]),
        ("exec:env 'A=a b'", ["env", "A=a b"]),
    ],
)
def test_the_far_host_is_whatever_a_launcher_understands(host: str, launch: list[str]) -> None:
    keys = far_host(host, "192.0.2.7")
    table = tomllib.loads("\n".join(f"{key} = {value}" for key, value in keys.items()))
    assert table == ({"address": "192.0.2.7"} | ({"launch": launch} if launch else {}))


@pytest.mark.parametrize("emulated", [True, False])
def test_the_demo_runs_on_a_stock_host_and_fills_a_grid(*, emulated: bool) -> None:
    plan = parse_plan(plan_text(emulated=emulated, congestion="reno"), "demo.toml")
    trials = [trial for slot in schedule(plan, 1) for trial in slot.trials]
    assert len(trials) >= 24
    assert {(trial.src, trial.dst) for trial in trials} == {("left", "right"), ("right", "left")}
    windows = [trial.parameters.window_bytes or 0 for trial in trials]
    assert min(windows) >= FLOOR_OF_A_SEND_WINDOW_BYTES
    assert max(windows) <= STOCK_WINDOW_BYTES
    assert {trial.parameters.congestion for trial in trials} == {"reno"}
    assert bool(plan.links) == emulated


def test_a_quick_demo_takes_about_15_seconds_and_still_fills_a_grid() -> None:
    plan = parse_plan(plan_text(emulated=True, congestion="reno"), "demo.toml", QUICK)
    slots = schedule(plan, 1)
    settings = [trial.parameters for slot in slots for trial in slot.trials]
    assert len({(asked.flows, asked.window_bytes) for asked in settings}) == len(settings) == 8
    assert 10e9 <= estimate(slots, plan.links).duration_ns <= 20e9


@pytest.mark.parametrize(("granted", "expected"), [("cubic", "cubic"), ("reno", "reno"), (None, "reno")])
def test_the_demo_asks_for_a_congestion_control_that_this_user_may_use(
    granted: str | None, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def setsockopt(_: socket.socket, __: int, ___: int, congestion: bytes) -> None:
        if congestion.decode() != granted:
            raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(socket.socket, "setsockopt", setsockopt)
    assert usable_congestion() == expected


def test_the_demo_keeps_what_is_there(tmp_path: Path) -> None:
    folder = tmp_path / "demo"
    assert free_folder(folder) == folder
    for name in ("demo", "demo-2"):
        (tmp_path / name).mkdir()
    assert free_folder(folder) == tmp_path / "demo-3"


@pytest.mark.parametrize("folder", [".", "..", "/", "a/.."])
def test_a_folder_that_has_no_name_to_number_is_refused(folder: str) -> None:
    expected = f"--archive: found {folder}, expected the name of a new folder, as in "
    with pytest.raises(ArchiveError, match=re.escape(expected)):
        free_folder(Path(folder))


def test_progress_without_a_terminal_is_plain_lines() -> None:
    out = io.StringIO()
    show = Lines(Screen(file=out, width=200))
    for event in EVENTS:
        show(event)
    assert out.getvalue().splitlines() == [
        "2 of 3 trials to run, about 20 s",
        "trial 2/3: a → b, 4 flows, 256 KiB window, cubic, 20 s left",
        "  ok, 193 Mbit/s in the last second",
        "trial 3/3: a → b, 4 flows, 256 KiB window, cubic, 10 s left",
        "  failed: a → b, 4 flows, 256 KiB window, cubic: run on b: [gone]",
        "  lost the engine on b: the session ended (exit status 1)",
        "  the engine on b answers again",
        "  waiting for b: busy with alice",
    ]


def test_progress_in_a_terminal_is_a_bar_with_trouble_above_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    out = io.StringIO()
    console = Screen(file=out, width=200, force_terminal=True)
    with progress_view(console) as show:
        for event in EVENTS[:3]:
            show(event)
        assert isinstance(show, Bar)
        assert bar_of(show) == "1/3 a → b, 4 flows, 256 KiB window, cubic 193 Mbit/s 19 s left"
        for event in EVENTS[3:]:
            show(event)
        assert bar_of(show).startswith("3/3 ")
    assert "failed: a → b, 4 flows, 256 KiB window, cubic: run on b: [gone]" in out.getvalue()


def test_progress_in_a_terminal_that_cannot_move_its_cursor_is_plain_lines(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TERM", "dumb")
    console = Screen(file=io.StringIO(), force_terminal=True)
    with progress_view(console) as show:
        assert isinstance(show, Lines)


def bar_of(bar: Bar) -> str:
    (task,) = bar.progress.tasks
    fields = (task.fields[name] for name in ("what", "rate", "left"))
    return " ".join([f"{task.completed:g}/{task.total:g}", *fields])


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({"flows": 1}, "a → b, 1 flow, cubic"),
        ({"window_send_bytes": 65536}, "a → b, 1 flow, 64 KiB / auto window, cubic"),
    ],
)
def test_a_trial_in_a_few_words(parameters: dict[str, int], expected: str) -> None:
    assert what_runs(make_trial(**parameters)) == expected


def test_trials_that_may_be_over_sooner_take_at_most_so_long() -> None:
    output = io.StringIO()
    with progress_view(Screen(file=output, width=300)) as show:
        show(CampaignStarted(trials=4, done=0, left_ns=20 * SECOND_NS, ends_early=True))
    assert output.getvalue().splitlines() == ["4 of 4 trials to run, at most 20 s"]


@pytest.mark.parametrize(("test", "expected"), [("rtt", "round-trip time"), ("path", "hops and capacity")])
def test_what_asks_for_something_has_no_flows(test: str, expected: str) -> None:
    ((trial,),) = (slot.trials for slot in schedule(plan_of(f'test = "{test}"'), seed=1))
    assert what_runs(trial) == f"left → right, {expected}"
