"""What is said of an option that a command lacks, what help says, and how summaries fit a terminal."""

import re

import pytest
from typer.testing import CliRunner

from flowsweep.cli import COMMANDS, load, summary_lines
from flowsweep.cli.app import app
from flowsweep.cli.terminal import Screen


def refusal(*words: str) -> str:
    load([words[0]])
    result = CliRunner().invoke(app, words, env={"COLUMNS": "200"})
    assert result.exit_code == 2, result.output
    return " ".join(result.output.split())


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (
            ("tcp", "local", "--rate", "10Mbit/s"),
            "--rate; `rate` is a key of a sweep: `--set sweep.rate=10Mbit/s`",
        ),
        (("tcp", "local", "--rate=10Mbit/s"), "`--set sweep.rate=10Mbit/s`"),
        (("tcp", "local", "--pacing-rate", "--json"), "`--set sweep.pacing_rate=VALUE`"),
        (("run", "plan.toml", "--flows", "4"), "`--set sweep.flows=4`"),
        (("check", "plan.toml", "--rate", "1Gbit/s"), "`--set sweep.rate=1Gbit/s`"),
        (
            ("check", "plan.toml", "--predict", "--rate", "1Gbit/s"),
            "--rate; `predict` takes it: `flowsweep predict PLAN --rate 1Gbit/s`",
        ),
        (
            ("check", "--rtt=80ms", "plan.toml", "--predict"),
            "`predict` takes it: `flowsweep predict PLAN --rtt 80ms`",
        ),
        (("path", "local", "--every", "20ms"), "`--set sweep.every=20ms`"),
        (("udp", "local", "--rate-sum", "[1Mbit/s, 2]"), "`--set 'sweep.rate_sum=[1Mbit/s, 2]'`"),
        (("run", "plan.toml", "--directions", "both"), "`--set sweep.directions=both`"),
        (("tcp", "local", "--durations", "4s"), "No such option: --durations (Possible options: --duration"),
    ],
)
def test_a_key_of_a_sweep_is_named_with_what_sets_it(words: tuple[str, ...], expected: str) -> None:
    assert expected in refusal(*words)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (
            ("compare", "a", "b", "--fail-if", "fastr"),
            'found "fastr", expected "slower", "faster" or "different"; did you mean `faster`?',
        ),
        (("findings", "a", "--format", "yaml"), '\'--format\': found "yaml", expected "text" or "json" '),
        (("summary", "a", "--format", "js'no"), 'found "js\'no", expected "table", "csv" or "json"; did you'),
    ],
)
def test_what_is_none_of_an_options_words_is_said_as_of_a_plan(words: tuple[str, ...], expected: str) -> None:
    said = refusal(*words)
    assert expected in said
    assert "Value error" not in said


@pytest.mark.parametrize(
    "words",
    [
        ("tcp", "local", "--datagram", "4"),
        ("summary", "a", "--flows"),
        ("tcp", "local", "--paths"),
        ("tcp", "local", "--every", "1s"),
        ("rtt", "local", "--at", "02:00"),
        ("tcp", "local", "--directions", "both"),
        ("tcp", "local", "--find", "plateau"),
        ("udp", "local", "--delay-max", "10ms"),
        ("udp", "local", "--test", "tcp"),
        ("tcp", "local", "--pairs", "2"),
    ],
)
def test_what_cannot_be_set_there_is_not_proposed(words: tuple[str, ...]) -> None:
    assert "key of a sweep" not in refusal(*words)


def test_values_are_wrapped_on_a_terminal_only(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    value = "p10 17.0 Gbit/s, p90 21.5 Gbit/s, and more"
    summary_lines.print_lines([("intervals", value), ("nothing", None)])
    assert capsys.readouterr().out == f"\nintervals             {value}\n"
    monkeypatch.setattr(summary_lines, "Screen", lambda: Screen(force_terminal=True, width=45))
    summary_lines.print_lines([("intervals", value)])
    assert capsys.readouterr().out.splitlines()[1:] == [
        "intervals             p10 17.0 Gbit/s, p90",
        "                      21.5 Gbit/s, and more",
    ]


def help_of(command: str) -> str:
    load([command])
    words = [command, "--help"] if command else ["--help"]
    return CliRunner().invoke(app, words, prog_name="flowsweep").output


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_says_what_a_value_is_and_gives_none_to_flags(command: str) -> None:
    said = help_of(command)
    assert "--help" in said
    assert not re.search(r"<(bool|str|int|float|path|list\W.*)>", said)
    assert re.search(r"--duration +TIME ", said) or "--duration" not in said


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("", "[OPTIONS] COMMAND [ARGS]..."),
        ("check", "check [OPTIONS] PLAN"),
        ("note", "note [OPTIONS] DIR [TEXT]"),
        ("import", "import [OPTIONS] FILE…"),
        ("serve", "serve [OPTIONS] [DIR…]"),
    ],
)
def test_usage_names_arguments_as_they_are_written(command: str, expected: str) -> None:
    usage = next(line for line in help_of(command).splitlines() if "Usage:" in line)
    assert usage.strip() == f"Usage: flowsweep {expected}"


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("run", "1 trials are failed or incomplete, scheduled runs were missed, or it broke off after "),
        ("run", " or it broke off after some trials: all of that is recorded; "),
        ("run", "2 nothing ran: the plan or the command line is wrong, or hosts, monitors, lab or archive "),
        ("run", "128 + its number after a signal, 130 after Ctrl-C."),
        (
            "check",
            "1 trials would fail (--hosts); 2 the plan or the command line is wrong, or this machine cannot ",
        ),
        (
            "compare",
            "1 B is, overall or at a point, what --fail-if names; 2 the command line is wrong, or an ",
        ),
        ("tune", "also where nothing gains; 1 a trial failed (not one of a congestion control that a host "),
    ],
)
def test_help_says_what_the_exit_codes_of_the_command_mean(command: str, expected: str) -> None:
    said = " ".join(help_of(command).split())
    assert "Exit codes: 0 all is well" in said
    assert expected in said


def test_paragraphs_of_help_have_no_line_breaks_of_the_source() -> None:
    said = help_of("run")
    assert re.search(r"With --against,\s+the trials of two plans alternate,", said)
