"""What a lab without root hides is refused before the controller starts again in it."""

import os
from pathlib import Path

import pytest

from flowsweep.errors import LabError
from flowsweep.lab import rootless
from flowsweep.lab.rootless import enter_user_namespace_if_needed
from invoked import invoke


class StartedAgainError(Exception):
    """Stands for the program that would take the place of this one."""


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What stands for `/run`, of a user who may administer no networks."""

    def execute(*_: object) -> None:
        raise StartedAgainError

    monkeypatch.setattr(rootless, "may_administer_networks", lambda: False)
    monkeypatch.setattr(rootless, "user_namespace_refused", lambda: None)
    monkeypatch.setattr(rootless, "RUN", tmp_path / "run")
    monkeypatch.setattr(rootless, "NAMES", tmp_path / "run" / "netns")
    monkeypatch.setattr(os, "execvpe", execute)
    (tmp_path / "run" / "me").mkdir(parents=True)
    (tmp_path / "link").symlink_to("run/me")
    return tmp_path / "run"


@pytest.mark.parametrize("named", ["run/me/archive", "link/archive", "elsewhere/../run/archive"])
def test_what_is_named_below_run_is_refused_where_all_of_it_is_hidden(run: Path, named: str) -> None:
    path = run.parent / named
    with pytest.raises(LabError, match="Choose another folder, or run as root") as refused:
        enter_user_namespace_if_needed(named=(None, run.parent / "plan.toml", path))
    assert str(refused.value).startswith(f"{path}: is below {run}, which a lab without root hides")


def test_a_relative_path_is_no_way_in(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(run / "me")
    with pytest.raises(LabError, match=r"^archive: is below"):
        enter_user_namespace_if_needed(named=[Path("archive")])


def test_only_the_names_of_namespaces_are_hidden_where_they_have_a_folder(run: Path) -> None:
    (run / "netns").mkdir()
    with pytest.raises(StartedAgainError):
        enter_user_namespace_if_needed(named=[run / "me" / "archive"])
    with pytest.raises(LabError, match="is below"):
        enter_user_namespace_if_needed(named=[run / "netns" / "archive"])


def test_what_is_elsewhere_is_no_obstacle(run: Path) -> None:
    with pytest.raises(StartedAgainError):
        enter_user_namespace_if_needed(named=[run.parent / "running", None])
    with pytest.raises(StartedAgainError):
        enter_user_namespace_if_needed()


def test_a_command_says_so(run: Path) -> None:
    link = '[lab.links.l]\nbetween = ["a", "b"]\nrate = "20Mbit/s"\ndelay = "20ms"\n'
    plan = run.parent / "plan.toml"
    plan.write_text(f'{link}[[sweep]]\npaths = [{{ from = "a", to = "b" }}]\nduration = "3s"\n')
    result = invoke("run", plan, "--archive", run / "archive")
    assert isinstance(result.exception, LabError)
    assert not (run / "archive").exists()
    assert isinstance(invoke("check", "--hosts", plan).exception, StartedAgainError)
