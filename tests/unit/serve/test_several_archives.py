"""Several archives that are served together: their names, how addresses name them, which were left."""

import json
import re
import shutil
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from prometheus_client import generate_latest
from starlette.datastructures import QueryParams

from flowsweep.archive import open_archive_for_writing
from flowsweep.campaigns.succession import goes_on_in
from flowsweep.errors import ServeError
from flowsweep.serve.answers import Answers
from flowsweep.serve.asked import asked_campaign
from flowsweep.serve.events import Broadcaster
from flowsweep.serve.metrics import registry
from flowsweep.serve.server import look_for_more, watched_in
from flowsweep.serve.watch import Watched, Watcher
from mesh_support import begin_mesh, mesh_plan, outcome_of, times_of
from serve_support import served

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
    sites = [begun(tmp_path / site / "mesh" / "alpine-mesh") for site in ("siteA", "siteB")]
    assert [one.model.name for one in watched_in(sites)] == [
        "siteA/mesh/alpine-mesh",
        "siteB/mesh/alpine-mesh",
    ]
    # The oldest archive of a campaign names it, so that a plan that changes leaves the name as it is.
    begun(tmp_path / "siteA" / "mesh" / "alpine-mesh-2", day=2)
    watched = watched_in([tmp_path / site / "mesh" for site in ("siteA", "siteB")])
    assert [one.model.name for one in watched] == [
        "mesh/alpine-mesh",
        "siteA/mesh/alpine-mesh",
        "siteB/mesh/alpine-mesh",
    ]
    # A copy is of the same moment: neither goes on in the other.
    shutil.copytree(sites[0], tmp_path / "siteA" / "mesh" / "copy")
    begun(tmp_path / "siteA" / "mesh" / "alpine-mesh-3", day=3)
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


def test_a_link_leads_to_the_same_archive_after_every_start(tmp_path: Path) -> None:
    base = tmp_path / "base"
    for name, day in (("b", 1), ("d", 2)):
        begun(base / name, day=day)
    before = watched_in([base])
    links = {one.folder.path.name: one.model.address for one in before}
    begun(base / "a", day=3)
    look_for_more([base], before)
    for name in list(links):
        (base / name).rename(base / f"moved-{name}")
    after = watched_in([base])
    assert [one.folder.path.name for one in after] == ["a", "moved-b", "moved-d"]
    for name, link in links.items():
        assert asked(before, link).folder.path.name == name
        assert asked(after, link).folder.path.name == f"moved-{name}"
    assert len({one.model.address for one in (*before, *after)}) == 3
    assert [asked(after, str(number)) for number in range(3)] == after
    assert asked_campaign(QueryParams(), after) is after[0]
    for wrong in ("3", "c", "c0123456789", ""):
        with pytest.raises(ServeError, match="served here"):
            asked(after, wrong)


def test_a_copy_is_named_by_another_address(tmp_path: Path) -> None:
    base = tmp_path / "base"
    begun(base / "clock")
    watched = watched_in([base])
    link = watched[0].model.address
    shutil.copytree(base / "clock", base / "copy")
    look_for_more([base], watched)
    assert asked(watched, link) is watched[0]
    copied = watched[1].model.address
    assert asked(watched, copied) is watched[1] is not watched[0]
    # By itself it is named as the original was; the longer address leads to it all the same.
    assert [asked(watched_in([base / "copy"]), one).folder.path.name for one in (link, copied)] == [
        "copy"
    ] * 2


def test_a_link_leads_to_the_copy_that_goes_on(tmp_path: Path) -> None:
    begun(tmp_path / "clock")
    [alone] = watched_in([tmp_path])
    link = alone.model.address
    shutil.copytree(tmp_path / "clock", tmp_path / "a-copy")
    plan = mesh_plan()
    with open_archive_for_writing(tmp_path / "clock") as writer:
        writer.make_ready()
        writer.finished(outcome_of(next(times_of(plan, AT, 1))[1][0], AT, 1e7))
    after = watched_in([tmp_path])
    assert {one.folder.path.name: one.model.address == link for one in after} == {
        "a-copy": False,
        "clock": True,
    }
    assert asked(after, link).folder.path.name == "clock"
    assert len({one.model.address for one in after}) == 2
    with open_archive_for_writing(tmp_path / "a-copy"):
        assert asked(watched_in([tmp_path]), link).folder.path.name == "a-copy"


