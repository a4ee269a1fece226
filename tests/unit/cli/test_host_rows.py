"""The rows of `flowsweep check --hosts` and its exit code, without hosts; and what `run` says of the same."""

import io
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from flowsweep.cli.check_hosts import check_hosts
from flowsweep.cli.exit_codes import EXIT_TRIALS_FAILED
from flowsweep.cli.progress import Lines
from flowsweep.cli.terminal import Screen
from flowsweep.plan import load_plan
from flowsweep.run.events import TrialsWillFail
from flowsweep.run.preflight import CheckStatus, HostCheck

PLAN = '[hosts.a]\n[hosts.b]\n[[sweep]]\npaths = [{ from = "a", to = "b" }]\nduration = "4s"\n'


def row(status: CheckStatus, advice: str = "") -> HostCheck:
    return HostCheck("a", "send window", status, "4096", "at least 8192", advice)


def checked(folder: Path, patch: pytest.MonkeyPatch, rows: Sequence[HostCheck]) -> int:
    async def look_at_hosts(*_: object) -> Sequence[HostCheck]:
        return rows

    patch.setattr("flowsweep.cli.check_hosts.look_at_hosts", look_at_hosts)
    (folder / "plan.toml").write_text(PLAN, encoding="utf-8")
    return check_hosts(load_plan(folder / "plan.toml"))


@pytest.mark.parametrize(
    ("statuses", "code", "told"),
    [
        (("ok", "ok"), 0, "2 hosts, 2 checks: 2 ok"),
        (("ok", "warning", "not known"), 0, "2 hosts, 3 checks: 1 ok, 1 warning, 1 not known"),
        (("ok", "problem"), EXIT_TRIALS_FAILED, "2 hosts, 2 checks: 1 ok, 1 problem"),
    ],
)
def test_only_a_problem_makes_the_exit_code(
    statuses: Sequence[CheckStatus],
    code: int,
    told: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert checked(tmp_path, monkeypatch, [row(status) for status in statuses]) == code
    assert capsys.readouterr().out.splitlines()[-1] == told


def test_a_row_is_one_line_where_a_program_may_read_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    checked(tmp_path, monkeypatch, [row("problem", "raise it"), row("ok")])
    assert capsys.readouterr().out.splitlines()[:2] == [
        "problem    a  send window: found 4096; expected at least 8192; to do: raise it",
        "ok         a  send window: found 4096; expected at least 8192",
    ]


def test_a_terminal_gets_a_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("flowsweep.cli.check_hosts.Screen", lambda: Screen(force_terminal=True, width=200))
    checked(tmp_path, monkeypatch, [row("problem", "raise it")])
    out = capsys.readouterr().out
    assert all(word in out for word in ("host", "found", "expected", "what to do", "raise it", "problem"))


def test_a_narrow_terminal_breaks_no_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("flowsweep.cli.check_hosts.Screen", lambda: Screen(force_terminal=True, width=40))
    checked(tmp_path, monkeypatch, [row("problem", "set net.core.wmem_max to 8192")])
    out = capsys.readouterr().out
    told = "problem a send window: found 4096; expected at least 8192; to do: set net.core.wmem_max to 8192"
    assert told in " ".join(re.sub("\x1b\\[[0-9;]*m", "", out).split())


def test_run_tells_which_trials_will_fail_before_them() -> None:
    out = io.StringIO()
    Lines(Screen(file=out, width=40))(TrialsWillFail("b: receive window: found 1, expected 2"))
    assert out.getvalue() == "  trials will fail: b: receive window: found 1, expected 2\n"
