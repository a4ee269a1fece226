"""Whom `flowsweep alarms --deliver` tells, of archives that somebody else may have written."""

import grp
import json
import os
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from alarm_archives import TEXT, nightly_archive, plan_of
from flowsweep.archive.campaign import CAMPAIGN_FILE
from flowsweep.plan.alarms.checks import refusal_of
from invoked import code_and_text
from told_alarms import settings

pytestmark = pytest.mark.whole

SILENT = [1.0, None, None]


def tells(into: Path) -> str:
    """`[alarms]` with a command that writes a file."""
    return f"[alarms]\ncommand = {json.dumps(['touch', str(into)])}"


@pytest.fixture
def canary(tmp_path: Path) -> Path:
    return tmp_path / "canary"


@pytest.fixture
def archive(tmp_path: Path, canary: Path) -> Path:
    """Of a path that is silent; its plan has a command."""
    return nightly_archive(tmp_path / "a", plan_of(tells(canary)), SILENT, timedelta(hours=26))


def deliver(archive: Path, *further: str) -> tuple[int, str]:
    return code_and_text("alarms", archive, "--deliver", *further)


def of_another(archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: archive.stat().st_uid + 1)


def file_of_another(archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = os.stat

    def stat(path: str, **how: object) -> os.stat_result:
        found = own(path, **how)  # type: ignore[arg-type]
        changed = [*found]
        changed[4] += 1
        return os.stat_result(changed) if path == CAMPAIGN_FILE else found

    monkeypatch.setattr(os, "stat", stat)


def written_by_all(archive: Path, _: pytest.MonkeyPatch) -> None:
    archive.chmod(0o777)


def file_written_by_all(archive: Path, _: pytest.MonkeyPatch) -> None:
    (archive / CAMPAIGN_FILE).chmod(0o666)


def written_by_another_group(archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive.chmod(0o775)
    monkeypatch.setattr(os, "getegid", lambda: archive.stat().st_gid + 1)


@pytest.mark.parametrize(
    "others", [of_another, file_of_another, written_by_all, file_written_by_all, written_by_another_group]
)
def test_what_somebody_else_may_have_written_tells_nobody(
    archive: Path,
    canary: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    others: Callable[[Path, pytest.MonkeyPatch], None],
) -> None:
    others(archive, monkeypatch)
    code, said = deliver(archive)
    assert (code, "name the plan's file with --targets PLAN" in said) == (2, True), said
    plan = tmp_path / "own.toml"
    plan.write_text(TEXT.format(alarms=tells(tmp_path / "told"), campaign=""))
    assert deliver(archive, "--targets", str(plan))[0] == 1
    assert (canary.exists(), (tmp_path / "told").exists()) == (False, True)


def test_a_group_of_several_is_somebody_else(
    archive: Path, canary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive.chmod(0o775)
    own = grp.getgrgid(os.getegid())
    shared = grp.struct_group((own.gr_name, "x", own.gr_gid, [own.gr_name, "bob"]))
    monkeypatch.setattr("flowsweep.archive.folder.grp.getgrgid", lambda _: shared)
    code, said = deliver(archive)
    assert (code, "name the plan's file with --targets PLAN" in said) == (2, True), said
    assert not canary.exists()


@pytest.mark.parametrize("mode", [0o755, 0o775, 0o700])
def test_an_archive_of_ones_own_tells_whom_its_plan_names(archive: Path, canary: Path, mode: int) -> None:
    archive.chmod(mode)
    assert deliver(archive)[0] == 1
    assert canary.exists()


def test_a_plan_that_names_nobody_is_no_plan_of_targets(archive: Path, tmp_path: Path) -> None:
    plan = tmp_path / "own.toml"
    plan.write_text(TEXT.format(alarms="", campaign=""))
    code, said = deliver(archive, "--targets", str(plan))
    assert (code, "names nobody to tell" in said) == (2, True)


def test_what_no_plan_can_say_of_mail_is_not_done(archive: Path, tmp_path: Path) -> None:
    """A password that would be sent in the clear."""
    file = archive / CAMPAIGN_FILE
    said = json.loads(file.read_text())
    said["plan"]["alarms"] |= {
        "mail": {
            "to": ["a@example.org"], "sender": "b@example.org", "host": "192.0.2.1", "port": 25,
            "encryption": "none", "user": "u", "password_env": "HOME",
        }
    }  # fmt: skip
    file.write_text(json.dumps(said))
    code, refused = deliver(archive)
    assert (code, "a password is not sent in the clear" in refused) == (2, True), refused


MAIL = 'to = ["a@example.org"], from = "b@example.org", smtp = "[2001:db8::1]:587"'


@pytest.mark.parametrize(
    "alarms",
    [
        'webhook = "https://example.org/hook"\nwatch = ["silent"]',
        'webhook_env = "HOOK"\ncommand = ["/bin/true", "-x"]',
        f'mail = {{ {MAIL}, user = "u", password_env = "P" }}',
        f'mail = {{ {MAIL}, encryption = "none" }}',
    ],
)
def test_what_a_plan_may_say_is_not_refused(alarms: str) -> None:
    said = plan_of(f"[alarms]\n{alarms}").alarms
    assert said is not None
    assert refusal_of(said) is None


@pytest.mark.parametrize(
    "changes",
    [
        {"webhook": "file:///etc/passwd"},
        {"webhook": "https://example.org", "webhook_env": "HOOK"},
        {"webhook_env": "A=B"},
        {"command": ("",)},
        {"false_alarms_per_100_days": 1e300},
        {"false_alarms_per_100_days": float("nan")},
    ],
)
def test_what_no_plan_can_say_is_refused(changes: dict[str, object]) -> None:
    assert refusal_of(settings(**changes)) is not None
