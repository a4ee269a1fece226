"""Files that take their place when they are whole."""

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
