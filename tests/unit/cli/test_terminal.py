"""One way out for text: what hosts, plans, files and archives say does nothing to a terminal."""

import ast
import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from analysis_support import later, make_campaign, write_archive
from flowsweep.cli import COMMANDS, load
from flowsweep.cli.app import run_app
from flowsweep.cli.terminal import Screen, say, say_json, wrapped
from flowsweep.run.outcome import Failure, TrialOutcome

pytestmark = pytest.mark.whole

CLI = Path(__file__).parents[3] / "src" / "flowsweep" / "cli"
HOSTILE = "a\x1b[2J\x1b]0;owned\x07\x9b31m\u202eexe\u2066\x7f\u200f[bold]b[/bold]:smile:"
"""Clears the screen, names the window, colours, and turns what follows round."""
HARMLESS = "a\ufffd[2J\ufffd]0;owned\ufffd\ufffd31m\ufffdexe\ufffd\ufffd\ufffd[bold]b[/bold]:smile:"
ACTS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]")
"""C0 but for tab and line end, DEL, C1, and what turns or hides text."""

load([])


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Runs a command line as the program does; what it said on both ways out."""

    def run(*arguments: object) -> str:
        monkeypatch.setattr(sys, "argv", ["flowsweep", *map(str, arguments)])
        with pytest.raises(SystemExit):
            run_app()
        out, err = capfd.readouterr()
        return out + err

    return run


def hostile_outcomes() -> Iterator[TrialOutcome]:
    """A campaign between a good host and a hostile one: of each point two trials, of which one failed."""
    for outcome in make_campaign(flows=(1, 2), window_sums=(1 << 18,), repeats=2):
        trial = outcome.record.trial
        names = {"sweep": HOSTILE, "src": HOSTILE, "dst": "b", "sources": (HOSTILE,), "sinks": ("b",)}
        renamed = trial.model_copy(update=names)
        failure = outcome.record.failure
        if failure is not None:
            failure = Failure(phase="run", host=HOSTILE, kind="flow_broken", message=f"engine: {HOSTILE}")
        changed = outcome.record.model_copy(
            update={"trial": renamed, "trial_id": renamed.trial_id, "failure": failure}
        )
        yield TrialOutcome(record=changed, samples=outcome.samples, flows=outcome.flows)


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return hostile_archive(tmp_path_factory.mktemp("hostile"), timedelta())


def hostile_archive(folder: Path, by: timedelta) -> Path:
    plan = json.dumps({"campaign": {"name": HOSTILE}, "sweeps": [{"name": HOSTILE, "paths": []}]})
    unique = {outcome.record.trial_id: outcome for outcome in hostile_outcomes()}
    return write_archive(folder / "archive", later(unique.values(), by), plan_json=plan)


READING = {
    "summary": (),
    "summary as csv": ("--format", "csv"),
    "summary as json": ("--format", "json"),
    "findings": (),
    "findings as json": ("--format", "json"),
}


@pytest.mark.parametrize("what", READING)
def test_what_an_archive_says(archive: Path, command: Callable[..., str], what: str) -> None:
    said = command(what.partition(" ")[0], archive, *READING[what])
    assert "Traceback" not in said
    assert not ACTS.search(said)
    assert "owned" in said or what.startswith("findings")


def test_comparisons_reports_and_exports(archive: Path, tmp_path: Path, command: Callable[..., str]) -> None:
    folder = tmp_path / HOSTILE.replace("/", "")
    second = hostile_archive(tmp_path / "second", timedelta(seconds=3))
    said = [
        command("compare", archive, second),
        command("compare", archive, second, "--format", "json"),
        command("report", archive, "-o", f"{folder}.html"),
        command("export", archive, "--format", "csv", "-o", folder),
        command("export", archive, "--format", "csv", "-o", folder),
        command("summary", folder),
    ]
    assert not any(ACTS.search(text) for text in said)
    assert not [text for text in said if "owned" not in text]


PLAN = """
[hosts.left]
[hosts.right]
launch = ["sh", "{script}"]
address = "127.0.0.1"
[[sweep]]
name = "s"
paths = [{{ from = "left", to = "right" }}]
duration = "3s"
"""


@pytest.fixture
def banner(tmp_path: Path) -> Path:
    """A host that says something else than an engine."""
    script = tmp_path / "banner.sh"
    script.write_text(f"printf '%s' '{HOSTILE}'\nprintf '%s' '{HOSTILE}' >&2\n", encoding="utf-8")
    return script


def test_what_a_host_says_in_place_of_an_engine(
    banner: Path, tmp_path: Path, command: Callable[..., str]
) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN.format(script=banner), encoding="utf-8")
    host = (f"exec:sh {banner}", "--address", "127.0.0.1", "--duration", "1s")
    said = [
        command("run", plan, "--archive", tmp_path / "archive"),
        command("tcp", *host),
        command("mptcp", *host),
        command("quic", *host),
        command("file", *host),
        command("udp", *host, "--rate", "1Mbit/s"),
        command("rtt", *host),
        command("path", *host),
        command("tune", *host[:3]),
        command("check", "--hosts", plan),
    ]
    assert not any(ACTS.search(text) for text in said)
    assert not [text for text in said if "owned" not in text]


def test_what_plans_files_and_arguments_say(tmp_path: Path, command: Callable[..., str]) -> None:
    escaped = json.dumps(HOSTILE)
    plan = tmp_path / f"{HOSTILE.replace('/', '')}.toml"
    plan.write_text(f"[campaign]\nname = {escaped}\n{escaped} = 1\n[hosts.{escaped}]\n", encoding="utf-8")
    whole = tmp_path / "whole.toml"
    named = PLAN.format(script="x").replace('name = "s"', f"name = {escaped}\nnote = {escaped}")
    whole.write_text(named, encoding="utf-8")
    file = tmp_path / f"{HOSTILE.replace('/', '')}.csv"
    file.write_text(f"from,to,bandwidth\n{HOSTILE},b,{HOSTILE}\n", encoding="utf-8")
    good = tmp_path / f"good {HOSTILE.replace('/', '')}.csv"
    good.write_text(f"from,to,bandwidth\n{HOSTILE},b,1000000\n", encoding="utf-8")
    into = tmp_path / f"into {HOSTILE.replace('/', '')}"
    said = [
        command("check", plan),
        command("check", whole),
        command("predict", whole),
        command("run", plan, "--archive", tmp_path / "never"),
        command("service", plan, "--archive", tmp_path / "never"),
        command("import", file, "--archive", into),
        command("import", file, good, "--archive", into),
        command("summary", into),
        command("verify", into),
        command("status", into),
        command("alarms", into),
        command("note", into, HOSTILE),
        command("note", into),
        command("note", into, "x", "--at", HOSTILE),
        command("serve", tmp_path / HOSTILE.replace("/", "")),
        command("serve", into, "--address", HOSTILE),
        command("summary", into, "--format", HOSTILE),
        command(f"--{HOSTILE}"),
        command(HOSTILE),
        command("summary", f"--{HOSTILE}"),
        command("tcp", HOSTILE),
        command("tune", HOSTILE),
        command("demo", "--archive", into, f"--{HOSTILE}"),
    ]
    assert not any(ACTS.search(text) for text in said)
    assert not [text for text in said if "owned" not in text]


def test_every_command_is_among_these() -> None:
    text = Path(__file__).read_text(encoding="utf-8")
    assert all(f'"{name}' in text for name in COMMANDS)


def test_lines_and_json(capfd: pytest.CaptureFixture[str]) -> None:
    say(HOSTILE)
    say(HOSTILE, err=True)
    assert capfd.readouterr() == (f"{HARMLESS}\n", f"{HARMLESS}\n")
    said = {"name": f"{HOSTILE} é → \U0001f600 \ud800", "rate_bps": -1.5}
    say_json(said)
    out, _ = capfd.readouterr()
    assert json.loads(out) == said
    assert not ACTS.search(out)
    assert "é → \U0001f600" in out


@pytest.mark.parametrize("encoding", ["latin-1", "ascii", "utf-8"])
def test_json_is_utf8_whatever_standard_output_is(encoding: str) -> None:
    """RFC 8259: what other programs read is UTF-8, or a part of it."""
    said = {"host": "\u00f6\u00df", "way": "a \u2192 b"}
    script = f"from flowsweep.cli import terminal as t; t.bear_any_terminal(); t.say_json({said!r})"
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=dict(os.environ, PYTHONIOENCODING=encoding),
        capture_output=True,
        check=True,
        timeout=60,
    )
    assert json.loads(done.stdout.decode()) == said


@pytest.mark.parametrize("width", [0, 1, 23])
def test_text_beside_names_is_no_letter_a_line(width: int) -> None:
    lines = wrapped("the sink's engine answers; no more is known", 22 * " ", width, "probed with".ljust(22))
    assert lines.splitlines() == [
        "probed with           the sink's engine",
        "                      answers; no more is",
        "                      known",
    ]


def test_no_columns_are_no_width(command: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "0")
    assert "Measure TCP goodput" in command("tcp", "--help")
    assert Screen(file=io.StringIO(), force_terminal=True).width > 0


def test_what_a_screen_shows_in_a_terminal_is_styled_by_us_alone() -> None:
    text = io.StringIO()
    screen = Screen(file=text, force_terminal=True, width=200)
    screen.print(HOSTILE, style="bold")
    assert re.sub(r"\x1b\[[01]?m", "", text.getvalue()) == f"{HARMLESS}\n"


WAYS_OUT = {"print", "Console", "get_console"}
THEIR_WAYS_OUT = {"typer.echo", "typer.secho", "click.echo", "click.secho", "sys.stdout", "sys.stderr"}


@pytest.mark.parametrize("path", sorted(CLI.glob("*.py")), ids=lambda path: path.name)
def test_nobody_else_in_the_command_line_writes(path: Path) -> None:
    if path.name == "terminal.py":
        return
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    found = {node.id for node in nodes if isinstance(node, ast.Name)} & WAYS_OUT
    found |= {ast.unparse(node) for node in nodes if isinstance(node, ast.Attribute)} & THEIR_WAYS_OUT
    assert not found, "say it with flowsweep.cli.terminal"
    printing = [
        ast.unparse(node.func.value)
        for node in nodes
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "print"
    ]
    assert {name.rpartition(".")[2] for name in printing} <= {"console", "_console", "Screen(stderr=True)"}


def test_a_terminal_that_can_do_little_has_its_own_width(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setenv("COLUMNS", "50")
    assert Screen(file=io.StringIO(), force_terminal=True).width == 50
    assert Screen(file=io.StringIO(), force_terminal=True, width=30).width == 30
