"""Files that take their place when they are whole."""

import os

import pytest

from flowsweep.whole_file import whole_file


def test_a_file_takes_the_place_of_an_older_one(tmp_path):
    target = tmp_path / "page.html"
    target.write_text("old")
    with whole_file(target) as unfinished:
        unfinished.write_text("new")
        assert target.read_text() == "old"
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("page.html", "new")]


def test_of_one_that_fails_nothing_is_left(tmp_path):
    target = tmp_path / "page.html"
    target.write_text("old")

    def write() -> None:
        with whole_file(target) as unfinished:
            unfinished.write_text("ne")
            raise LookupError

    with pytest.raises(LookupError):
        write()
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("page.html", "old")]


def test_who_may_read_an_older_file_stays(tmp_path):
    target = tmp_path / "page.html"
    target.write_text("old")
    for mode in (0o600, 0o664, 0o440):
        target.chmod(mode)
        with whole_file(target) as unfinished:
            unfinished.write_text("new")
        assert (target.read_text(), target.stat().st_mode & 0o7777) == ("new", mode)


@pytest.mark.parametrize("is_root", [True, False])
def test_owner_and_group_of_an_older_file_stay_as_far_as_they_may(tmp_path, monkeypatch, is_root):
    asked = []

    def fchown(_descriptor: int, owner: int, group: int) -> None:
        asked.append((owner, group))
        if not is_root and owner != -1:
            raise PermissionError

    monkeypatch.setattr(os, "fchown", fchown)
    target = tmp_path / "page.html"
    target.write_text("old")
    was = target.stat()
    with whole_file(target) as unfinished:
        unfinished.write_text("new")
    kept = (was.st_uid, was.st_gid)
    assert asked == ([kept] if is_root else [kept, (-1, was.st_gid)])


def test_a_link_that_is_replaced_gives_nothing_of_what_it_names(tmp_path):
    (tmp_path / "other").write_text("old")
    (tmp_path / "other").chmod(0o600)
    target = tmp_path / "page.html"
    target.symlink_to("other")
    with whole_file(target) as unfinished:
        unfinished.write_text("new")
        usual = unfinished.stat().st_mode
    assert target.lstat().st_mode == usual
