"""Names and words that are not UTF-8: each has one message, or is shown with a mark, and none a traceback."""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from comparison_archives import write_both
from flowsweep.archive import create_archive
from flowsweep.cli.app import run_app
from flowsweep.errors import ArchiveError
from flowsweep.plan import load_plan

pytestmark = pytest.mark.whole

BAD = os.fsdecode(b"\xff\xe9")
MARKS = "\ufffd\ufffd"
PLAN = """
[hosts.a]
launch = ["false"]
[hosts.b]
address = "192.0.2.1"
[[sweep]]
test = "tcp"
paths = [{ from = "a", to = "b" }]
duration = "4s"
"""
CSV = "20240101120000,10.0.0.1,5001,10.0.0.2,5001,3,0.0-10.0,1250000000,1000000000\n"


@pytest.fixture
def command(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str]]:
    """Runs a command line as the program does; its exit code, and what it said on both ways out."""

    def run(*arguments: object) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["flowsweep", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            run_app()
        out, err = capfd.readouterr()
        return int(ended.value.code or 0), out + err

    return run


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_both(tmp_path_factory.mktemp("archives"))[0]


def test_an_archive_of_such_a_name_is_verified_and_what_needs_its_data_says_why_not(
    archive: Path, tmp_path: Path, command: Callable[..., tuple[int, str]]
) -> None:
    renamed = tmp_path / BAD
    renamed.symlink_to(archive)
    assert command("verify", renamed)[0] == 0
    for words in (["summary"], ["summary", "--format", "json"], ["findings"], ["report", "-o", "x.html"]):
        code, said = command(words[0], renamed, *words[1:])
        assert code == 2
        assert f"/{MARKS}: this path is not UTF-8" in said
    code, said = command("status", renamed)
    assert code == 2, "this one has no plan"
    assert f"/{MARKS}: has no plan" in said
    with pytest.raises(ArchiveError, match="this path is not UTF-8"):
        create_archive(tmp_path / f"new {BAD}", plan_json="{}", seed=1)
    assert not (tmp_path / f"new {BAD}").exists()


def test_files_of_such_names_are_written(
    archive: Path, tmp_path: Path, command: Callable[..., tuple[int, str]]
) -> None:
    outputs = [
        ("report", tmp_path / f"{BAD}.html"),
        ("export", tmp_path / f"{BAD}.csv", "--format", "csv", "--table", "trials"),
        ("export", tmp_path / f"{BAD}.parquet", "--format", "parquet", "--table", "trials"),
    ]
    for name, output, *words in outputs:
        code, said = command(name, archive, "-o", output, *words)
        assert code == 0
        assert f"{tmp_path}/{MARKS}." in said
        assert output.stat().st_size > 0


def test_files_of_such_names_are_imported(tmp_path: Path, command: Callable[..., tuple[int, str]]) -> None:
    file, other = tmp_path / f"{BAD}.csv", tmp_path / f"{BAD}.txt"
    file.write_text(CSV)
    other.write_text("nonsense")
    code, said = command("import", file, other, "--archive", tmp_path / "archive")
    assert code == 1
    assert f"/{MARKS}.txt: of no kind that is known" in said
    assert "1 trial imported from 1 file" in said
    code, said = command("summary", tmp_path / "archive", "--format", "json")
    assert code == 0
    assert len(json.loads(said)) == 1


def test_an_archive_in_the_working_directory_has_a_name_of_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Callable[..., tuple[int, str]]
) -> None:
    (tmp_path / "file.csv").write_text(CSV)
    (tmp_path / BAD).mkdir()
    monkeypatch.chdir(tmp_path / BAD)
    assert command("import", tmp_path / "file.csv", "--archive", ".")[0] == 0
    assert json.loads(Path("campaign.json").read_text())["plan"]["campaign"]["name"] == MARKS
    assert command("summary", ".")[0] == 0


def test_a_plan_of_such_a_name_runs(tmp_path: Path, command: Callable[..., tuple[int, str]]) -> None:
    plan = tmp_path / f"{BAD}.toml"
    plan.write_text(PLAN)
    assert json.loads(load_plan(plan).model_dump_json())["campaign"]["name"] == MARKS
    code, said = command("run", plan, "--archive", tmp_path / "archive")
    assert code == 2
    assert "host a: the session ended" in said


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("import", "FILE", "--archive", "DIR", "--sweep", BAD), f'--sweep: 1 problem\n  found "{MARKS}"'),
        (("import", "FILE", "--archive", "DIR", "--set", f"from={BAD}"), f'from: found "{MARKS}"'),
        (("check", "PLAN", "--set", f"campaign.name={BAD}"), f'found "campaign.name={MARKS}"'),
        (("note", "ARCHIVE", BAD), f'TEXT: 1 problem\n  found "{MARKS}"'),
        (("tcp", "local", "--window", BAD), f'--window: found "{MARKS}"'),
        (("tcp", "local", "--duration", BAD), f'--duration: found "{MARKS}"'),
        (("file", "local", "--folder", f"/a{BAD}:/b"), "--folder: found '/a\\udcff\\udce9:/b'"),
        (("file", "local", "--read", f"/a{BAD}"), "--read: found '/a\\udcff\\udce9'"),
        (("rtt", "local", "--address", BAD), "--address: found '\\udcff\\udce9'"),
        (("tune", f"ssh:{BAD}"), "HOST: found 'ssh:\\udcff\\udce9'"),
        (("tune", "ssh:server", "--from", f"ssh:{BAD}"), "--from: found 'ssh:\\udcff\\udce9'"),
    ],
)
def test_words_that_would_be_recorded_are_refused(
    archive: Path,
    tmp_path: Path,
    words: tuple[str, ...],
    expected: str,
    command: Callable[..., tuple[int, str]],
) -> None:
    files = {"FILE": tmp_path / "file.csv", "PLAN": tmp_path / "plan.toml", "DIR": tmp_path / "archive"}
    files["ARCHIVE"] = archive
    files["FILE"].write_text(CSV)
    files["PLAN"].write_text(PLAN)
    code, said = command(*(files.get(word, word) for word in words))
    assert code == 2
    assert expected in said
    assert "expected UTF-8 text" in said
    assert not files["DIR"].exists()
