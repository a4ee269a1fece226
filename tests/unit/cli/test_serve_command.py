"""`flowsweep serve` and `flowsweep note` as a person runs them."""

import re
import shutil
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from analysis_support import make_campaign, write_archive
from flowsweep.archive.folder import Folder
from flowsweep.archive.notes import TEXT_MAX, read_notes
from flowsweep.serve.server import watched_in
from plan_support import command_line
from ssh_support import free_port

pytestmark = pytest.mark.whole


@pytest.fixture(scope="module")
def archive(tmp_path_factory) -> Path:
    return write_archive(tmp_path_factory.mktemp("serve") / "archive", make_campaign(flows=(1,)))


def started(*words: object) -> subprocess.Popen[str]:
    script = "from flowsweep.cli import main; main()"
    return subprocess.Popen(
        [sys.executable, "-c", script, *map(str, words)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, -signal.SIGTERM)])
def test_it_says_where_it_is_and_a_signal_ends_it_at_once_with_pages_open(archive, number, code):
    with started("serve", archive, "--address", "127.0.0.1:0") as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        address = re.match(r"http://127\.0\.0\.1:\d+/", line)
        assert address, line + process.communicate()[1]
        with urllib.request.urlopen(f"{address[0]}events", timeout=30) as stream:
            assert stream.readline() == b"retry: 2000\n"
            process.send_signal(number)
            assert process.wait(20) == code
        assert process.stderr is not None
        assert process.stderr.read() == ""


def test_a_folder_of_archives_stands_for_all_that_are_in_it(archive, tmp_path):
    for name in ("b", "a"):
        shutil.copytree(archive, tmp_path / name)
    (tmp_path / "else").mkdir()
    watched = watched_in([archive, tmp_path])
    assert [one.folder.path for one in watched] == [archive, tmp_path / "a", tmp_path / "b"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "no archive is named"),
        (("nowhere",), "not an archive"),
        (("ARCHIVE", "--address", "0.0.0.0:0"), "--token-file"),
        (("ARCHIVE", "--address", "somewhere"), "expected HOST:PORT"),
        (("ARCHIVE", "--token-file", "nowhere"), "nowhere: cannot be read: No such file or directory"),
        (("ARCHIVE", "--token-file", "/bin/true"), "expected one word of 16 characters or more"),
    ],
)
def test_what_cannot_be_served_is_refused(archive, monkeypatch, capsys, words, said):
    given = [str(archive) if word == "ARCHIVE" else word for word in words]
    assert command_line(monkeypatch, "serve", *given) == 2
    told = " ".join(capsys.readouterr().err.split())
    assert said in told
    assert "Errno" not in told


def test_a_port_that_is_taken(archive, monkeypatch, capsys):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", free_port()))
        taken.listen()
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        assert command_line(monkeypatch, "serve", str(archive), "--address", address) == 2
    assert "cannot listen there" in capsys.readouterr().err


def test_rules_and_dashboard_are_written(tmp_path, monkeypatch, capsys):
    assert command_line(monkeypatch, "serve", "--write-rules", str(tmp_path / "rules")) == 0
    assert (
        capsys.readouterr().out.split()
        == [str(path) for path in sorted((tmp_path / "rules").iterdir())][::-1]
    )


def test_older_rules_keep_their_link_and_mode(tmp_path, monkeypatch, capsys):
    linked, own = tmp_path / "flowsweep-rules.yml", tmp_path / "own.yml"
    own.write_text("old")
    own.chmod(0o640)
    linked.symlink_to(own)
    assert command_line(monkeypatch, "serve", "--write-rules", str(tmp_path)) == 0
    assert linked.is_symlink()
    assert own.read_text() != "old"
    assert own.stat().st_mode & 0o777 == 0o640
    capsys.readouterr()


def test_rules_that_cannot_be_written_are_named(tmp_path, monkeypatch, capsys):
    (tmp_path / "flowsweep-rules.yml").mkdir()
    assert command_line(monkeypatch, "serve", "--write-rules", str(tmp_path)) == 2
    assert f"{tmp_path / 'flowsweep-rules.yml'}: Is a directory" in capsys.readouterr().err


def test_notes_are_kept_and_shown(archive, monkeypatch, capsys):
    assert command_line(monkeypatch, "note", str(archive)) == 0
    assert capsys.readouterr() == ("", "no notes yet\n")
    for words in (
        ["kernel  upgraded\x1b[2J"],
        ["before", "--at", "2026-01-31T18:00:00+01:00"],
        ["ago", "--at", "2h"],
    ):
        assert command_line(monkeypatch, "note", str(archive), *words) == 0
    capsys.readouterr()
    assert command_line(monkeypatch, "note", str(archive)) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "2026-01-31 17:00:00 UTC  before"
    assert lines[1].endswith("UTC  ago")
    assert lines[2].endswith("UTC  kernel upgraded\ufffd[2J")
    assert len(read_notes(Folder(archive))) == 3


@pytest.mark.parametrize(
    "words",
    [
        ["x", "--at", "yesterday"],
        [" "],
        ["x" * (TEXT_MAX + 1)],
        ["x", "--at", "1w"],
        ["x", "--at", "0001-01-01"],
        ["x", "--at", "99999999999h"],
    ],
)
def test_what_is_no_note_is_refused(archive, monkeypatch, capsys, words):
    assert command_line(monkeypatch, "note", str(archive), *words) == 2
    assert "expected" in capsys.readouterr().err


def test_a_note_of_what_has_not_happened_yet_is_kept_and_told_as_one(archive, tmp_path, monkeypatch, capsys):
    archive = shutil.copytree(archive, tmp_path / "archive")
    for at, told in (("1min", ""), ("2089-01-31", "this time is in the future; the note is kept")):
        assert command_line(monkeypatch, "note", str(archive), "x", "--at", at) == 0
        said = capsys.readouterr()
        assert said.out.endswith("UTC  x\n")
        assert said.err.startswith(told)
        assert bool(said.err) == bool(told)
    assert read_notes(Folder(archive))[-1].at.year == 2089


def test_only_archives_have_notes(tmp_path, monkeypatch, capsys):
    assert command_line(monkeypatch, "note", str(tmp_path), "x") == 2
    assert "not an archive" in capsys.readouterr().err
