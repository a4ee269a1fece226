"""Archives from rejected_connections: whatever is in them, nothing outside is read, written or removed.

tests/truth/test_archive_damage.py tries two thousand.
"""

from pathlib import Path

import pytest

from archive_damage import write_campaign
from flowsweep.archive import open_archive_for_writing, read_archive
from flowsweep.archive.folder import Folder
from flowsweep.errors import ArchiveError
from hostile_archives import Canary, attack

pytestmark = pytest.mark.whole

ATTACKS = 60


@pytest.mark.long
def test_nothing_outside_a_hostile_archive_is_touched(tmp_path: Path) -> None:
    canary = Canary(tmp_path / "outside")
    for seed in range(ATTACKS):
        attack(tmp_path / "archive", seed, canary)


def test_a_canary_notices_what_is_done_to_it(tmp_path: Path) -> None:
    canary = Canary(tmp_path / "outside")
    canary.check("nothing was done")
    (tmp_path / "outside" / "file").read_bytes()
    with pytest.raises(AssertionError, match="touched outside"):
        canary.check("a file was read")


def test_linked_trials_cost_nobody_a_folder(tmp_path: Path) -> None:
    folder, precious = tmp_path / "archive", tmp_path / "precious"
    write_campaign(folder, 2, merged=True)
    (precious / "0123456789ab-1").mkdir(parents=True)
    (folder / "trials").rmdir()
    (folder / "trials").symlink_to(precious)
    with open_archive_for_writing(folder) as writer, pytest.raises(ArchiveError, match="trials is a link"):
        writer.compact()
    assert (precious / "0123456789ab-1").is_dir()


@pytest.mark.parametrize("name", ["journal", "campaign.json", "merged/1/flows-0000.parquet"])
def test_a_second_name_of_a_file_is_refused(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "archive"
    write_campaign(folder, 2, merged=True)
    (tmp_path / "second").hardlink_to(folder / name)
    with pytest.raises(ArchiveError, match="another name elsewhere"):
        read_archive(folder)


def test_a_folder_that_is_linked_as_a_whole_is_the_users_own(tmp_path: Path) -> None:
    write_campaign(tmp_path / "archive", 2, merged=True)
    (tmp_path / "link").symlink_to(tmp_path / "archive")
    with read_archive(tmp_path / "link") as archive:
        assert len(archive.records) == 2


@pytest.mark.parametrize("name", ["../outside", "/etc/passwd", "trials/../../outside", "", ".", "a//b"])
def test_names_stay_inside(name: str, tmp_path: Path) -> None:
    (tmp_path / "archive" / "trials").mkdir(parents=True)
    folder = Folder(tmp_path / "archive")
    for use in (folder.open, folder.remove, folder.make_folder, folder.put_aside, folder.has_file):
        with pytest.raises(ValueError, match="is no name inside an archive"):
            use(name)
