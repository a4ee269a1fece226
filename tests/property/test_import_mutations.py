"""Changed files of other tools: each is refused with one message, or read by every command."""

from pathlib import Path

import pytest

from import_mutations import CHANGES, REAL, accepted, changed, check_commands

AT_ONCE = 150
"""`make truth` takes a hundred thousand (tests/truth/test_import_mutations.py), these among them."""


@pytest.mark.long
def test_changed_files_are_refused_or_read_by_every_command(tmp_path: Path) -> None:
    kept = []
    for number in range(AT_ONCE):
        case = changed(number)
        path = tmp_path / f"{number}-{case.real.stem}"
        path.write_bytes(case.content)
        if accepted(path):
            kept.append(path)
    assert AT_ONCE // 5 < len(kept) < AT_ONCE
    assert check_commands(kept, tmp_path) > 0


def test_every_file_and_every_kind_of_change_occurs_and_each_number_gives_the_same() -> None:
    cases = [changed(number) for number in range(AT_ONCE)]
    assert {kind for case in cases for kind in case.kinds} == set(CHANGES)
    assert len({case.real for case in cases}) > len(REAL) * 0.8
    assert changed(7) == cases[7]


@pytest.mark.parametrize("number", [6483, 11918, 12630, 53859])
def test_what_once_was_not_read(number: int, tmp_path: Path) -> None:
    """Numbers of changed files that were neither refused nor read."""
    path = tmp_path / "changed"
    path.write_bytes(changed(number).content)
    accepted(path)
