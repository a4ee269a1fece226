"""What is said of an option that a command does not have, and how summaries of one trial fit a terminal."""

import pytest
from typer.testing import CliRunner

from flowsweep.cli import load, summary_lines
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
        (("tcp", "local", "--durations", "4s"), "No such option: --durations (Possible options: --duration"),
    ],
)
def test_a_key_of_a_sweep_is_named_with_what_sets_it(words: tuple[str, ...], expected: str) -> None:
    assert expected in refusal(*words)


@pytest.mark.parametrize(
    "words", [("tcp", "local", "--datagram", "4"), ("summary", "a", "--flows"), ("tcp", "local", "--paths")]
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