def test_pages_name_archives_by_what_stays(tmp_path: Path) -> None:
    begun(tmp_path / "archive")
    with served(tmp_path / "archive") as found:
        [one] = found.json("/api/overview")["campaigns"]
        assert list(found.json("/api/live")["campaigns"]) == [one["address"]]
        path = "sweep=goodput&src=geneva&dst=vienna"
        for campaign in ("0", one["address"]):
            answer, page = found.ask(f"/path?campaign={campaign}&{path}")
            assert (answer.status, f'data-campaign="{one["address"]}"' in page) == (200, True)
            assert found.ask(f"/trial/{campaign}/0123456789ab")[1].count("has no trial") == 1


def asked(watched: Sequence[Watched], campaign: str) -> Watched:
    return asked_campaign(QueryParams({"campaign": campaign}), watched)


def test_of_an_archive_that_was_left_nothing_is_told_for_ever(tmp_path: Path) -> None:
    base = tmp_path / "base"
    begun(base / "alpine-mesh")
    watched = watched_in([base])
    watcher = Watcher(watched, lambda *_: None, lambda: look_for_more([base], watched))
    answers = Answers(watched, watcher, Broadcaster())
    watcher._look_at(watched[0])
    assert told_of(watched) == {"alpine-mesh"}
    begun(base / "alpine-mesh-2", day=2)
    look_for_more([base], watched)
    for one in watched:
        watcher._look_at(one)
    assert watched[0].model.name == "base/alpine-mesh"
    assert told_of(watched) == {"alpine-mesh"}
    assert shown(answers) == {"base/alpine-mesh": None, "alpine-mesh": None}

    shutil.rmtree(base / "alpine-mesh")
    for one in watched:
        watcher._look_at(one)
    assert watched[0].problem
    assert told_of(watched) == {"alpine-mesh"}
    assert is_well(answers)
    look_for_more([base], watched)
    for one in watched:
        watcher._look_at(one)
    assert is_well(answers)
    assert shown(answers) == {"alpine-mesh": None}
    # What is measured is missed.
    shutil.rmtree(base / "alpine-mesh-2")
    look_for_more([base], watched)
    watcher._look_at(watched[1])
    assert not is_well(answers)
    assert shown(answers)["alpine-mesh"]


def told_of(watched: Sequence[Watched]) -> set[str]:
    """Campaigns that metrics name."""
    text = generate_latest(registry(watched, is_alive=lambda: True, listeners=lambda: 0)).decode()
    return set(re.findall(r'campaign="([^"]*)"', text))


def is_well(answers: Answers) -> bool:
    """Whether /health says so, but for the thread that does not run here."""
    answers._watcher._thread.is_alive = lambda: True  # type: ignore[method-assign]
    return answers.health(None).status_code == 200  # type: ignore[arg-type]


def shown(answers: Answers) -> dict[str, str | None]:
    """What the overview shows, and what is wrong with it."""
    answers._made = None
    found = json.loads(bytes(answers.overview(None).body))["campaigns"]  # type: ignore[arg-type]
    return {one["name"]: one["problem"] for one in found}


def test_what_two_sites_measure_at_once_is_not_left(tmp_path: Path) -> None:
    ours = ("alpine-mesh", "alpine-mesh-2", "alpine-mesh-10", "alpine-mesh-2-2")
    for day, name in enumerate(("vienna", *ours, "dc-2", "dc-3")):
        begun(tmp_path / "base" / name, day=day)
    watched = watched_in([tmp_path / "base"])
    left = {one.folder.path.name for one in watched if one.model.is_succeeded}
    assert left == {"alpine-mesh", "alpine-mesh-2"}
    assert names(watched)["vienna"] == "base/vienna"


def test_numbers_say_which_archive_is_the_newest_as_a_service_has_it(tmp_path: Path) -> None:
    """A clock may have been set back meanwhile."""
    begun(tmp_path / "alpine-mesh", day=5)
    begun(tmp_path / "alpine-mesh-2", day=1)
    old, new = watched_in([tmp_path])
    assert (old.model.is_succeeded, new.model.is_succeeded) == (True, False)
    assert names([old, new]) == {
        "alpine-mesh": tmp_path.name + "/alpine-mesh",
        "alpine-mesh-2": "alpine-mesh",
    }
    where = [goes_on_in(one.folder.path, one.model.campaign) for one in (old, new)]
    assert where == [tmp_path.resolve() / "alpine-mesh-2", None]
