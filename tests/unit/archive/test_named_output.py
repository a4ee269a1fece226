"""Outputs that a person named: links stay, unless they may be a stranger's, and devices are left alone."""

import os
from pathlib import Path

import ibis
import pytest

from flowsweep.archive import create_archive
from flowsweep.archive.named_output import where_it_leads
from flowsweep.cli.html_page import check_page_place, write_page
from flowsweep.errors import ArchiveError, PlanError
from flowsweep.export import write_tables
from flowsweep.whole_file import whole_file


def page(target: Path) -> None:
    with whole_file(target) as unfinished:
        unfinished.write_text("new")


@pytest.fixture
def link(tmp_path: Path) -> Path:
    """A link to a file in another folder."""
    (tmp_path / "web").mkdir()
    (tmp_path / "web" / "old.html").write_text("old")
    made = tmp_path / "page.html"
    made.symlink_to("web/old.html")
    return made


def test_a_page_goes_where_a_link_leads(tmp_path: Path, link: Path) -> None:
    assert write_page(page, link, "the page") == f"{link}: 3 B"
    assert link.readlink() == Path("web/old.html")
    assert [(path.name, path.read_text()) for path in (tmp_path / "web").iterdir()] == [("old.html", "new")]


def test_a_table_goes_where_a_link_leads(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("old")
    link = tmp_path / "trials.csv"
    link.symlink_to("data")
    tables = {"trials": ibis.memtable({"trial_id": ["t"]})}
    assert write_tables(tables, link, "csv", overwrite=True) == ((link, 1),)
    assert link.is_symlink()
    assert (tmp_path / "data").read_text() == "trial_id\nt\n"


def test_who_may_read_what_a_link_leads_to_stays(tmp_path: Path, link: Path) -> None:
    (tmp_path / "web" / "old.html").chmod(0o600)
    write_page(page, link, "the page")
    assert (link.read_text(), link.stat().st_mode & 0o777) == ("new", 0o600)
    link.unlink()
    (tmp_path / "data").write_text("old")
    (tmp_path / "data").chmod(0o600)
    (tmp_path / "trials.csv").symlink_to("data")
    write_tables(
        {"trials": ibis.memtable({"trial_id": ["t"]})}, tmp_path / "trials.csv", "csv", overwrite=True
    )
    assert (tmp_path / "data").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("leads_to", ["absent/page.html", "/dev/null", "page.html", "web"])
def test_where_a_link_leads_to_no_file_is_told_before_a_page_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, leads_to: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("web").mkdir()
    link = Path("page.html")
    link.symlink_to(leads_to)
    with pytest.raises(PlanError, match=r'found "page\.html"'):
        check_page_place(link, "--report")


def test_a_link_to_what_is_not_there_yet_makes_it(tmp_path: Path) -> None:
    link = tmp_path / "page.html"
    link.symlink_to("later.html")
    write_page(page, link, "the page")
    assert link.is_symlink()
    assert (tmp_path / "later.html").read_text() == "new"


@pytest.mark.parametrize("inner", [".", "reports"])
def test_a_link_in_an_archive_is_not_followed(tmp_path: Path, link: Path, inner: str) -> None:
    folder = tmp_path / "archive" / inner
    folder.mkdir(parents=True)
    (tmp_path / "archive" / "campaign.json").write_text("{}")
    stranger = folder / "report.html"
    stranger.symlink_to(link)
    write_page(page, stranger, "the report")
    assert not stranger.is_symlink()
    assert (stranger.read_text(), link.read_text()) == ("new", "old")


def test_what_is_no_file_is_left_alone(tmp_path: Path) -> None:
    pipe, link, loop = (tmp_path / name for name in ("pipe.html", "link.html", "loop.html"))
    os.mkfifo(pipe)
    link.symlink_to("/dev/null")
    loop.symlink_to("loop.html")
    for path, said in ((pipe, "it is no regular file"), (link, "it is no regular file"), (loop, "Too many")):
        with pytest.raises(ArchiveError, match=f"{path}: the page cannot be written: {said}"):
            write_page(page, path, "the page")
    assert pipe.is_fifo()
    assert link.is_symlink()
    assert loop.is_symlink()


def test_other_names_are_as_they_are(tmp_path: Path) -> None:
    for name in ("absent.html", "absent/page.html", "."):
        assert where_it_leads(tmp_path / name) == tmp_path / name


@pytest.mark.parametrize(
    "place", ["merged/1/flows-0000.parquet", "trials/t-1/new.parquet", f"summary.{'0' * 32}.parquet"]
)
def test_no_table_goes_among_the_files_of_an_archive(tmp_path: Path, place: str) -> None:
    archive = tmp_path / "archive"
    create_archive(archive, plan_json="{}", seed=1).close()
    with pytest.raises(ArchiveError, match="a place of the archive's own files"):
        write_tables(
            {"trials": ibis.memtable({"trial_id": ["t"]})}, archive / place, "parquet", overwrite=True
        )
    for name, form in (("mine.parquet", "parquet"), ("summary.xlsx", "xlsx")):
        write_tables({"trials": ibis.memtable({"trial_id": ["t"]})}, archive / name, form)


def test_no_page_goes_among_the_files_of_an_archive(tmp_path: Path) -> None:
    archive = tmp_path / "archive"
    create_archive(archive, plan_json="{}", seed=1).close()
    (archive / "trials").mkdir(exist_ok=True)
    check_page_place(archive / "page.html", "--output")
    with pytest.raises(PlanError, match="a place of the archive's own files"):
        check_page_place(archive / "trials" / "page.html", "--output")
