"""Several archives that are served together: their names, how addresses name them, which were left."""

import shutil
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from flowsweep.serve.server import look_for_more, watched_in
from flowsweep.serve.watch import Watched
from mesh_support import begin_mesh, mesh_plan

AT = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def begun(folder: Path, *, day: int = 0) -> Path:
    """An archive of the campaign `alpine-mesh` without trials."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    begin_mesh(folder, mesh_plan(), AT + timedelta(days=day)).close()
    return folder


def names(watched: Sequence[Watched]) -> dict[str, str]:
    """What archives are called, by their folders."""
    return {one.folder.path.name: one.model.name for one in watched}


def test_the_newest_archive_keeps_the_name_that_the_first_one_had(tmp_path: Path) -> None:
    base = tmp_path / "base"
    begun(base / "alpine-mesh")
    watched = watched_in([base])
    assert names(watched) == {"alpine-mesh": "alpine-mesh"}
    for number in (2, 3):
        begun(base / f"alpine-mesh-{number}", day=number)
        look_for_more([base], watched)
        expected = {f"alpine-mesh-{before}": f"alpine-mesh-{before}" for before in range(2, number)}
        expected |= {"alpine-mesh": "base/alpine-mesh", f"alpine-mesh-{number}": "alpine-mesh"}
        assert names(watched) == names(watched_in([base])) == expected


def test_no_two_archives_have_one_name(tmp_path: Path) -> None:
    sites = [begun(tmp_path / site / "mesh" / "clock") for site in ("siteA", "siteB")]
    assert [one.model.name for one in watched_in(sites)] == ["siteA/mesh/clock", "siteB/mesh/clock"]
    # The oldest archive of a campaign names it, so that a plan that changes leaves the name as it is.
    begun(tmp_path / "siteA" / "mesh" / "clock-2", day=2)
    watched = watched_in([tmp_path / site / "mesh" for site in ("siteA", "siteB")])
    assert [one.model.name for one in watched] == ["mesh/clock", "siteA/mesh/clock", "siteB/mesh/clock"]
    # A copy is of the same moment: neither goes on in the other.
    shutil.copytree(sites[0], tmp_path / "siteA" / "mesh" / "copy")
    begun(tmp_path / "siteA" / "mesh" / "clock-3", day=3)
    watched = watched_in([tmp_path / "siteA" / "mesh", *sites])
    assert len(watched) == len({one.model.name for one in watched}) == 5


def test_copies_have_names_of_their_own(tmp_path: Path) -> None:
    original = begun(tmp_path / "mesh" / "clock")
    shutil.copytree(original, tmp_path / "mesh" / "copy")
    watched = watched_in([tmp_path / "mesh"])
    assert names(watched) == {"clock": "mesh/clock", "copy": "mesh/copy"}
    assert not any(one.model.is_succeeded for one in watched)


def test_an_archive_that_is_named_twice_is_there_once(tmp_path: Path) -> None:
    folder = begun(tmp_path / "base" / "clock")
    assert [one.folder.path for one in watched_in([tmp_path / "base", folder])] == [folder]
