"""What a shell is told when a person presses Tab."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from flowsweep.cli.completion import complete_host, complete_plan

CONFIG = """
Host web1 web2
    HostName 192.0.2.1
host=odd
Host *.example !web1
    User someone
Match host web9
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """With plans, and a home with a configuration of ssh."""
    (tmp_path / ".ssh").mkdir()
    (tmp_path / ".ssh" / "config").write_text(CONFIG, encoding="utf-8")
    (tmp_path / "plans").mkdir()
    for name in ("plans/lab.toml", "plans/long.toml", "plans/notes.md", "mine.toml"):
        (tmp_path / name).touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def offered(*words: str, shell: str = "bash") -> list[str]:
    """What the program answers a shell that asks about the last word."""
    asked = {
        "_FLOWSWEEP_COMPLETE": f"complete_{shell}",
        "COMP_WORDS": "\n".join(words),
        "COMP_CWORD": str(len(words) - 1),
        "_TYPER_COMPLETE_ARGS": " ".join(words),
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    }
    script = "import sys; sys.argv = ['flowsweep']; from flowsweep.cli import main; main()"
    command, environment = [sys.executable, "-c", script], os.environ | asked
    done = subprocess.run(command, check=False, env=environment, capture_output=True, text=True, timeout=60)
    return done.stdout.split()


def test_plans_and_folders() -> None:
    assert complete_plan("") == ["mine.toml", "plans/"]
    assert complete_plan("pl") == ["plans/"]
    assert complete_plan("plans/l") == ["plans/lab.toml", "plans/long.toml"]
    assert complete_plan("nowhere/l") == []
    assert complete_plan(f"{Path.cwd()}/m") == [f"{Path.cwd()}/mine.toml"]


def test_hosts_of_the_configuration(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    (folder / "netns").mkdir()
    (folder / "netns" / "far").touch()
    monkeypatch.setattr("flowsweep.cli.completion._NAMESPACES", folder / "netns")
    assert complete_host("") == ["local", "exec:", "ssh:web1", "ssh:web2", "ssh:odd", "netns:far"]
    assert complete_host("ssh:w") == ["ssh:web1", "ssh:web2"]
    (folder / ".ssh" / "config").unlink()
    assert complete_host("ssh:") == []


def test_a_shell_is_answered() -> None:
    assert offered("flowsweep", "fin") == ["findings"]
    assert offered("flowsweep", "check", "plans/la") == ["plans/lab.toml"]
    assert offered("flowsweep", "tcp", "ssh:web1", shell="fish") == ["ssh:web1"]
    # Bash takes a colon for a word of its own, and wants only what follows it.
    assert offered("flowsweep", "tcp", "ssh", ":", "w") == ["web1", "web2"]
    assert offered("flowsweep", "tcp", "ssh", ":") == ["web1", "web2", "odd"]
    assert offered("flowsweep", "udp", "loc") == ["local"]


def test_completion_is_installed(folder: Path) -> None:
    script = "import sys; sys.argv = ['flowsweep', '--install-completion', 'bash']; "
    script += "from flowsweep.cli import main; main()"
    command = [sys.executable, "-c", script]
    environment = {**os.environ, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert "flowsweep" in (folder / ".bashrc").read_text(encoding="utf-8")
