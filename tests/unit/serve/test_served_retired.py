"""The page shows trials whose samples were retired: their values, and a page that says when samples went."""

import re
from datetime import UTC, datetime
from pathlib import Path

from flowsweep.archive.follow_parts import part_of
from flowsweep.serve.overview import Overview
from flowsweep.serve.trials import report_of, trials_between
from flowsweep.serve.watch import Watched
from mesh_support import EVERY
from retired_archives import TIMES, mesh_in_parts, retire

BEGUN = datetime.now(UTC) - EVERY * TIMES


def watched(folder: Path, cache: Path | None = None) -> Watched:
    one = Watched(0, folder, cache)
    one.read_on(lambda *_: None)
    while one.sum_up(lambda *_: None):
        pass
    assert one.not_summed is None
    return one


def shown(one: Watched) -> dict:
    """What a page says of it, but for what changes with the time of day."""
    found = Overview(one.model).campaign() | {"runs": None}
    return found | {"paths": [path | {"overdue": None} for path in found["paths"]]}


def test_pages_of_retired_trials_are_made_of_what_is_left(tmp_path: Path) -> None:
    folder = mesh_in_parts(tmp_path / "a", BEGUN)
    following = watched(folder, tmp_path / "cache")
    before = shown(following)
    retire(folder, [1, 2])
    # Whoever has read these parts before does not follow them any more.
    trials = trials_between(following, 0, 2e10)
    assert {part_of(one.offset) for one in trials} == {1, 2, 3}
    page = report_of(following, trials)
    assert all(f"trial-{one.trial:012x}" in page for one in trials)
    gone = sum(part_of(one.offset) < 3 for one in trials)
    assert re.search(rf"Samples of {gone} trials were retired, the last on 2027-03-01", page)
    assert set(following.model.retired) == {1, 2}
    following.keep(at_once=True)
    again = watched(folder, tmp_path / "cache")
    assert set(again.model.retired) == {1, 2}
    anew = watched(folder)
    assert shown(anew) == before
    assert set(anew.model.retired) == {1, 2}
    alone = [one for one in trials if part_of(one.offset) == 1]
    assert report_of(anew, alone[:1]).count("were retired") == 1
